"""The stage that keeps recordings: audio in, one file a call out, with what is to be redacted silenced.

Raw audio is only ever in a spool of this process, removed when the recording is made; what reaches the recordings'
folder has been through redaction. A recorder killed at any moment leaves the calls it had in hand to its successor,
who hears them again from the bus and ends in the same files.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import IO, TypeVar

import structlog
from sqlalchemy import select, update
from sqlmodel import Session, col

from storage import batch, erased, metrics
from storage.database import Database
from storage.deck import TOPICS, Deck, InHand
from storage.patience import in_thread, opened, patiently
from storage.shelf import Shelf, name_of
from storage.tables import Call
from tenor.bus import Bus, Commit, Consumer, Partition, Record
from tenor.errors import Unavailable
from tenor.events import CALLS, Event, Unreadable
from tenor.scratch import scratch
from tenor.settings import Settings

log = structlog.get_logger(__name__)

T = TypeVar("T")
GROUP = "recordings"
COMMIT_S = 1.0
FULL_DISK_S = 1.0


class Recorder:
    name = "recordings"

    def __init__(self, bus: Bus, settings: Settings, patience_s: float = math.inf) -> None:
        """`patience_s`: how long it waits for a full disk or a database that is away."""
        self._bus = bus
        self._settings = settings
        self._patience_s = patience_s
        self._shelf = Shelf(settings)
        self._decks: dict[int, Deck] = {}
        self._committed: dict[Partition, Commit] = {}
        self._consumer: Consumer | None = None

    async def run(self) -> None:
        self._database = await opened(self._settings, self.name)
        spool = ExitStack()
        self._folder = await in_thread(lambda: spool.enter_context(scratch(self._settings.home / "spool")))
        try:
            self._consumer = self._bus.consumer(TOPICS.values(), GROUP, on_revoked=self._revoked)
            async with self._consumer as consumer:
                await self._work(consumer)
        finally:
            await in_thread(spool.close)
            await in_thread(self._database.close)

    async def _work(self, consumer: Consumer) -> None:
        committed = time.monotonic()
        while True:
            records = await consumer.poll(500, 0.25)
            await self._take([record for record in records if record.partition in self._decks])
            await self._sit_down(consumer)
            for deck in tuple(self._decks.values()):
                await self._mark(deck)
                for call in deck.finished():
                    await self._finish(deck, call)
                for call in deck.abandoned():
                    log.warning("a call was never heard to its end, no recording is kept", call=call.id)
                    await self._done(deck, call, "")
            if time.monotonic() - committed >= COMMIT_S:
                committed = time.monotonic()
                await self._commit(tuple(self._decks))

    # -- partitions

    async def _sit_down(self, consumer: Consumer) -> None:
        """A deck for every partition that we hold of all topics, from where its last owner committed."""
        held = consumer.assignment()
        for number in {partition.number for partition in held} - self._decks.keys():
            parts = [Partition(topic, number) for topic in TOPICS]
            if not held.issuperset(parts):
                continue
            positions = {}
            for part in parts:
                commit = await consumer.committed(part)
                first, _ = await self._bus.bounds(part)
                positions[part.topic] = max(first, commit.offset) if commit else first
                await consumer.seek(part, positions[part.topic])
            self._decks[number] = Deck(number, positions, self._folder, self._settings.speech.watchdog_s)

    async def _revoked(self, partitions: Sequence[Partition]) -> None:
        """All topics of a partition, or none: whoever has it next hears the calls in hand from their beginning."""
        numbers = {partition.number for partition in partitions} & self._decks.keys()
        await self._commit(tuple(numbers))
        for number in numbers:
            self._decks.pop(number).close()
        self._committed.clear()

    async def _commit(self, numbers: Sequence[int]) -> None:
        assert self._consumer is not None
        commits = {part: commit for number in numbers for part, commit in self._decks[number].commits().items()}
        changed = {part: commit for part, commit in commits.items() if self._committed.get(part) != commit}
        if changed:
            await self._consumer.commit(changed)
            self._committed.update(changed)

    # -- records

    async def _take(self, records: Sequence[Record]) -> None:
        found = [(record, _read(record)) for record in records]
        await self._recognise(found)

        def take() -> None:
            for record, event in found:
                self._decks[record.partition].take(record, event if self._settings.storage.record else None)

        await self._disk(take)

    async def _recognise(self, found: Sequence[tuple[Record, Event | None]]) -> None:
        """Ask the database once about calls that are new here: some are done, since a partition is read again from
        the oldest call in hand, and some were erased."""
        strangers = {
            (call, number)
            for number, deck in self._decks.items()
            for call in deck.strangers(event for record, event in found if event and record.partition == number)
        }
        calls = {call for call, _ in strangers}
        if not calls or not self._settings.storage.record:
            return

        def look() -> set[str]:
            with self._database.session() as session:
                done = select(col(Call.id)).where(col(Call.id).in_(calls), col(Call.recorded))
                return {*session.scalars(done), *erased.which(session, calls)}

        done = await self._in_database(look)
        for call, number in strangers:
            if call in done:
                self._decks[number].forget(call)

    async def _mark(self, deck: Deck) -> None:
        """How far the other topics go, now that a call is known to be over: its audio and its words lie before."""
        for call in deck.awaiting_marks():
            for topic in TOPICS:
                if topic != CALLS.name:
                    _, call.marks[topic] = await self._bus.bounds(Partition(topic, deck.number))

    # -- recordings

    async def _finish(self, deck: Deck, call: InHand) -> None:
        name = await self._had(call) if call.over and call.over.state == "failed" else ""
        if name:
            log.warning("a call was heard anew and failed: its recording stays as it was", call=call.id)
        elif call.may_be_kept():
            name = name_of(call.id, self._settings.storage.format)
            await self._disk(lambda: self._make(call, name))
            metrics.RECORDINGS.inc()
        elif call.info is not None and call.info.record and not call.spool.empty:
            log.warning("a call was not heard, so nothing could be silenced: no recording is kept", call=call.id)
        await self._done(deck, call, name)

    async def _had(self, call: InHand) -> str:
        """The recording of an earlier hearing, if there was one."""

        def look() -> str:
            with self._database.session() as session:
                return session.scalars(select(col(Call.recording)).where(col(Call.id) == call.id)).one_or_none() or ""

        return await self._in_database(look)

    def _make(self, call: InHand, name: str) -> None:
        assert call.info is not None
        made = self._folder / name
        call.spool.write(made, self._settings.storage.format, len(call.info.roles), call.silenced())
        self._shelf.put(made, name)
        made.unlink()

    async def _done(self, deck: Deck, call: InHand, name: str) -> None:
        """On record that the call is done, and where its recording is; then it is out of our hands."""
        if call.has_audio:
            # First the file, then the row: killed in between, the call is done again and no file is left nameless.
            if (had := await self._had(call)) not in ("", name):
                await self._disk(lambda: self._shelf.delete(had))

            def tell() -> bool:
                with self._database.begin() as session:
                    return note_recording(session, call.id, name, call.over.at if call.over else time.time())

            if not await self._in_database(tell) and name:
                await self._disk(lambda: self._shelf.delete(name))
        deck.forget(call.id)

    async def _in_database(self, work: Callable[[], T]) -> T:
        return await patiently(self._database, self.name, work, self._patience_s)

    async def _disk(self, work: Callable[[], T]) -> T:
        """Work on files; a full disk or a store that is away is waited for."""
        told, began = False, time.monotonic()
        while True:
            try:
                return await in_thread(work)
            except (OSError, RuntimeError) as error:  # soundfile's errors are RuntimeErrors
                reason = getattr(error, "strerror", None) or str(error)
                if time.monotonic() - began >= self._patience_s:
                    raise Unavailable(f"a recording cannot be written: {reason}", "the next run goes on") from error
                if not told:
                    log.warning("a recording cannot be written, trying again", reason=reason)
                    told = True
                await asyncio.sleep(FULL_DISK_S)


def note_recording(session: Session, call: str, name: str, at: float) -> bool:
    """False when the call was erased: the recording belongs to nobody."""
    erased.hold_off(session)
    if erased.is_erased(session, call):
        return False
    batch.locked(session.connection(), {call: at})
    session.execute(update(Call).where(col(Call.id) == call).values(recording=name, recorded=True))
    return True


def open_recording(database: Database, settings: Settings, call: str) -> IO[bytes] | None:
    """The recording of a call, as a file to read and seek in; None when there is none."""
    with database.session() as session:
        name = session.scalars(select(col(Call.recording)).where(col(Call.id) == call)).one_or_none()
    try:
        return Shelf(settings).open(name) if name else None
    except FileNotFoundError:
        return None


def _read(record: Record) -> Event | None:
    """None when it cannot be read; the stage whose input it is says so to the dead letters."""
    try:
        event: Event = TOPICS[record.topic].decode(record.value)
        return event
    except Unreadable:
        return None
