"""Plays a conversation test on virtual time: no second of it is waited for.

A line waits for its answer, whatever its actions take, unless a `wait` follows: then the clock goes on by just that,
and the next line is said into what is still going on.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from dialog.engine.engine import Engine, Step
from dialog.engine.events import (
    Call,
    Done,
    End,
    Event,
    Failed,
    GivenBack,
    HandOver,
    Heard,
    Key,
    Silence,
    Spoken,
    TakenOver,
)
from dialog.engine.events import Say as Reply
from dialog.engine.events import Wait as SilenceLimit
from dialog.engine.session import Session
from dialog.exchange import shown
from dialog.fulfilment.types import Action
from dialog.testing.checks import mismatches, told_call
from dialog.testing.conversation import (
    BargeIn,
    Behaviour,
    Conversation,
    Deed,
    Person,
    PressKey,
    Say,
    StaySilent,
    Wait,
)
from dialog.testing.conversation import Step as ScriptStep
from dialog.testing.coverage import Coverage
from dialog.testing.outcome import (
    CallRecord,
    ConversationOutcome,
    FailureRecord,
    Mismatch,
    ReplyRecord,
    Speaker,
    TranscriptLine,
    Window,
)
from dialog.testing.scripted import ScriptedActions

CALL: Final = "test"
"""Id of every conversation: what is drawn by lot is the same in each run."""
MOST_EVENTS: Final = 10_000
"""Of one conversation; more is a loop."""
_AS_PROVIDED: Final = Behaviour()


@dataclass(frozen=True, slots=True)
class _Filler:
    call: str
    text: str


@dataclass(frozen=True, slots=True)
class _Answer:
    action: str
    event: Done | Failed


class _Stuck(Exception):
    """The conversation cannot go on as the test wants it."""


class Player:
    """Plays one conversation."""

    def __init__(
        self, engine: Engine, actions: Mapping[str, Action], conversation: Conversation, coverage: Coverage
    ) -> None:
        self._engine = engine
        self._scripted = ScriptedActions(engine.assistant, actions)
        self._conversation = conversation
        self._coverage = coverage
        self._ms = 0
        self._due: list[tuple[int, int, _Filler | _Answer]] = []
        self._number = 0
        self._silence_ms: int | None = None
        self._lasting: Mapping[str, Behaviour] = {}
        self._behaviours: Mapping[str, Behaviour] = {}
        self._window = Window()
        self._transcript: list[TranscriptLine] = []
        self._said: list[str] = []
        """Replies since the shopper last spoke."""
        self._said_before: list[str] = []
        """Those that he speaks over now."""
        self._session = Session(call=CALL, version=engine.assistant.version)
        self.changed = False
        """Whether an action was called that changes something."""

    async def play(self) -> ConversationOutcome:
        began = time.perf_counter()
        found: list[Mismatch] = []
        where = self._conversation.where
        try:
            await self._take(self._engine.start(CALL, self._now), "")
            waited = checked = False
            for step in self._conversation.steps:
                where = step.where
                waited, checked = await self._step(step, waited, checked)
                for expectation in step.expectations:
                    found += mismatches(expectation, self._window, self._session)
                if found:
                    break
            else:
                if not waited:
                    await self._settle()
        except _Stuck as stuck:
            found.append(Mismatch(where, "the conversation to go on", str(stuck)))
        except Exception as error:  # a state type or an action of the author's own
            found.append(Mismatch(where, "an answer", f"the assistant failed: {type(error).__name__}: {error}"))
        return ConversationOutcome(
            name=self._conversation.name,
            where=self._conversation.where,
            mismatches=tuple(found),
            transcript=tuple(self._transcript),
            took_s=time.perf_counter() - began,
        )

    async def _step(self, step: ScriptStep, waited: bool, checked: bool) -> tuple[bool, bool]:
        """Whether the last thing done was to wait, and whether something was expected since."""
        if step.deed is None:
            if step.behaviours is not None:
                self._lasting = self._behaviours = step.behaviours
        else:
            only_time = isinstance(step.deed, Wait | StaySilent)
            if not waited and not isinstance(step.deed, Wait):
                await self._settle()
            if not only_time:
                self._behaviours = self._lasting
                self._said_before, self._said = self._said, []
                self._window = Window(began_ms=self._ms)
            elif checked:
                self._window = Window(began_ms=self._window.began_ms)
            if step.behaviours is not None:
                self._behaviours = {**self._lasting, **step.behaviours}
            checked = False
            waited = isinstance(step.deed, Wait)
            await self._do(step.deed)
        if step.expectations:
            checked = True
            if not waited:
                await self._settle()
        return waited, checked

    # --- what the shopper does ----------------------------------------------------------------------------------

    async def _do(self, deed: Deed) -> None:
        match deed:
            case Say():
                self._note("you", deed.text)
                await self._happen(Heard(deed.text))
            case BargeIn():
                heard = " ".join(" ".join(self._said_before).split()[: deed.after_words])
                self._note("you", f"{deed.text} (after hearing: {heard or 'nothing'})")
                await self._happen(Spoken(heard))
                await self._happen(Heard(deed.text))
            case PressKey():
                self._note("you", f"key {deed.digit}")
                await self._happen(Key(deed.digit))
            case Person():
                self._note("time", "a person takes over" if deed.takes_over else "the person gives back")
                await self._happen(TakenOver() if deed.takes_over else GivenBack())
            case Wait():
                self._note("time", f"{deed.ms / 1000:g} s pass")
                await self._go_to(self._ms + deed.ms)
            case StaySilent():
                for _ in range(deed.times):
                    if self._silence_ms is None:
                        raise _Stuck("the assistant does not wait for the shopper, so silence is not noticed")
                    self._note("time", "silence")
                    await self._go_to(self._silence_ms)
        await self._go_to(self._ms)

    # --- the clock ------------------------------------------------------------------------------------------------

    @property
    def _now(self) -> datetime:
        return self._conversation.at + timedelta(milliseconds=self._ms)

    async def _settle(self) -> None:
        """Until every action that is still wanted has answered."""
        while self._due and self._session.calls.keys() & {self._id(one) for _, _, one in self._due}:
            await self._next()

    async def _go_to(self, ms: int) -> None:
        while (moment := self._next_ms()) is not None and moment <= ms:
            await self._next()
        self._ms = ms

    def _next_ms(self) -> int | None:
        moments = [one for one in (self._due[0][0] if self._due else None, self._silence_ms) if one is not None]
        return min(moments, default=None)

    async def _next(self) -> None:
        """The next thing that time brings."""
        self._number += 1
        if self._number > MOST_EVENTS:
            raise _Stuck(f"more than {MOST_EVENTS} events: it goes round in circles")
        moment = self._next_ms()
        assert moment is not None
        self._ms = moment
        if self._due and self._due[0][0] == moment:
            _, _, due = heapq.heappop(self._due)
            if isinstance(due, _Filler):
                if due.call in self._session.calls:
                    self._reply(due.text)
                return
            if isinstance(due.event, Failed):
                self._window.failures.append(FailureRecord(self._ms, due.action))
                self._note("action", f"{due.action} fails: {due.event.reason}")
            await self._happen(due.event)
        else:
            self._silence_ms = None
            await self._happen(Silence())

    def _id(self, due: _Filler | _Answer) -> str:
        return due.event.id if isinstance(due, _Answer) else due.call

    # --- the engine -----------------------------------------------------------------------------------------------

    async def _happen(self, event: Event) -> None:
        before = self._session.state
        await self._take(self._engine.step(self._session, event, self._now), before)

    async def _take(self, step: Step, before: str) -> None:
        self._session = step.session
        self._coverage.add(before, step.session.intent, step.trace)
        self._silence_ms = None
        for effect in step.effects:
            match effect:
                case Reply():
                    self._reply(effect.text)
                case Call():
                    await self._call(effect)
                case HandOver():
                    self._window.handed_over = True
                    self._note("time", f"handed over to {effect.queue or 'a person'}")
                case End():
                    self._note("time", "the conversation ends")
                case SilenceLimit() if self._conversation.channel == "voice":
                    self._silence_ms = round((effect.until - self._conversation.at) / timedelta(milliseconds=1))

    async def _call(self, call: Call) -> None:
        record = CallRecord(self._ms, call.action, shown(call.arguments))
        self._window.calls.append(record)
        self._note("action", told_call(record))
        self.changed |= self._scripted.changes_something(call.action)
        behaviour = self._behaviours.get(call.action, _AS_PROVIDED)
        answer = await self._scripted.answer(call, behaviour, self._now, CALL)
        if call.filler and answer.after_ms > call.filler_ms:
            self._schedule(call.filler_ms, _Filler(call.id, call.filler))
        self._schedule(answer.after_ms, _Answer(call.action, answer.event))

    def _schedule(self, after_ms: int, due: _Filler | _Answer) -> None:
        self._number += 1
        heapq.heappush(self._due, (self._ms + after_ms, self._number, due))

    def _reply(self, text: str) -> None:
        self._window.replies.append(ReplyRecord(self._ms, text))
        self._said.append(text)
        self._note("assistant", text)

    def _note(self, speaker: Speaker, text: str) -> None:
        self._transcript.append(TranscriptLine(self._ms, speaker, text))
