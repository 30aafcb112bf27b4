"""Which calls cannot be taken in: those that were erased, and those that are there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ingest.results import AlreadyThere, Known, nothing_known
from storage.db import schema
from storage.db.engine import open_database
from storage.db.errors import explaining
from storage.privacy.tombstones import is_erased
from storage.tables import Call
from tenor.errors import BadInput, TenorError, Unavailable
from tenor.settings import Settings


@contextmanager
def known_calls(settings: Settings) -> Iterator[Known]:
    """As the database says; where there is none, or it is away, whoever reads the bus will say so later."""
    database = open_database(settings, upgrade=False)
    try:
        with explaining(database.engine.url):
            there = not database.missing and schema.version(database.engine).current
    except Unavailable:
        there = False

    def known(call: str) -> TenorError | None:
        with explaining(database.engine.url), database.session() as session:
            if is_erased(session, call):
                return BadInput(f"{call} was erased, and stays so", "--call ID takes it in as another call")
            row = session.get(Call, call)
        if row is not None and row.state == "analysed":
            return AlreadyThere(call)
        return None

    try:
        yield known if there else nothing_known
    finally:
        database.close()
