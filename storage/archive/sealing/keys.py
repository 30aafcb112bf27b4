"""One key per call, in the database: whoever deletes it has erased the call from every copy of the archive."""

from __future__ import annotations

import secrets
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from sqlalchemy import delete, select
from sqlmodel import Session, col

from storage.db.engine import Database, open_database
from storage.tables import ArchiveKey
from tenor.settings import Settings

KEY_BYTES = 32
AT_ONCE = 500
"""Ids in one query: SQLite takes no more than a thousand."""


class CallKey(NamedTuple):
    id: str
    """What a block says of its key: nothing of the call."""
    secret: bytes


class CallKeys:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._upgraded = False

    def of_ids(self, ids: Collection[str]) -> dict[str, bytes]:
        """The keys that are there, by their ids. One that is missing was deleted."""
        with self._session() as session:
            return {key.id: key.secret for some in _slices(ids) for key in _found(session, col(ArchiveKey.id), some)}

    def of_calls(self, calls: Collection[str]) -> dict[str, CallKey]:
        """The keys that calls have."""
        with self._session() as session:
            found = (key for some in _slices(calls) for key in _found(session, col(ArchiveKey.call), some))
            return {key.call: CallKey(key.id, key.secret) for key in found}

    def calls_of(self, ids: Collection[str]) -> list[str]:
        """The calls whose keys these are, as far as they are there."""
        with self._session() as session:
            return [key.call for some in _slices(ids) for key in _found(session, col(ArchiveKey.id), some)]

    def made(self, calls: Collection[str]) -> dict[str, CallKey]:
        """The key of every call; those that have none get one. For who holds the archive's lock."""
        known = self.of_calls(calls)
        if new := [call for call in sorted(calls) if call not in known]:
            rows = [
                ArchiveKey(
                    id=secrets.token_hex(16), call=call, secret=secrets.token_bytes(KEY_BYTES), made_at=time.time()
                )
                for call in new
            ]
            with self._database() as database, database.begin() as session:
                session.add_all(rows)
            known |= {row.call: CallKey(row.id, row.secret) for row in rows}
        return known

    def delete(self, ids: Collection[str]) -> int:
        """How many there were."""
        deleted = 0
        if ids:
            with self._database() as database, database.begin() as session:
                for some in _slices(ids):
                    gone = session.execute(delete(ArchiveKey).where(col(ArchiveKey.id).in_(some)))
                    deleted += int(gone.rowcount)  # type: ignore[attr-defined]
        return deleted

    @contextmanager
    def _database(self) -> Iterator[Database]:
        """Opened for each question, about one per table: whoever reads tables need not close anything."""
        database = open_database(self._settings, upgrade=not self._upgraded)
        self._upgraded = True
        try:
            yield database
        finally:
            database.close()

    @contextmanager
    def _session(self) -> Iterator[Session]:
        with self._database() as database, database.session() as session:
            yield session


def _found(session: Session, column: object, values: Sequence[str]) -> list[ArchiveKey]:
    return list(session.scalars(select(ArchiveKey).where(column.in_(values))))  # type: ignore[attr-defined]


def _slices(values: Collection[str]) -> Iterator[list[str]]:
    ordered = sorted(values)
    return (ordered[first : first + AT_ONCE] for first in range(0, len(ordered), AT_ONCE))
