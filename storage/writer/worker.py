"""The stage that keeps what was understood: sentences, calls, notes, turns, dead letters, from the bus into the tables.

An offset is committed only after the transaction that holds its event, so a writer killed at any moment reads some
events twice and loses none; writing twice changes nothing (event_batch.py).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import msgspec
import psycopg
import structlog
from sqlalchemy.exc import StatementError

from storage import metrics
from storage.db.retry import StageDatabase, patiently
from storage.writer.event_batch import EventBatch
from tenor.bus import Bus, Record
from tenor.bus.dead import dead_letter
from tenor.bus.partitioned import PartitionLoop, ReadPartition, Takeover
from tenor.events import DEAD, Event, Sentence, Unreadable
from tenor.settings import Settings
from tenor.stage import READS

log = structlog.get_logger(__name__)

GROUP = "storage"
BATCH = 1000
"""Records of one transaction, at most."""
TOPICS = {topic.name: topic for topic in READS[GROUP]}
NUL = b"\\u0000"


class StorageWorker:
    name = "storage"

    def __init__(self, bus: Bus, settings: Settings) -> None:
        self._opening = StageDatabase(settings, self.name)
        self._loop = PartitionLoop(
            bus, GROUP, READS[GROUP], self._open, self._step,
            max_records=BATCH, commit_s=0, dead_letters=metrics.DEAD_LETTERS,
        )  # fmt: skip

    async def waits_for(self) -> str:
        return await self._opening.waits_for() or await self._loop.waits_for()

    async def run(self) -> None:
        async with self._opening as self._database:
            await self._loop.run()

    async def _open(self, taken: Takeover) -> ReadPartition:
        return ReadPartition(taken)

    async def _step(self, records: Sequence[Record]) -> None:
        if records:
            await self._keep(records)
            for record in records:
                self._loop.partitions[record.partition].done(record)

    async def _keep(self, records: Sequence[Record]) -> None:
        readable: list[tuple[Record, Event]] = []
        for record in records:
            try:
                event = TOPICS[record.topic].decode(record.value)
                if NUL in record.value and _holds_nul(msgspec.to_builtins(event)):
                    raise Unreadable("it holds a NUL character, which no database keeps")
            except Unreadable as error:
                # What lies in dead letters unreadable would go round for ever: it is noted where it lies.
                if record.topic != DEAD.name:
                    await self._loop.bury(record, str(error))
                    continue
                event = dead_letter(self.name, record, str(error))
            readable.append((record, event))
        started = time.monotonic()
        await self._write(readable)
        metrics.BATCH_SECONDS.observe(time.monotonic() - started)

    async def _write(self, found: Sequence[tuple[Record, Event]]) -> None:
        """All in one transaction; when one event spoils it, the others without it."""
        if not found:
            return

        def transact() -> int:
            with self._database.begin() as session:
                return EventBatch((event, record.at) for record, event in found).write(session)

        try:
            metrics.SKIPPED.inc(await patiently(self._database, self.name, transact))
        except Exception as error:
            if len(found) == 1:
                await self._loop.bury(found[0][0], _reason(error))
                return
            middle = len(found) // 2
            await self._write(found[:middle])
            await self._write(found[middle:])
            return
        now = time.time()
        for record, event in found:
            metrics.EVENTS.labels(record.topic).inc()
            if isinstance(event, Sentence):
                metrics.DELAY_SECONDS.observe(max(0.0, now - record.at))


def _holds_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\x00" in value
    if isinstance(value, dict):
        return any(_holds_nul(item) for pair in value.items() for item in pair)
    return isinstance(value, list | tuple) and any(map(_holds_nul, value))


def _reason(error: Exception) -> str:
    """What the database objects to, without what was to be written: those may be a caller's words."""
    cause = error.orig if isinstance(error, StatementError) else error
    if isinstance(cause, psycopg.Error):
        return cause.diag.message_primary or type(cause).__name__
    return str(cause)[:200]
