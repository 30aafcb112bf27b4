"""One partition being understood: its calls, what is over, and how far it may be committed.

    calls        ..|L........E....                  L: a call is live, E: it has ended
    transcripts  .....|t1....t2....t3|..........    understood when everything up to where the topic
                                                    ended when E was read (t3 at least) is understood

A commit is the offset of the oldest transcript of a call that is not finished, and its note says how far everything is
published. A successor reads from that offset, so that it knows what the calls are about, and is silent up to the note.
The note also names finished calls that may go on, because only their audio had stopped, and where they began.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import structlog
from msgspec.structs import replace

from nlp.call import End, UnderstoodCall
from tenor.bus import Bus, Commit, Partition, Record
from tenor.bus.handover import Handover
from tenor.events import AUDIO_STOPPED, CALLS, TRANSCRIPTS, Call, CallMetrics, CallState, Heard, Transcript, Unreadable

log = structlog.get_logger(__name__)

REMEMBERED = 2000
"""Finished calls of which late words may come, or that go on after all."""
ROOM = 2000
"""Bytes of a note for calls that may go on; Kafka takes 4096 for all of it."""

OpenCall = Callable[[str, Call | None], UnderstoodCall]


@dataclass(frozen=True, slots=True)
class Step:
    """A record of a call, to be understood."""

    record: Record
    call: UnderstoodCall
    event: Transcript | Heard
    silent: bool
    """Everything that follows from it is published already."""


class Dead(NamedTuple):
    """A record that cannot be read, and why."""

    record: Record
    reason: str


class Finished(NamedTuple):
    """A call that is over and understood."""

    first_transcript: int
    """Its offset; 0 when it is not known."""
    may_go_on: bool
    at: float
    """When its last record was published, or when it was handed over to us."""


class Desk:
    def __init__(self, bus: Bus, number: int, open_call: OpenCall) -> None:
        self.number = number
        self._bus = bus
        self._open_call = open_call
        self._calls: dict[str, UnderstoodCall] = {}
        self._finished: OrderedDict[str, Finished] = OrderedDict()
        self._transcripts = 0
        self._states = 0
        """The next offsets to be read of both topics."""
        self._published = Handover()
        self._steps: list[Step] = []
        self._dead: list[Dead] = []

    @property
    def calls(self) -> int:
        return len(self._calls)

    async def open(self, transcripts: Commit | None, states: Commit | None) -> None:
        """Begin where the predecessor has come to."""
        first, _ = await self._bus.bounds(self._partition(TRANSCRIPTS.name))
        self._transcripts = max(first, transcripts.offset if transcripts else 0)
        self._published = Handover.read(transcripts.note) if transcripts else Handover()
        for call, began in self._published.resting.items():
            self._finished[call] = Finished(began, True, time.time())
        self._states = states.offset if states else 0
        await self._catch_up()

    async def take(self, record: Record) -> None:
        """The next record of either topic."""
        if record.topic == CALLS.name:
            if record.offset >= self._states:
                await self._learn(record)
        elif record.offset >= self._transcripts:
            await self._hear(record)

    def steps(self) -> list[Step]:
        """What has to be understood because of what was taken; each is told once."""
        steps, self._steps = self._steps, []
        return steps

    def dead(self) -> list[Dead]:
        """What could not be read; each is told once."""
        dead, self._dead = self._dead, []
        return dead

    def done(self) -> list[UnderstoodCall]:
        """Calls that are over and of which every transcript is taken."""
        return [
            call for call in self._calls.values() if call.end is not None and call.end.transcripts <= self._transcripts
        ]

    def finish(self, call: UnderstoodCall) -> None:
        """Nothing is left to be published of this call."""
        self._calls.pop(call.id, None)
        may_go_on = call.end is not None and call.end.reason == AUDIO_STOPPED
        self._finished[call.id] = Finished(call.first_transcript or 0, may_go_on, call.touched)
        self._finished.move_to_end(call.id)
        while len(self._finished) > REMEMBERED:
            self._finished.popitem(last=False)

    def published(self) -> None:
        """Everything that follows from what was taken is published."""
        told = max(self._published.transcripts, self._transcripts)
        self._published = Handover(told, self._states, reached=self._transcripts)

    def commit(self, now: float) -> dict[Partition, Commit]:
        for call in list(self._calls.values()):
            if now - call.touched > TRANSCRIPTS.retention_s:
                log.warning("a call never ended and its transcripts are gone", call=call.id)
                del self._calls[call.id]
        for name, finished in list(self._finished.items()):
            if now - finished.at > TRANSCRIPTS.retention_s:
                del self._finished[name]  # nothing is left of it, so neither is its name
        firsts = [call.first_transcript for call in self._calls.values() if call.first_transcript is not None]
        states = [call.first_state for call in self._calls.values()]
        return {
            self._partition(TRANSCRIPTS.name): Commit(
                min(firsts, default=self._transcripts), replace(self._published, resting=self._resting()).write()
            ),
            self._partition(CALLS.name): Commit(
                min(states, default=self._states), Handover(reached=self._published.calls).write()
            ),
        }

    def _resting(self) -> dict[str, int]:
        """The newest finished calls that may go on, as many as a note has room for."""
        room, found = ROOM, dict[str, int]()
        for call, finished in reversed(self._finished.items()):
            if finished.may_go_on:
                room -= len(call.encode()) + 24
                if room < 0:
                    break
                found[call] = finished.first_transcript
        return dict(reversed(found.items()))  # the newest last, as they are remembered

    # -- transcripts

    async def _hear(self, record: Record) -> None:
        silent = record.offset < self._published.transcripts
        try:
            event = TRANSCRIPTS.decode(record.value)
        except Unreadable as error:
            if not silent:
                self._dead.append(Dead(record, str(error)))
        else:
            if isinstance(event, Heard) or event.final:
                await self._listen(record, event, silent=silent)
        self._transcripts = record.offset + 1

    async def _listen(self, record: Record, event: Transcript | Heard, *, silent: bool) -> None:
        if event.call not in self._calls and not (silent and event.call in self._finished):
            await self._catch_up()  # that it is live, or live again, was published before, but perhaps not read yet
        if event.call not in self._finished:
            call = self._calls.get(event.call) or self._open(event.call, None, self._states, record.at)
            self._add(call, record, event, silent=silent)

    def _add(self, call: UnderstoodCall, record: Record, event: Transcript | Heard, *, silent: bool) -> None:
        if call.first_transcript is None:
            call.first_transcript = record.offset
        call.touched = max(call.touched, record.at)
        self._steps.append(Step(record, call, event, silent))

    # -- states

    async def _catch_up(self) -> None:
        """Read the calls topic to its end."""
        while records := await self._bus.fetch(self._partition(CALLS.name), self._states):
            for record in records:
                await self._learn(record)

    async def _learn(self, record: Record) -> None:
        self._states = record.offset + 1
        try:
            event = CALLS.decode(record.value)
        except Unreadable as error:
            if record.offset >= self._published.calls:
                self._dead.append(Dead(record, str(error)))
            return
        call = self._calls.get(event.call)
        if isinstance(event, CallState):
            await self._turn(event, call, record)
        elif isinstance(event, CallMetrics) and event.final and call is not None and call.failed:
            self.finish(call)  # nothing else says of a failed call that it was understood to its end

    async def _turn(self, event: CallState, call: UnderstoodCall | None, record: Record) -> None:
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
            call.end = End(event.state, await self._end_of_transcripts(), event.reason)
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

    def _open(self, call: str, info: Call | None, offset: int, at: float) -> UnderstoodCall:
        opened = self._calls[call] = self._open_call(call, info)
        opened.first_state, opened.touched = offset, at
        return opened

    def _partition(self, topic: str) -> Partition:
        return Partition(topic, self.number)
