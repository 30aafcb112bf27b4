"""`tenor db`: the database's schema, what is in it, what is past its time, and what should not be in it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import typer
from rich.markup import escape

from tenor.cli.commands.services.db_scan import scan
from tenor.cli.context import settings, user_name
from tenor.cli.output import console

if TYPE_CHECKING:  # SQLAlchemy takes a while to import, and other commands need none of it
    from storage.db.engine import Database

app = typer.Typer(help="The database: its schema, old calls to delete, personal data to find.", no_args_is_help=True)


@app.command()
def upgrade(context: typer.Context) -> None:
    """Make the database, or bring it to the newest schema. Stages do so themselves when they start.

    Refuses a database that a newer version of Tenor made.
    """
    from storage.db import schema
    from storage.db.engine import open_database

    database = open_database(settings(context))
    console.print(f"{escape(database.name)}: schema {schema.known()[-1]}, the newest", soft_wrap=True)
    database.close()


@app.command()
def status(context: typer.Context) -> None:
    """Say where the database is, which schema it has, and how much is in it.

    Exits with 1 when it is missing, empty or old: `tenor db upgrade`.
    """
    from storage.db import schema
    from storage.db.engine import open_database
    from storage.db.errors import explaining

    database = open_database(settings(context), upgrade=False)
    console.print(f"{'database':14}{escape(database.name)}", soft_wrap=True)
    if database.missing:
        console.print(f"{'schema':14}none: there is no such file yet (tenor db upgrade makes it)", soft_wrap=True)
        raise typer.Exit(1)
    with explaining(database.engine.url):
        version = schema.version(database.engine)
        rows = _rows(database)
    database.close()
    note = "" if version.current else f" (the newest is {version.newest}: tenor db upgrade)"
    console.print(f"{'schema':14}{version.found or 'empty'}{note}", soft_wrap=True)
    for name, count in rows.items():
        console.print(f"{name:14}{count:,}")
    if not version.current:
        raise typer.Exit(1)


@app.command()
def prune(
    context: typer.Context,
    dry_run: bool = typer.Option(False, "--dry-run", help="Only say how much would be deleted."),
) -> None:
    """Delete what is older than storage.keep_calls_days, keep_recordings_days and keep_audit_days allow.

    The stage `retention` does this once per hour. SQLite's file is compacted afterwards, at most once per day.
    """
    from storage.db.engine import open_database
    from storage.db.errors import explaining
    from storage.privacy import retention

    known = settings(context)
    database = open_database(known)
    with explaining(database.engine.url):
        found = retention.due(database, known) if dry_run else retention.prune(database, known, user_name())
        if not dry_run:
            retention.tidy(database, user_name())
    database.close()
    for name, count in dataclasses.asdict(found).items():
        console.print(f"{name.replace('_', ' '):14}{count:,}")


app.command()(scan)


def _rows(database: Database) -> dict[str, int]:
    """How many rows each table has that is there."""
    from sqlalchemy import func, inspect, select
    from sqlmodel import SQLModel

    there = inspect(database.engine).get_table_names()
    with database.session() as session:
        return {
            table.name: session.execute(select(func.count()).select_from(table)).scalar_one()
            for table in SQLModel.metadata.sorted_tables
            if table.name in there
        }
