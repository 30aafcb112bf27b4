"""One partition of transcripts: its calls, which of them are over, and how far it may be committed.

    calls        ..|L........E....                  L: a call is live, E: it has ended
    transcripts  .....|t1....t2....t3|..........    analyzed when everything up to where the topic
                                                    ended when E was read (t3 at least) is analyzed

A commit is the offset of the oldest transcript of a call that is not finished, and its note says how far everything is
published. A successor reads from that offset, so that it knows what the calls are about, and is silent up to the note.
The note also names finished calls that may go on, because only their audio had stopped, and where they began.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import structlog

from nlp.call import CallAnalysis, CallEnd
from nlp.output import DeadRecord
from tenor.bounded_dict import BoundedDict
from tenor.bus import Bus, Commit, Partition, Record
from tenor.bus.commit_note import CommitNote
from tenor.bus.partitioned import Takeover
from tenor.events import CALLS, TRANSCRIPTS, Call, CallMetrics, CallState, Heard, Transcript, Unreadable

log = structlog.get_logger(__name__)

REMEMBERED = 2000
"""Finished calls of which late words may come, or that go on after all."""

OpenCall = Callable[[str, Call | None, float], CallAnalysis]
"""Of a call, what is known of it, and when its first record was published."""


@dataclass(frozen=True, slots=True)
class PendingEvent:
    """An event of a call, before the call has heard it."""

    record: Record
    call: CallAnalysis
    event: Transcript | Heard
    silent: bool
    """Everything that follows from it is published already."""


class FinishedCall(NamedTuple):
    """A call that is over and analyzed to its end."""

    first_transcript: int
    """Its offset; 0 when it is not known."""
    may_go_on: bool
    at: float
    """When its last record was published, or when it was handed over to us."""


class TranscriptPartition:
    def __init__(self, bus: Bus, taken: Takeover, open_call: OpenCall) -> None:
        """It begins where the predecessor has come to."""
        self.number = taken.number
        self._bus = bus
        self._open_call = open_call
        self._calls: dict[str, CallAnalysis] = {}
        self._finished: BoundedDict[str, FinishedCall] = BoundedDict(REMEMBERED)
        self._transcripts = taken.positions[TRANSCRIPTS.name]
        self._states = taken.positions[CALLS.name]
        """The next offsets to be read of both topics."""
        self._published = CommitNote.read(taken.notes[TRANSCRIPTS.name])
        for call, began in reversed(self._published.resting.items()):  # the newest last, as they are remembered
            self._finished[call] = FinishedCall(began, True, time.time())
        self._pending: list[PendingEvent] = []
        self._dead: list[DeadRecord] = []

    @property
    def calls(self) -> tuple[CallAnalysis, ...]:
        return tuple(self._calls.values())

    async def catch_up(self) -> None:
        """Read the calls topic to its end."""
        while records := await self._bus.fetch(self._partition(CALLS.name), self._states):
            for record in records:
                await self._read_state(record)

    async def take(self, record: Record) -> None:
        """The next record of either topic."""
        if record.topic == CALLS.name:
            if record.offset >= self._states:
                await self._read_state(record)
        elif record.offset >= self._transcripts:
            await self._read_transcript(record)

    def pop_pending(self) -> list[PendingEvent]:
        """What was taken and is to be analyzed, each once."""
        pending, self._pending = self._pending, []
        return pending

    def pop_dead(self) -> list[DeadRecord]:
        """What was taken and could not be read, each once."""
        dead, self._dead = self._dead, []
        return dead

    def done(self) -> list[CallAnalysis]:
        """Calls that are over and of which every transcript is taken."""
        return [
            call for call in self._calls.values() if call.end is not None and call.end.transcripts <= self._transcripts
        ]

    def finish(self, call: CallAnalysis) -> None:
        """Nothing is left to be published of this call."""
        self._calls.pop(call.id, None)
        may_go_on = call.end is not None and call.end.audio_stopped
        self._finished[call.id] = FinishedCall(call.first_transcript or 0, may_go_on, call.touched)

    def published(self) -> None:
        """Everything that follows from what was taken is published."""
        published = max(self._published.transcripts, self._transcripts)
        self._published = CommitNote(published, self._states, reached=self._transcripts)

    def commits(self) -> dict[Partition, Commit]:
        now = time.time()
        for call in list(self._calls.values()):
            if now - call.touched > TRANSCRIPTS.retention_s:
                log.warning("a call never ended and its transcripts are gone", call=call.id)
                del self._calls[call.id]
        for name, finished in list(self._finished.items()):
            if now - finished.at > TRANSCRIPTS.retention_s:
                del self._finished[name]  # nothing is left of it, so neither is its name
        firsts = [call.first_transcript for call in self._calls.values() if call.first_transcript is not None]
        states = [call.first_state for call in self._calls.values()]
        note = self._published.with_resting(self._may_go_on())
        return {
            self._partition(TRANSCRIPTS.name): Commit(min(firsts, default=self._transcripts), note.write()),
            self._partition(CALLS.name): Commit(
                min(states, default=self._states), CommitNote(reached=self._published.calls).write()
            ),
        }

    async def close(self) -> None:
        """All work is done in the stage's steps: there is nothing to stop."""

    def _may_go_on(self) -> Iterator[tuple[str, int]]:
        """Finished calls that may go on, the newest first, and where each began."""
        for call, finished in reversed(self._finished.items()):
            if finished.may_go_on:
                yield call, finished.first_transcript

    # -- transcripts

    async def _read_transcript(self, record: Record) -> None:
        silent = record.offset < self._published.transcripts
        try:
            event = TRANSCRIPTS.decode(record.value)
        except Unreadable as error:
            if not silent:
                self._dead.append(DeadRecord(record, str(error)))
        else:
            if isinstance(event, Heard) or event.final:
                await self._queue(record, event, silent=silent)
        self._transcripts = record.offset + 1

    async def _queue(self, record: Record, event: Transcript | Heard, *, silent: bool) -> None:
        if event.call not in self._calls and not (silent and event.call in self._finished):
            await self.catch_up()  # that it is live, or live again, was published before, but perhaps not read yet
        if event.call not in self._finished:
            call = self._calls.get(event.call) or self._open(event.call, None, self._states, record.at)
            self._add(call, record, event, silent=silent)

    def _add(self, call: CallAnalysis, record: Record, event: Transcript | Heard, *, silent: bool) -> None:
        if call.first_transcript is None:
            call.first_transcript = record.offset
        call.touched = max(call.touched, record.at)
        self._pending.append(PendingEvent(record, call, event, silent))

    # -- states

    async def _read_state(self, record: Record) -> None:
        self._states = record.offset + 1
        try:
            event = CALLS.decode(record.value)
        except Unreadable as error:
            if record.offset >= self._published.calls:
                self._dead.append(DeadRecord(record, str(error)))
            return
        call = self._calls.get(event.call)
        if isinstance(event, CallState):
            await self._change_state(event, call, record)
        elif isinstance(event, CallMetrics) and event.final and call is not None and call.failed:
            self.finish(call)  # nothing else says of a failed call that it was analyzed to its end

    async def _change_state(self, event: CallState, call: CallAnalysis | None, record: Record) -> None:
        """A call comes into another state."""
        over = event.state in ("ended", "failed")
        if call is not None:
            call.touched = max(call.touched, record.at)
        elif event.call in self._finished:
            if event.state == "live":
                await self._revive(event, record)
        elif over or event.state == "live":
            call = self._open(event.call, event.info, record.offset, record.at)
        if call is None:
            return
        if event.state == "live":
            call.end = None
        elif over:
            call.end = CallEnd(event.state, await self._end_of_transcripts(), event.audio_stopped)
        elif event.state == "analysed" and call.end is not None:
            self.finish(call)

    async def _end_of_transcripts(self) -> int:
        """Where the topic ends now; what is gone from it need not be waited for."""
        first, end = await self._bus.bounds(self._partition(TRANSCRIPTS.name))
        return end if max(first, self._transcripts) < end else 0

    async def _revive(self, event: CallState, record: Record) -> None:
        """It was over, and goes on after all: what it was about so far is read again."""
        offset = self._finished.pop(event.call).first_transcript
        call = self._open(event.call, event.info, record.offset, record.at)
        while offset < self._transcripts:
            records = await self._bus.fetch(self._partition(TRANSCRIPTS.name), offset)
            if not records:
                return
            offset = records[-1].offset + 1
            for old in records:
                if old.key == event.call and old.offset < self._transcripts:
                    with suppress(Unreadable):
                        heard = TRANSCRIPTS.decode(old.value)
                        if isinstance(heard, Heard) or heard.final:
                            self._add(call, old, heard, silent=True)

    def _open(self, call: str, info: Call | None, offset: int, at: float) -> CallAnalysis:
        opened = self._calls[call] = self._open_call(call, info, at)
        opened.first_state, opened.touched = offset, at
        return opened

    def _partition(self, topic: str) -> Partition:
        return Partition(topic, self.number)
