"""`tenor erase`: calls, and customers with all their calls, for good."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import msgspec
import typer
from rich.markup import escape

from tenor.cli.context import run, settings, user_name
from tenor.cli.output import console, say
from tenor.errors import BadInput

if TYPE_CHECKING:
    from storage.db.engine import Database
    from storage.privacy.erasure import Receipt


def erase(
    context: typer.Context,
    call: str = typer.Option("", "--call", metavar="ID", help="Erase this call."),
    customer: str = typer.Option("", "--customer", metavar="ID", help="Erase this customer and all their calls."),
    yes: bool = typer.Option(False, "--yes", "-y", help="Do not ask."),
    force: bool = typer.Option(False, "--force", help="Erase calls that are not over yet, too."),
    compact: bool = typer.Option(False, "--compact", help="Only compact the database, if an erasure could not do it."),
    as_json: bool = typer.Option(False, "--json", help="Print the receipt as JSON."),
) -> None:
    """Delete a call or a customer for good: rows, recordings, archive, search index, bus; the database is compacted.

    There is no way back. A receipt without personal data is printed and kept in the folder `receipts`.
    """
    from storage.db import vacuum
    from storage.db.engine import using
    from storage.privacy.erasure import erase as erase_for_good

    if [bool(call), bool(customer), compact].count(True) != 1:
        raise BadInput("say what to erase: --call ID or --customer ID")
    given = settings(context)
    with using(given) as database:
        if compact:
            for note in vacuum.compact(database):
                say(f"[dim]{escape(note)}[/]")
            console.print("compacted")
            return
        if not yes:
            _ask(database, call, customer)
        receipt = run(erase_for_good(database, given, by=user_name(), call=call, customer=customer, force=force))
    if as_json:
        typer.echo(msgspec.json.encode(receipt).decode())
    else:
        _show(receipt)


def _ask(database: Database, call: str, customer: str) -> None:
    from storage.privacy.erasure import calls_of

    with database.session() as session:
        count = len(calls_of(session, customer)) if customer else 1
    what = f"customer {customer} with {_calls(count)}" if customer else f"call {call}"
    if not sys.stdin.isatty():
        raise BadInput(f"{what} would be erased for good", "say --yes to do it without being asked")
    if not typer.confirm(f"Erase {what} for good?", err=True):
        raise typer.Exit(1)


def _calls(count: int) -> str:
    return f"{count} call{'' if count == 1 else 's'}"


def _show(receipt: Receipt) -> None:
    rows = ", ".join(f"{count} {table}" for table, count in receipt.rows.items() if count)
    copies = "".join(f", {count} in {keeper}" for keeper, count in receipt.copies.items())
    until = f"gone by {receipt.bus_kept_until}" if receipt.bus_kept_until else "nothing left on it"
    console.print(f"{'receipt':12}{receipt.receipt}")
    console.print(f"{'erased':12}{_calls(len(receipt.fingerprints))}: {rows or 'no rows'}", soft_wrap=True)
    console.print(f"{'recordings':12}{receipt.recordings}{copies}")
    console.print(f"{'bus':12}{receipt.bus_records} records; {until}")
    if receipt.learned:
        console.print(f"{'learned':12}{escape(', '.join(receipt.learned))}", soft_wrap=True)
    for note in receipt.notes:
        say(f"[dim]{escape(note)}[/]")
