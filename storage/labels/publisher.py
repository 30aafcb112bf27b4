"""Labels on their way to the bus: what waits in the outbox is published, then deleted.

    correct() --one transaction--> label, audit, outbox        wake() --> published at once, then deleted
    a process that dies in between ------------------------> any dashboard publishes it when it starts, or looks again

So a label that is in the database is told at least once. Told twice it is the same label (docs/events.md).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import structlog
from sqlalchemy import delete, select
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import col

from storage.db.engine import Database
from storage.tables import Outbox
from tenor.aio import in_thread
from tenor.bus import Bus
from tenor.errors import Unavailable
from tenor.events import LABELS, Label, Unreadable

log = structlog.get_logger(__name__)

AT_ONCE = 500
LOOK_S = 10.0
"""How often it is looked for what another process left behind."""
OTHERS_S = 5.0
"""Younger than this, its own process is about to publish it."""


class LabelPublisher:
    def __init__(self, bus: Bus, database: Database) -> None:
        self._bus, self._database = bus, database
        self._woken = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def wake(self) -> None:
        """There is something to publish. From any thread, after the transaction."""
        self._loop.call_soon_threadsafe(self._woken.set)

    async def run(self) -> None:
        """Publish until cancelled."""
        younger_too = True
        while True:
            try:
                while await self._publish(time.time() if younger_too else time.time() - OTHERS_S):
                    pass
            except (SQLAlchemyError, Unavailable) as error:
                log.warning("labels wait to be published", error=type(error).__name__)
            try:
                async with asyncio.timeout(LOOK_S):
                    await self._woken.wait()
                younger_too = True
            except TimeoutError:
                younger_too = False
            self._woken.clear()

    async def _publish(self, until: float) -> bool:
        """Those that were written before; whether there may be more."""
        waiting = await in_thread(lambda: self._waiting(until))
        if waiting:
            await self._bus.publish_many(LABELS, _events(waiting))
            await in_thread(lambda: self._done([row.id or 0 for row in waiting]))
        return len(waiting) == AT_ONCE

    def _waiting(self, until: float) -> list[Outbox]:
        with self._database.session() as session:
            found = select(Outbox).where(col(Outbox.at) <= until).order_by(col(Outbox.id)).limit(AT_ONCE)
            return list(session.scalars(found))

    def _done(self, ids: list[int]) -> None:
        with self._database.begin() as session:
            session.execute(delete(Outbox).where(col(Outbox.id).in_(ids)))


def _events(waiting: list[Outbox]) -> Iterator[Label]:
    for row in waiting:
        try:
            yield LABELS.decode(row.event.encode())
        except Unreadable:  # another version's; the label itself is in the database
            log.warning("a label cannot be published", call=row.call)
