"""`tenor people`: names and teams of agents, names of customers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.markup import escape
from rich.table import Table

from tenor.cli.context import settings, user_name
from tenor.cli.output import console, say

app = typer.Typer(no_args_is_help=True, help="Names and teams of agents, names of customers.")


@app.command("import")
def import_people(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE.csv", help="agent,display_name,team or customer,display_name.")],
) -> None:
    """Take names and teams from a CSV file. Doing it again changes nothing; nobody is removed.

    Columns: agent,display_name,team,site or customer,display_name; all but the first may be left out. If lines are
    wrong, all of them are reported and nothing is imported.
    """
    from storage.db.engine import using
    from storage.queries import people

    table = people.read(file)
    with using(settings(context)) as database:
        changed = people.store(database, table, user_name())
    say(f"{len(table.people)} {table.of}s read, {changed} new or changed")


@app.command("list")
def list_people(
    context: typer.Context,
    customers: bool = typer.Option(False, "--customers", help="List customers instead of agents."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object per line."),
) -> None:
    """Show the agents with their teams, or the customers."""
    from storage.db.engine import using
    from storage.queries import people

    with using(settings(context)) as database, database.session() as session:
        found = [row.model_dump() for row in (people.customers if customers else people.agents)(session)]
    if as_json:
        for row in found:
            typer.echo(msgspec.json.encode(row))
    elif not found:
        say("nobody yet: they come with their first call, or with `tenor people import`")
    else:
        names = [name for name in found[0] if name != "sample"]
        table = Table(*(name.replace("_", " ") for name in names), box=None, header_style="dim")
        for row in found:
            table.add_row(*(escape(row[name]) for name in names))
        console.print(table)
