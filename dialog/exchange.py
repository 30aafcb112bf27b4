"""One exchange: what caused it, what came out so far, the Turn that tells it, and what else follows from that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import msgspec

from dialog.engine.engine import Step
from dialog.engine.events import Event, HandOver, Say, Wait
from dialog.engine.handover import MOODS
from dialog.engine.session import Session
from dialog.engine.turn import spoken
from dialog.understanding.tags import bio_tags
from dialog.understanding.types import Reading
from tenor.events import Alert, Call, Transcript, Turn, TurnAction, TurnReply

ROLE: Final = "assistant"
HANDOVER_RULE: Final = "assistant.handover"
APOLOGY: Final = "Sorry, something went wrong on my side. Could you say that again?"
"""For a line that the dialog manager failed on: nothing of what happened inside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallInput:
    """Something that happened to a conversation and becomes a turn."""

    kind: str
    """As `Turn.event` has it."""
    event: Event | None = None
    """For the engine; None: the conversation begins."""
    at: float
    """When it was published: the clock of the turn."""
    text: str = ""
    cause: tuple[str, ...] = ()
    end_ms: int = 0
    topic: str = ""
    """Where it lies on the bus; empty for the beginning and for what only a clock caused."""
    offset: int = -1
    times: Mapping[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class Exchange:
    number: int
    given: CallInput
    now: datetime
    heard: str = ""
    """What was heard of the replies before it."""
    actions: list[TurnAction] = field(default_factory=list)
    replies: list[TurnReply] = field(default_factory=list)
    trace: list[tuple[str, str]] = field(default_factory=list)
    handover: HandOver | None = None
    wait: datetime | None = None

    def add(self, step: Step) -> None:
        """What a step of the engine came to, but for the actions it wants."""
        self.wait = None
        for effect in step.effects:
            match effect:
                case Say():
                    self.replies.append(
                        TurnReply(text=effect.text, interruptible=effect.interruptible, card=effect.card)
                    )
                case HandOver():
                    self.handover = effect
                case Wait():
                    self.wait = effect.until
        self.trace += [(entry.rule, entry.detail) for entry in step.trace]

    def turn(self, session: Session, reading: Reading | None, **placed: Any) -> Turn:
        """`placed` says where it lies: times, offsets, the assistant."""
        given, texts = self.given, [reply.text for reply in self.replies]
        scores = {intent.name: intent.score for intent in reading.intents} if reading is not None else {}
        held = session.task.slots if session.task is not None else {}
        return Turn(
            call=session.call,
            turn=self.number,
            event=given.kind,
            input=given.text,
            cause=given.cause,
            at=given.at,
            intent=session.intent if given.text else "",
            intent_score=round(scores.get(session.intent, 0.0), 4),
            tags=bio_tags(given.text, reading.spans) if reading is not None else (),
            states=tuple(detail for rule, detail in self.trace if rule == "state"),
            state=session.state,
            slots={name: str(spoken(value)) for name, value in held.items()},
            action=self.actions[-1].name if self.actions else "",
            actions=tuple(self.actions),
            reply=" ".join(texts),
            replies=tuple(self.replies),
            handover=_handover(self.handover),
            heard=self.heard,
            mood=MOODS.get(reading.sentiment) if reading is not None else None,
            ended=session.ended,
            session=msgspec.to_builtins(session),
            trace=tuple(self.trace),
            **placed,
        )


def transcripts_of(turn: Turn, info: Call) -> list[Transcript]:
    """What was said in the turn, as any other side's lines are told."""
    channel = info.roles.index(ROLE) if ROLE in info.roles else 1
    published = turn.times.get("turn_published", turn.at)
    return [
        Transcript(
            call=turn.call,
            channel=channel,
            role=ROLE,
            utterance=f"{turn.call}/{channel}/{start_ms}",
            start_ms=start_ms,
            end_ms=start_ms + 1,
            text=reply.text,
            final=True,
            confidence=1.0,
            heard_ms=start_ms + 1,
            times={"captured": published, "published": published},
        )
        for start_ms, reply in enumerate(turn.replies, turn.at_ms)
    ]


def alert_of(turn: Turn) -> Alert:
    """That a person is wanted."""
    return Alert(
        call=turn.call,
        alert=f"{turn.call}/{HANDOVER_RULE}/{turn.at_ms}",
        rule=HANDOVER_RULE,
        severity="warning",
        text=turn.handover.get("summary") or "A person is asked for.",
        at_ms=turn.at_ms,
        at=turn.at,
        escalation=True,
    )


def _handover(wanted: HandOver | None) -> dict[str, str]:
    return {} if wanted is None else {"queue": wanted.queue, "reason": wanted.reason, "summary": wanted.summary}


def shown(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as people read them: a place is its name, a time its words and days, a count a number, with its unit
    beside it."""
    units = (value["unit"] for value in arguments.values() if isinstance(value, Mapping) and value.get("unit"))
    unit = next(units, None)
    return {name: _shown(value) for name, value in arguments.items()} | ({"unit": unit} if unit else {})


def _shown(value: Any) -> Any:
    if isinstance(value, Mapping):
        if "latitude" in value and "name" in value:
            return value["name"]
        if "from" in value and "to" in value:
            return {name: value[name] for name in ("text", "from", "to") if name in value}
        if "unit" in value and "amount" in value:
            return value["amount"]
    return value
