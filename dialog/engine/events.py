"""What happens to a conversation, and what the engine wants done about it.

Nothing here does anything: a driver (the terminal, the stage on the bus, a test) carries the effects out and reports
what came of them as further events.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec


class Heard(msgspec.Struct, frozen=True, tag="heard"):
    """The shopper said or typed something."""

    text: str
    confidence: float = 1.0
    utterance: str = ""


class Key(msgspec.Struct, frozen=True, tag="key"):
    """A key of the telephone."""

    digit: str


class Silence(msgspec.Struct, frozen=True, tag="silence"):
    """Nothing was said for as long as the last `Wait` allowed."""


class Done(msgspec.Struct, frozen=True, tag="done"):
    """An action answered."""

    id: str
    result: dict[str, Any]


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """An action could not answer; the reason is for logs."""

    id: str
    reason: str = ""
    uncertain: bool = False


class Spoken(msgspec.Struct, frozen=True, tag="spoken"):
    """How much of the last replies was heard before the shopper spoke over them."""

    text: str


class TakenOver(msgspec.Struct, frozen=True, tag="taken_over"):
    """A person has taken the conversation."""

    agent: str = ""


class GivenBack(msgspec.Struct, frozen=True, tag="given_back"):
    """The person has given it back."""

    agent: str = ""


class NobodyCame(msgspec.Struct, frozen=True, tag="nobody_came"):
    """A person was called for, and none took the conversation in time."""


class Escalated(msgspec.Struct, frozen=True, tag="escalated"):
    """A rule that watches the conversation wants a person to step in."""

    alert: str
    rule: str


Event = Heard | Key | Silence | Done | Failed | Spoken | TakenOver | GivenBack | NobodyCame | Escalated


class Say(msgspec.Struct, frozen=True, tag="say"):
    text: str
    interruptible: bool = True
    card: dict[str, Any] | None = None
    """For a screen: the name of an action and its result."""


class Call(msgspec.Struct, frozen=True, tag="call"):
    """Run an action, and answer with `Done` or `Failed` under the same id."""

    id: str
    action: str
    arguments: dict[str, Any]
    key: str
    """The same for the same wish of the same turn: an action that changes something does it once per key."""
    deadline_ms: int
    filler: str = ""
    """Said once, when the action takes longer than `filler_ms`."""
    filler_ms: int = 0
    retries: int = 0


class Wait(msgspec.Struct, frozen=True, tag="wait"):
    """If nothing happens until then, report `Silence`."""

    until: datetime


class HandOver(msgspec.Struct, frozen=True, tag="hand_over"):
    queue: str
    reason: str
    summary: str


class End(msgspec.Struct, frozen=True, tag="end"):
    """The conversation is over."""

    reason: str = ""


Effect = Say | Call | Wait | HandOver | End


class TraceEntry(msgspec.Struct, frozen=True):
    """One thing the engine did, for the inspector: which rule, and what it went by."""

    rule: str
    detail: str = ""
