"""The stage that keeps recordings: audio in, one file per call out, with what is to be redacted silenced.

Raw audio is only ever in a scratch folder of this process, removed when the recording is made; what reaches the
recordings' folder has been through redaction. A worker killed at any moment leaves the calls it had in hand to its
successor, who hears them again from the bus and ends in the same files.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import IO, TypeVar

import structlog
from sqlalchemy import select, update
from sqlmodel import Session, col

from storage import metrics
from storage.db.engine import Database
from storage.db.retry import RetryTarget, StageDatabase, patiently, retried
from storage.privacy import tombstones
from storage.recorder.call import CallRecording
from storage.recorder.partition import TOPICS, RecordingPartition
from storage.recorder.store import RecordingStore, recording_name
from storage.tables import Call
from storage.writer import event_batch
from tenor.aio import in_thread
from tenor.bus import Bus, Partition, Record
from tenor.bus.partitioned import PartitionLoop, Takeover
from tenor.errors import Unavailable
from tenor.events import CALLS, Event, Unreadable
from tenor.scratch import scratch
from tenor.settings import Settings
from tenor.stage import READS

log = structlog.get_logger(__name__)

T = TypeVar("T")
GROUP = "recordings"
FILES = RetryTarget(
    (OSError, RuntimeError, Unavailable),  # soundfile's errors are RuntimeErrors
    "a recording cannot be written, trying again",
    "recordings can be written again",
)


class RecordingWorker:
    name = "recordings"

    def __init__(self, bus: Bus, settings: Settings, patience_s: float = math.inf) -> None:
        """`patience_s`: how long it waits for a full disk or a database that is away."""
        self._bus = bus
        self._settings = settings
        self._opening = StageDatabase(settings, self.name)
        self._patience_s = patience_s
        self._store = RecordingStore(settings)
        self._loop = PartitionLoop(bus, GROUP, READS[GROUP], self._open, self._step)

    async def waits_for(self) -> str:
        return await self._opening.waits_for() or await self._loop.waits_for()

    async def run(self) -> None:
        async with self._opening as self._database:
            files = ExitStack()
            self._folder = await in_thread(lambda: files.enter_context(scratch(self._settings.spool)))
            try:
                await self._loop.run()
            finally:
                await in_thread(files.close)

    async def _open(self, taken: Takeover) -> RecordingPartition:
        return RecordingPartition(taken, self._folder, self._settings.speech.watchdog_s)

    async def _step(self, records: Sequence[Record]) -> None:
        await self._take(records)
        for partition in self._loop.partitions.values():
            await self._mark(partition)
            for call in partition.finished():
                await self._finish(partition, call)
            for call in partition.abandoned():
                log.warning("a call was never heard to its end, no recording is kept", call=call.id)
                await self._done(partition, call, "")

    # -- records

    async def _take(self, records: Sequence[Record]) -> None:
        found = [(record, _read(record)) for record in records]
        await self._recognise(found)

        def take() -> None:
            for record, event in found:
                self._loop.partitions[record.partition].take(record, event if self._settings.storage.record else None)

        await self._disk(take)

    async def _recognise(self, found: Sequence[tuple[Record, Event | None]]) -> None:
        """Ask the database once about calls that are new here: some are done, since a partition is read again from
        the oldest call in hand, and some were erased."""
        strangers = {
            (call, number)
            for number, partition in self._loop.partitions.items()
            for call in partition.strangers(event for record, event in found if event and record.partition == number)
        }
        calls = {call for call, _ in strangers}
        if not calls or not self._settings.storage.record:
            return

        def look() -> set[str]:
            with self._database.session() as session:
                done = select(col(Call.id)).where(col(Call.id).in_(calls), col(Call.recorded))
                return {*session.scalars(done), *tombstones.which(session, calls)}

        done = await self._in_database(look)
        for call, number in strangers:
            if call in done:
                self._loop.partitions[number].forget(call)

    async def _mark(self, partition: RecordingPartition) -> None:
        """How far the other topics go, now that a call is known to be over: its audio and its words lie before."""
        for call in partition.awaiting_marks():
            for topic in TOPICS:
                if topic != CALLS.name:
                    _, call.marks[topic] = await self._bus.bounds(Partition(topic, partition.number))

    # -- recordings

    async def _finish(self, partition: RecordingPartition, call: CallRecording) -> None:
        name = await self._had(call) if call.over and call.over.state == "failed" else ""
        if name:
            log.warning("a call was heard anew and failed: its recording stays as it was", call=call.id)
        elif call.may_be_kept():
            name = recording_name(call.id, self._settings.storage.format)
            await self._disk(lambda: self._make(call, name))
            metrics.RECORDINGS.inc()
        elif call.info is not None and call.info.record and not call.buffer.empty:
            log.warning("a call was not heard, so nothing could be silenced: no recording is kept", call=call.id)
        await self._done(partition, call, name)

    async def _had(self, call: CallRecording) -> str:
        """The recording of an earlier hearing, if there was one."""

        def look() -> str:
            with self._database.session() as session:
                return session.scalars(select(col(Call.recording)).where(col(Call.id) == call.id)).one_or_none() or ""

        return await self._in_database(look)

    def _make(self, call: CallRecording, name: str) -> None:
        assert call.info is not None
        made = self._folder / name
        call.buffer.write(
            made, self._settings.storage.format, 1 if call.info.speakers else len(call.info.roles), call.silenced()
        )
        self._store.put(made, name)
        made.unlink()

    async def _done(self, partition: RecordingPartition, call: CallRecording, name: str) -> None:
        """On record that the call is done, and where its recording is; then it is out of our hands."""
        if call.has_audio:
            # First the file, then the row: killed in between, the call is done again and no file is left nameless.
            if (had := await self._had(call)) not in ("", name):
                await self._disk(lambda: self._store.delete(had))

            def tell() -> bool:
                with self._database.begin() as session:
                    return note_recording(session, call.id, name, call.over.at if call.over else time.time())

            if not await self._in_database(tell) and name:
                await self._disk(lambda: self._store.delete(name))
        partition.forget(call.id)

    async def _in_database(self, work: Callable[[], T]) -> T:
        return await patiently(self._database, self.name, work, self._patience_s)

    async def _disk(self, work: Callable[[], T]) -> T:
        """Work on files; a full disk or a store that is away is waited for."""
        return await retried(work, self.name, _file_trouble, FILES, self._patience_s)


def _file_trouble(error: Exception) -> Unavailable:
    reason = getattr(error, "strerror", None) or str(error)
    return Unavailable(f"a recording cannot be written: {reason}", "the next run goes on")


def note_recording(session: Session, call: str, name: str, at: float) -> bool:
    """False when the call was erased: the recording belongs to nobody."""
    tombstones.hold_off(session)
    if tombstones.is_erased(session, call):
        return False
    event_batch.locked(session.connection(), {call: at})
    session.execute(update(Call).where(col(Call.id) == call).values(recording=name, recorded=True))
    return True


def open_recording(database: Database, settings: Settings, call: str) -> IO[bytes] | None:
    """The recording of a call, as a file to read and seek in; None when there is none."""
    with database.session() as session:
        name = session.scalars(select(col(Call.recording)).where(col(Call.id) == call)).one_or_none()
    try:
        return RecordingStore(settings).open(name) if name else None
    except FileNotFoundError:
        return None


def _read(record: Record) -> Event | None:
    """None when it cannot be read; the stage whose input it is says so to the dead letters."""
    try:
        event: Event = TOPICS[record.topic].decode(record.value)
        return event
    except Unreadable:
        return None
