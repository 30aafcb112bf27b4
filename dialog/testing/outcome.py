"""What happened in a conversation test, and what of it was not as expected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from dialog.flow.model import Where

Speaker = Literal["you", "assistant", "action", "time"]


@dataclass(frozen=True, slots=True)
class TranscriptLine:
    ms: int
    """Since the beginning."""
    speaker: Speaker
    text: str


@dataclass(frozen=True, slots=True)
class ReplyRecord:
    ms: int
    text: str


@dataclass(slots=True)
class CallRecord:
    ms: int
    action: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FailureRecord:
    ms: int
    action: str


@dataclass(slots=True)
class Window:
    """What an expectation looks at: what happened since the shopper last did something."""

    began_ms: int = 0
    replies: list[ReplyRecord] = field(default_factory=list)
    calls: list[CallRecord] = field(default_factory=list)
    failures: list[FailureRecord] = field(default_factory=list)
    handed_over: bool = False


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One thing that was expected, and what came instead."""

    where: Where
    expected: str
    got: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationOutcome:
    name: str
    where: Where
    mismatches: tuple[Mismatch, ...]
    transcript: tuple[TranscriptLine, ...]
    took_s: float

    @property
    def passed(self) -> bool:
        return not self.mismatches
