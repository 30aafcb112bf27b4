"""A conversation test: what the shopper does, step by step, and what is expected in between."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from dialog.flow.model import Where

Channel = Literal["voice", "text"]
"""In voice, silence is noticed; in text, a shopper may take his time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """How an action behaves for a test; where nothing is said, as its provider does."""

    takes_ms: int = 0
    fails: int = 0
    """How many attempts fail before one succeeds."""
    uncertain: bool = False
    """Whether a failure may have happened all the same."""
    result: Mapping[str, Any] | None = None
    """Answered in place of the provider's."""


@dataclass(frozen=True, slots=True)
class Say:
    text: str


@dataclass(frozen=True, slots=True)
class BargeIn:
    """The shopper speaks over the last reply."""

    text: str
    after_words: int


@dataclass(frozen=True, slots=True)
class PressKey:
    digit: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Time passes."""

    ms: int


@dataclass(frozen=True, slots=True)
class StaySilent:
    """Nothing is said until the assistant has noticed it that many times."""

    times: int


@dataclass(frozen=True, slots=True)
class Person:
    """A person takes the conversation, or gives it back."""

    takes_over: bool


Deed = Say | BargeIn | PressKey | Wait | StaySilent | Person


@dataclass(frozen=True, slots=True)
class Words:
    """A text that must be said as it is, or a pattern that must be found."""

    written: str
    pattern: re.Pattern[str] | None = None

    def found_in(self, text: str) -> bool:
        if self.pattern is not None:
            return self.pattern.search(text) is not None
        return " ".join(self.written.split()) == " ".join(text.split())


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    action: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """By slot: Words, a mapping of such, or None for one that must not be there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What must be so. None: nothing is said about it."""

    where: Where
    written: Mapping[str, str]
    """The keys as the author wrote them, for reports."""
    reply: tuple[Words, ...] | None = None
    """Each must be found; an empty tuple: nothing is said."""
    reply_not: tuple[Words, ...] = ()
    asks: str | None = None
    """A slot, `confirm`, `person`, `resume`, `intent`, or `none`."""
    calls: tuple[ExpectedCall, ...] | None = None
    """These and no others, in this order."""
    slots: Mapping[str, Any] = field(default_factory=dict)
    intent: str | None = None
    state: str | None = None
    ended: bool | None = None
    fails: str | None = None
    handover: bool | None = None
    at_ms: int | None = None
    """What this expectation says of replies, calls and failures happened so long after the shopper's last deed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    where: Where
    deed: Deed | None = None
    behaviours: Mapping[str, Behaviour] | None = None
    """By action; beside a deed for what is called in answer to it, alone from here on."""
    expectations: tuple[Expectation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    name: str
    where: Where
    steps: tuple[Step, ...]
    at: datetime
    """The clock when it begins."""
    channel: Channel = "voice"
