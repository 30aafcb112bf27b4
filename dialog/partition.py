"""One partition: the conversations on it, and how far it may be committed.

    calls        ..|L........E....              L: a call of the assistant is live, E: it is over
    turns        ....|T0...T1..s..|             T: its turns, the last of which is its state; s: an action was started
    transcripts  .......|t1....t2|....

A commit is the offset of the oldest record that a successor needs: of the calls, where the oldest open conversation
begins; of the turns, the oldest of their last turns; of the transcripts, the oldest line that no turn has dealt with.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Final

import structlog

from dialog.call import ATTRIBUTE, AssistantCall, CallContext
from dialog.engine.events import Escalated, GivenBack, Heard, Key, NobodyCame, TakenOver
from dialog.exchange import HANDOVER_RULE, ROLE, CallInput
from tenor.bounded_dict import BoundedDict
from tenor.bus import Commit, Partition, Record
from tenor.bus.commit_note import CommitNote
from tenor.bus.partitioned import Takeover
from tenor.events import (
    CALLS,
    TRANSCRIPTS,
    TURNS,
    ActionDone,
    ActionStarted,
    Alert,
    CallGivenBack,
    CallState,
    CallTakenOver,
    KeyPressed,
    Transcript,
    Turn,
    TurnFiller,
    TurnSpoken,
    Unreadable,
)

log = structlog.get_logger(__name__)

REMEMBERED: Final = 10_000
"""Calls that are not the assistant's, or no longer."""
SILENT_ROLES: Final = (ROLE, "agent")
"""What these say is no line of a shopper's."""


class AssistantPartition:
    def __init__(self, taken: Takeover, context: CallContext) -> None:
        """It begins where the predecessor has come to; `catch_up` reads what it left."""
        self.number = taken.number
        self.calls: dict[str, AssistantCall] = {}
        self.dead: list[tuple[Record, str]] = []
        self._bus, self._context = context.bus, context
        self._positions = dict(taken.positions)
        """The next offsets to be read."""
        self._others: BoundedDict[str, None] = BoundedDict(REMEMBERED)
        self._resting: BoundedDict[str, int] = BoundedDict(REMEMBERED)
        """Conversations that are over, but may go on, and where the last turn of each lies."""
        for call, offset in reversed(CommitNote.read(taken.notes[TURNS.name]).resting.items()):
            self._resting[call] = offset

    async def catch_up(self) -> None:
        """Which conversations are open, and where each stands."""
        await self._read_all(CALLS.name)
        await self._read_all(TURNS.name)
        for call in self.calls.values():
            await call.tell_again()

    async def take(self, record: Record) -> None:
        """The next record of any topic."""
        if record.offset < self._positions[record.topic]:
            return
        try:
            if record.topic == TRANSCRIPTS.name:
                await self._read_transcript(record)
            elif record.topic == TURNS.name:
                await self._read_turn(record)
            else:
                await self._read_state(record)
        except Unreadable as error:
            self.dead.append((record, str(error)))
        self._positions[record.topic] = record.offset + 1

    def work(self, now: float) -> None:
        """Have every conversation go on that has something to do. What one of them could not do is raised."""
        for call in list(self.calls.values()):
            if (working := call.working) is not None and working.done():
                call.working = None
                working.result()
            call.ring(now)
            if call.inbox and call.working is None:
                call.working = asyncio.create_task(call.work())
            self._drop_if_over(call, now)

    def commits(self) -> dict[Partition, Commit]:
        transcripts = self._positions[TRANSCRIPTS.name]
        turns, states = self._positions[TURNS.name], self._positions[CALLS.name]
        resting = CommitNote(reached=turns).with_resting(reversed(self._resting.items()))
        lines, positions, begun = list[int](), list[int](), list[int]()
        for call in self.calls.values():
            begun.append(call.first_state)
            lines += _there(call.first_pending(TRANSCRIPTS.name))
            positions += [*_there(call.turn_offset), *_there(call.first_pending(TURNS.name))]
        return {
            Partition(TRANSCRIPTS.name, self.number): Commit(
                min(lines, default=transcripts), CommitNote(reached=transcripts).write()
            ),
            Partition(TURNS.name, self.number): Commit(min(positions, default=turns), resting.write()),
            Partition(CALLS.name, self.number): Commit(min(begun, default=states), CommitNote(reached=states).write()),
        }

    async def close(self) -> None:
        """Whoever is in the middle of a turn leaves it to the successor; a change that was begun is ended first."""
        tasks = [call.working for call in self.calls.values() if call.working is not None]
        for task in tasks:
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, Exception):
                log.warning("a turn was left to the successor", reason=str(result))

    # -- records

    async def _read_all(self, topic: str) -> None:
        while records := await self._bus.fetch(Partition(topic, self.number), self._positions[topic]):
            for record in records:
                await self.take(record)

    async def _read_state(self, record: Record) -> None:
        event = CALLS.decode(record.value)
        call = self.calls.get(event.call)
        if isinstance(event, Alert) and call is not None and event.escalation and event.rule != HANDOVER_RULE:
            _put(call, record, "escalated", event=Escalated(event.alert, event.rule))
        if not isinstance(event, CallState):
            return
        over = event.state in ("ended", "failed", "analysed")
        if call is not None:
            call.touched = record.at
            if event.state == "live":
                call.end = None
                if event.info is not None:
                    call.renew(event.info)
            elif over and call.end is None:
                _, call.end = await self._bus.bounds(Partition(TRANSCRIPTS.name, self.number))
                call.audio_stopped = event.audio_stopped
        elif event.state == "live" and event.info is not None:
            if not event.info.attributes.get(ATTRIBUTE):
                self._others[event.call] = None
                return
            call = self.calls[event.call] = AssistantCall(event.call, event.info, self._context)
            call.first_state, call.touched = record.offset, record.at
            self._others.pop(event.call, None)
            if (offset := self._resting.pop(event.call, None)) is not None:
                await self._wake(call, offset)
            call.inbox.append(CallInput(kind="start", at=record.at))

    async def _wake(self, call: AssistantCall, offset: int) -> None:
        """It was over and goes on: its last turn says where."""
        for record in await self._bus.fetch(Partition(TURNS.name, self.number), offset, 1):
            with suppress(Unreadable):
                event = TURNS.decode(record.value)
                if isinstance(event, Turn) and event.call == call.id:
                    call.restore(event, record.offset)

    async def _read_turn(self, record: Record) -> None:
        if record.key in self._others:
            return
        event = TURNS.decode(record.value)
        call = await self._known(event.call)
        if call is None:
            return
        call.touched = max(call.touched, record.at)
        match event:
            case Turn():
                call.restore(event, record.offset)
            case ActionStarted() | ActionDone() | TurnFiller():
                call.ledger.note(event)
            case TurnSpoken():
                call.hear(event)
            case KeyPressed():  # the digit goes no further than the engine
                _put(call, record, "key", event=Key(event.digit))
            case CallTakenOver():
                _put(call, record, "taken_over", event=TakenOver(event.agent))
            case CallGivenBack() if event.unanswered:
                _put(call, record, "nobody_came", event=NobodyCame())
            case CallGivenBack():
                _put(call, record, "given_back", event=GivenBack(event.agent))

    async def _read_transcript(self, record: Record) -> None:
        if record.key in self._others:
            return
        event = TRANSCRIPTS.decode(record.value)
        if not isinstance(event, Transcript) or not event.final or event.role in SILENT_ROLES:
            return
        call = await self._known(event.call)
        if call is not None and (event.written or not call.is_backchannel(event.text, record.at)):
            call.touched = max(call.touched, record.at)
            heard = Heard(event.text, event.confidence or 1.0, event.utterance)
            times = {name: event.times[name] for name in ("captured", "published") if name in event.times}
            _put(
                call, record, "heard", event=heard, text=event.text, cause=(event.utterance,), end_ms=event.end_ms,
                times={**times, "published": record.at},
            )  # fmt: skip

    async def _known(self, name: str) -> AssistantCall | None:
        """That it is live was published before, but perhaps not read yet."""
        if name not in self.calls and name not in self._others:
            await self._read_all(CALLS.name)
        return self.calls.get(name)

    def _drop_if_over(self, call: AssistantCall, now: float) -> None:
        if call.inbox or call.working is not None:
            return
        gone = now - call.touched > TURNS.retention_s
        if gone or (call.end is not None and call.end <= self._positions[TRANSCRIPTS.name]):
            del self.calls[call.id]
            if call.audio_stopped and call.turn_offset is not None:
                self._resting[call.id] = call.turn_offset
            else:
                self._others[call.id] = None


def _put(call: AssistantCall, record: Record, kind: str, **fields: object) -> None:
    given = CallInput(kind=kind, at=record.at, topic=record.topic, offset=record.offset, **fields)  # type: ignore[arg-type]
    call.inbox.append(given)


def _there(offset: int | None) -> list[int]:
    return [] if offset is None else [offset]
