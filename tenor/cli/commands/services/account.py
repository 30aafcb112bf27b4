"""`tenor account`: who may sign in to the dashboard, and tokens for programs that use its API."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from tenor.cli.context import settings, user_name
from tenor.cli.output import console, say
from tenor.errors import BadInput
from tenor.runtime.profiles import QUIET
from tenor.settings import Settings

if TYPE_CHECKING:
    from dashboard.auth.accounts import Accounts

app = typer.Typer(no_args_is_help=True, help="Accounts of the dashboard and tokens for its API.")
Name = Annotated[str, typer.Argument(metavar="NAME", help="Account name; of an agent, the name that calls carry.")]
ROLES = "agent, manager, analyst or administrator"


@app.command()
def add(
    context: typer.Context,
    name: Name,
    role: Annotated[str, typer.Option("--role", metavar="ROLE", help=ROLES)] = "agent",
) -> None:
    """Add an account. The password is asked for, or read from standard input."""
    with _accounts(context) as (accounts, _):
        accounts.add(name, role, _password(), by=user_name())
    say(f"{name} can sign in as {role}")


@app.command("list")
def list_accounts(context: typer.Context) -> None:
    """Show all accounts."""
    with _accounts(context) as (accounts, _):
        found = accounts.all()
    if not found:
        say("there are no accounts yet: tenor account add NAME --role administrator")
        return
    table = Table("account", "role", "since", box=None, header_style="dim")
    for account in found:
        table.add_row(account.name, account.role, f"{datetime.fromtimestamp(account.created_at):%Y-%m-%d}")
    console.print(table)


@app.command()
def password(context: typer.Context, name: Name) -> None:
    """Give an account a new password. Its sessions and tokens end."""
    with _accounts(context) as (accounts, _):
        accounts.change(name, password=_password(), by=user_name())
    say(f"{name} has a new password; whoever was signed in as {name} no longer is")


@app.command()
def role(context: typer.Context, name: Name, new: Annotated[str, typer.Argument(metavar="ROLE", help=ROLES)]) -> None:
    """Change what an account may see and do. Its sessions and tokens end."""
    with _accounts(context) as (accounts, _):
        accounts.change(name, role=new, by=user_name())
    say(f"{name} is now {new}")


@app.command()
def remove(context: typer.Context, name: Name) -> None:
    """Remove an account. Its sessions and tokens end; its notes and labels stay."""
    with _accounts(context) as (accounts, _):
        accounts.remove(name, by=user_name())
    say(f"{name} can no longer sign in")


@app.command()
def token(
    context: typer.Context,
    name: Name,
    days: Annotated[int, typer.Option("--days", min=1, max=3650, help="For how many days it is valid.")] = 90,
) -> None:
    """Print a token for the API: whoever has it sees what this account sees. Ends with the account's sessions."""
    from dashboard.auth.tokens import API, SignedTokens
    from tenor.web.signing import secret_of

    with _accounts(context) as (accounts, chosen):
        viewer = accounts.viewer(name)
        if viewer is None:
            raise BadInput(f"there is no account {name!r}", "`tenor account list` shows them")
        tokens = SignedTokens(secret_of(chosen), api_version_of=accounts.version_of)
        typer.echo(tokens.issue(viewer, API, days * 86400))
        accounts.note(name, "account.token", by=user_name())


@contextmanager
def _accounts(context: typer.Context) -> Iterator[tuple[Accounts, Settings]]:
    from dashboard.auth.accounts import Accounts
    from storage.db.engine import using

    chosen = settings(context, unless_set=QUIET)
    with using(chosen) as database:
        yield Accounts(database), chosen


def _password() -> str:
    """Typed twice by a person; one line from a program. Never an argument, which others could read."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    typed = getpass.getpass("password: ")
    if getpass.getpass("again: ") != typed:
        raise BadInput("the two are not the same")
    return typed
