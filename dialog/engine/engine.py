"""The dialog manager: one event in, a new session and effects out. It has no clock, no network and no memory.

What is tried on a line, in this order, and the first that applies decides:

    guard  >  universal words  >  repair within the line  >  the open question  >  correction, ellipsis
           >  intent (two wishes are split)  >  reprompts, then a person
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from datetime import datetime, timedelta
from typing import Final

import msgspec

from dialog.engine.asking import ask_again
from dialog.engine.default_slots import with_slots
from dialog.engine.events import (
    Call,
    Done,
    Effect,
    End,
    Escalated,
    Event,
    Failed,
    GivenBack,
    Heard,
    Key,
    NobodyCame,
    Silence,
    Spoken,
    TakenOver,
    TraceEntry,
    Wait,
)
from dialog.engine.handover import (
    ACTION,
    ask_for_person,
    ask_when_unhappy,
    given_back,
    nobody_came,
    person_answered,
    taken_over,
)
from dialog.engine.interpretation.hearing import hear
from dialog.engine.reprompts import silence
from dialog.engine.running import Runner
from dialog.engine.session import Session, copied
from dialog.engine.turn import Turn
from dialog.flow.model import Assistant
from dialog.understanding.types import Understander
from dialog.values.types import Parser

KEYS: Final = {"0": "a person please", "*": "repeat that", "#": "help"}


class Step(msgspec.Struct, frozen=True):
    session: Session
    effects: list[Effect]
    trace: list[TraceEntry]


class Engine:
    """Shared by all conversations."""

    def __init__(self, assistant: Assistant, understander: Understander, parsers: Mapping[str, Parser]) -> None:
        assistant = with_slots(assistant)
        self.assistant = assistant
        self._understander = understander
        self._parsers = parsers
        self._runner = Runner(assistant)

    def reading_with(self, understander: Understander) -> Engine:
        """The same engine with something else that understands."""
        engine = copy(self)
        engine._understander = understander
        return engine

    def start(self, call: str, now: datetime) -> Step:
        """A new conversation: its greeting."""
        session = Session(call=call, version=self.assistant.version)
        turn = self._turn(session, now)
        main = self.assistant.flows[self.assistant.main]
        self._runner.run(turn, f"{main.name}.{main.start}")
        return self._ended(turn)

    def step(self, session: Session, event: Event, now: datetime) -> Step:
        turn = self._turn(copied(session), now)
        session = turn.session
        match event:
            case Heard():
                session.turn += 1
                session.silences = 0
                hear(turn, self._runner, self._understander, event)
                ask_when_unhappy(turn)
            case Key():
                session.turn += 1
                self._key(turn, event)
            case Silence():
                session.turn += 1
                if not session.ended and not session.handed_over:
                    silence(turn)
            case Done() | Failed():
                self._answered(turn, event)
            case Spoken():
                session.heard = event.text
            case TakenOver():
                taken_over(turn, event.agent)
            case NobodyCame():
                session.handed_over = False
                nobody_came(turn)
            case GivenBack():
                given_back(turn, event.agent)
            case Escalated():
                session.turn += 1
                session.alerts = [*session.alerts, event.alert]
                reachable = bool(self.assistant.patterns.handover_queue)
                if reachable and not session.ended and not session.handed_over:
                    ask_for_person(turn, f"rule {event.rule}")
        return self._ended(turn)

    def _turn(self, session: Session, now: datetime) -> Turn:
        return Turn(assistant=self.assistant, parsers=self._parsers, session=session, now=now, home=self._runner.home)

    def _key(self, turn: Turn, event: Key) -> None:
        pending = turn.session.pending
        if event.digit == "0":
            ask_for_person(turn, "key 0")
        elif pending is not None and pending.kind in ("choice", "intent") and event.digit.isdigit():
            hear(turn, self._runner, self._understander, Heard(event.digit))
        elif event.digit in KEYS:
            hear(turn, self._runner, self._understander, Heard(KEYS[event.digit]))
        else:
            ask_again(turn)

    def _answered(self, turn: Turn, event: Done | Failed) -> None:
        session = turn.session
        opened = session.calls.pop(event.id, None)
        if opened is None:  # given up: kept, not spoken over the next question
            turn.note("late result", event.id)
            if isinstance(event, Done):
                session.late = {event.id: event.result}
        elif opened.action == ACTION:
            person_answered(turn, opened, event)
        else:
            self._runner.receive(turn, opened.state, event)

    def _ended(self, turn: Turn) -> Step:
        """Settle what the next turn goes by."""
        session, patterns = turn.session, self.assistant.patterns
        if said := turn.said():
            session.replies = [*session.replies, *said] if session.replied == session.turn else said
            session.replied, session.heard = session.turn, ""
        session.last_ms = int(turn.now.timestamp() * 1000)
        busy = session.ended or session.handed_over or any(isinstance(effect, Call | End) for effect in turn.effects)
        if not busy and not session.calls:
            turn.effects.append(Wait(turn.now + timedelta(milliseconds=patterns.silence_ms)))
        return Step(session, turn.effects, turn.trace)
