"""A writer at work on a bus and a database, and what it left in the tables."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from typing import Any

from sqlalchemy import select

from storage import tables
from storage.db.engine import Database
from storage.writer.worker import GROUP, TOPICS, StorageWorker
from tenor.bus import Bus, lag
from tenor.events import (
    CALLS,
    DEAD,
    NOTES,
    SENTENCES,
    TURNS,
    ActionDone,
    ActionStarted,
    Alert,
    CallMetrics,
    CallState,
    DeadLetter,
    Event,
    Sentence,
    Turn,
)
from tenor.settings import Settings
from tests.watching import until
from tests.worker_rig import at_work

KEPT = ("calls", "sentences", "alerts", "notes", "turns", "agents", "customers", "dead_letters")


def topic_of(event: Event) -> Any:
    if isinstance(event, Sentence):
        return SENTENCES
    if isinstance(event, CallState | CallMetrics | Alert):
        return CALLS
    if isinstance(event, Turn | ActionStarted | ActionDone):
        return TURNS
    return DEAD if isinstance(event, DeadLetter) else NOTES


async def publish(bus: Bus, events: Iterable[Event]) -> None:
    for event in events:
        await bus.publish(topic_of(event), event)


def writing(bus: Bus, settings: Settings) -> AbstractAsyncContextManager[asyncio.Task[None]]:
    """A writer at work inside the block."""
    return at_work(StorageWorker(bus, settings))


async def all_kept(bus: Bus, task: asyncio.Task[None] | None = None, timeout_s: float = 30.0) -> None:
    """Wait until everything on the bus has been committed by the writers."""

    async def read() -> bool:
        return not await lag(bus, TOPICS.values(), GROUP)

    await until(read, task, timeout_s=timeout_s)


def rows(database: Database, *names: str) -> dict[str, dict[str, dict[str, Any]]]:
    """All rows of the tables, by table and id."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    with database.session() as session:
        for name in names or KEPT:
            table = tables.Call.metadata.tables[name]
            key = next(iter(table.primary_key)).name
            found[name] = {row[key]: dict(row) for row in session.execute(select(table)).mappings()}
    return found
