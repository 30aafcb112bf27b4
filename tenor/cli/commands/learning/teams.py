"""`tenor teams`: who shares the machines for training, and how much is theirs."""

from __future__ import annotations

from typing import Annotated

import msgspec
import typer
from rich.markup import escape
from rich.table import Table

from tenor.cli.context import settings, viewer
from tenor.cli.output import console, say, warn
from tenor.cli.params import Json
from tenor.runtime.profiles import QUIET
from tenor.times import parse_since

app = typer.Typer(no_args_is_help=True, help="Teams that share machines for training, and their quotas.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="Lower-case letters, digits, hyphens.", show_default=False)]
Quota = Annotated[
    float, typer.Option("--quota", metavar="SHARES", help="What is theirs whenever they want it, e.g. 2 or 0.5.")
]


@app.command()
def add(context: typer.Context, name: Name, quota: Quota) -> None:
    """Make a team. Its jobs start within its quota at any time, and beyond it while others leave something."""
    from storage.db.engine import using
    from storage.jobs import teams

    with using(settings(context, unless_set=QUIET)) as database:
        teams.add(database, viewer(), name, quota)
    _tell_sum(context)


@app.command("set")
def set_quota(context: typer.Context, name: Name, quota: Quota) -> None:
    """Change a team's quota. Jobs that run go on; what starts and pauses next goes by the new one."""
    from storage.db.engine import using
    from storage.jobs import teams

    with using(settings(context, unless_set=QUIET)) as database:
        teams.set_quota(database, viewer(), name, quota)
    _tell_sum(context)


@app.command()
def remove(context: typer.Context, name: Name) -> None:
    """Remove a team whose jobs are over."""
    from storage.db.engine import using
    from storage.jobs import teams

    with using(settings(context, unless_set=QUIET)) as database:
        teams.remove(database, viewer(), name)
    say(f"removed {escape(name)}")


@app.command("list")
def list_teams(
    context: typer.Context,
    since: Annotated[
        str, typer.Option("--since", metavar="TIME", help="Count what they had since then: 2026-11-01, or 8w ago.")
    ] = "1d",
    as_json: Json = False,
) -> None:
    """Show every team: its quota, what it has now, and what it had of the machines over time.

    With --json, `over_time` has a pair of time and shares for every change.
    """
    from storage.db.engine import using
    from storage.jobs import teams

    began = parse_since(since)
    with using(settings(context, unless_set=QUIET)) as database, database.session() as session:
        found = teams.overview(session, began)
    if as_json:
        for one in found:
            row = {
                "name": one.name,
                "quota": one.quota / teams.WHOLE,
                "allocated": one.allocated / teams.WHOLE,
                "running": one.running,
                "waiting": one.waiting,
                "share_hours": round(one.used_s / 3600, 3),
                "mean_wait_s": round(one.waited_s, 1),
                "over_time": [[round(at, 3), share / teams.WHOLE] for at, share in one.over_time],
            }
            typer.echo(msgspec.json.encode(row))
        return
    if not found:
        say("no team yet: `tenor teams add NAME --quota SHARES` makes one")
        return
    table = Table(box=None, header_style="dim")
    for name in ("team", "quota", "has", "running", "waiting", f"share hours ({since})", "mean wait"):
        table.add_column(name, justify="left" if name == "team" else "right")
    for one in found:
        minutes, seconds = divmod(round(one.waited_s), 60)
        table.add_row(
            escape(one.name), teams.shown(one.quota), teams.shown(one.allocated), str(one.running), str(one.waiting),
            f"{one.used_s / 3600:.2f}", f"{minutes}:{seconds:02}",
        )  # fmt: skip
    console.print(table)


def _tell_sum(context: typer.Context) -> None:
    """Quotas are promises: more than there is cannot be kept."""
    from storage.db.engine import using
    from storage.jobs import queue, teams

    chosen = settings(context, unless_set=QUIET)
    with using(chosen) as database, database.session() as session:
        promised = sum(teams.quotas(session).values())
    has = queue.capacity_of(chosen)
    say(f"{teams.shown(promised)} of the {teams.shown(has)} shares of this machine are promised")
    if promised > has:
        warn("that is more than this machine has: a job within its quota may have to wait (see jobs.capacity)")
