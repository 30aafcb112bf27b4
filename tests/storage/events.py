"""Events for tests, with everything that does not matter filled in."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from tenor.events import Alert, Call, CallMetrics, CallState, Event, Sentence, Turn, TurnAction, TurnReply

STARTED = 1_700_000_000.0


def info(**fields: Any) -> Call:
    usual = {"source": "file", "roles": ("caller", "agent"), "started_at": STARTED, "agent": "amir", "customer": "c-17"}
    return Call(**{**usual, **fields})


def state(call: str, name: Any, at: float = STARTED, **fields: Any) -> CallState:
    if name == "live":
        fields.setdefault("info", info())
    return CallState(call=call, state=name, at=at, **fields)


def sentence(call: str, start_ms: int, role: str = "caller", mood: float = 0.0, **fields: Any) -> Sentence:
    channel = 0 if role == "caller" else 1
    spoken = STARTED + (start_ms + 900) / 1000
    usual = {
        "call": call,
        "channel": channel,
        "role": role,
        "sentence": f"{call}/{channel}/{start_ms}",
        "revision": 0,
        "start_ms": start_ms,
        "end_ms": start_ms + 900,
        "text": f"words at {start_ms}",
        "sentiment": "neutral",
        "sentiment_scores": {"neutral": 0.9, "negative": 0.1},
        "mood": mood,
        "intent": "unknown",
        "intent_score": 0.4,
        "times": {"captured": spoken, "published": spoken + 0.5, "sentence_published": spoken + 0.625},
    }
    return Sentence(**{**usual, **fields})


def metrics(call: str, at_ms: int, **fields: Any) -> CallMetrics:
    values = {"talk_share.agent": 0.25, "talk_share.caller": 0.75, "silence_share": 0.125}
    return CallMetrics(**{"call": call, "at_ms": at_ms, "values": values, **fields})


def alert(call: str, at_ms: int, **fields: Any) -> Alert:
    usual = {"call": call, "alert": f"{call}/angry/{at_ms}", "rule": "angry", "severity": "warning", "text": "!"}
    return Alert(**{**usual, "at_ms": at_ms, "at": STARTED + at_ms / 1000, **fields})


def turn(call: str, number: int, said: str = "", **fields: Any) -> Turn:
    """A turn of a conversation with the assistant: a line and an answer."""
    usual = {
        "call": call,
        "turn": number,
        "input": said,
        "event": "heard" if said else "start",
        "cause": (f"{call}/0/{number * 1000}",) if said else (),
        "states": ("main_flow.input_intent",),
        "state": "main_flow.input_intent",
        "slots": {},
        "action": "",
        "reply": "All right.",
        "replies": (TurnReply(text="All right."),),
        "at": STARTED + number,
        "at_ms": number * 1000,
        "assistant": "retail",
        "flow": "abc",
        "session": {"call": call, "turn": number},
        "times": {"published": STARTED + number, "turn_published": STARTED + number + 0.25},
    }
    return Turn(**{**usual, **fields})


def looked_up(name: str, arguments: dict[str, Any], result: dict[str, Any] | None, **fields: Any) -> TurnAction:
    return TurnAction(name=name, arguments=arguments, result=result, **fields)


def whole_call(call: str, count: int, seed: int = 0) -> Iterator[Event]:
    """A call as the language stage tells it: revisions, figures and alerts among its sentences."""
    chance = random.Random(f"{call}{seed}")
    yield state(call, "live", info=info(agent=chance.choice(["amir", "bea"]), customer=f"c-{chance.randrange(9)}"))
    for number in range(count):
        role = chance.choice(["caller", "agent"])
        said = sentence(call, number * 1500, role, round(chance.uniform(-1, 1), 3))
        yield said
        if chance.random() < 0.2:
            yield sentence(call, number * 1500, role, said.mood, revision=1, text=f"{said.text} and more")
        if chance.random() < 0.1:
            yield alert(call, number * 1500, sentence=said.sentence, escalation=chance.random() < 0.5)
        if number % 5 == 4:
            yield metrics(call, number * 1500 + 900, task="return_refund", task_score=0.5)
    yield state(call, "ended", STARTED + count * 1.5, reason="hangup")
    yield metrics(call, count * 1500, task="return_refund", task_score=0.75, final=True)
    yield state(call, "analysed", STARTED + count * 1.5 + 1)
