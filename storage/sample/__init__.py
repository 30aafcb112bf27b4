"""Generated history: weeks of calls, so that every page has something to show. All of it marked, all of it removable.

tenor sample add      tenor sample remove
"""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any

from sqlalchemy import Connection, delete, select, text
from sqlmodel import SQLModel

from storage.db.engine import Database
from storage.recorder.store import RecordingStore
from storage.sample.rows import CallRows
from storage.sample.story import AGENTS, customers, plan
from storage.sample.tables import insert, insert_people, table_of
from storage.tables import Agent, Alert, Call, Customer, DeadLetter, Label, Note, Score, Sentence

WEEKS = 8
SEED = 2026
ORDER: tuple[type[SQLModel], ...] = (Call, Sentence, Alert, Note, Label, DeadLetter, Score)
"""Parents first."""


@dataclass(frozen=True, slots=True)
class SampleCounts:
    calls: int
    sentences: int


def add(
    database: Database, weeks: int = WEEKS, *, now: float | None = None, zone: tzinfo | None = None, seed: int = SEED
) -> SampleCounts:
    """Write the weeks up to now. What is there already stays: adding twice, or again tomorrow, adds what is new."""
    now = time.time() if now is None else now
    local = datetime.fromtimestamp(now, zone) if zone else datetime.fromtimestamp(now).astimezone()
    with database.begin() as session:
        connection = session.connection()
        known = set(connection.scalars(select(table_of(Call).c.id).where(table_of(Call).c.sample)))
        rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for planned in plan(local, weeks, seed):
            if planned.id in known or planned.started_at > now:
                continue
            call = CallRows(planned)
            if call.ended_at < now:
                for table, own in call.tables.items():
                    rows[table] += own
        for kind in ORDER:
            insert(connection, kind, rows[str(kind.__tablename__)])
        _people(connection, seed)
        if database.is_postgres and rows["calls"]:  # or its planner takes the tables for small until it finds out
            connection.execute(text("ANALYZE"))
    return SampleCounts(len(rows["calls"]), len(rows["sentences"]))


def remove(database: Database, recordings: RecordingStore | None = None) -> int:
    """Take all of it away, the demo's calls and their recordings too, and nothing else. Returns how many calls."""
    calls = table_of(Call)
    generated = select(calls.c.id).where(calls.c.sample)
    with database.begin() as session:
        connection = session.connection()
        recorded = select(calls.c.recording).where(calls.c.sample, calls.c.recording != "")
        if recordings:
            for recording in connection.scalars(recorded):
                recordings.delete(recording)
        for kind in reversed(ORDER[1:]):
            table = table_of(kind)
            connection.execute(delete(table).where(table.c.call.in_(generated)))
        gone = connection.execute(delete(calls).where(calls.c.sample)).rowcount
        for kind in (Agent, Customer):
            connection.execute(delete(table_of(kind)).where(table_of(kind).c.sample))
    return gone


def _people(connection: Connection, seed: int) -> None:
    agents = [
        {"name": w.name, "display_name": w.display_name, "team": w.team, "site": w.site, "sample": True} for w in AGENTS
    ]
    callers = [{"id": p.id, "display_name": p.display_name, "sample": True} for p in customers(seed)]
    insert_people(connection, agents, callers)
