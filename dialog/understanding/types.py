"""What was understood of a line, and the contract of what understands."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple, Protocol

import msgspec

from dialog.flow.model import Assistant
from tenor.events import Call


class Intent(msgspec.Struct, frozen=True):
    name: str
    """As flows route it: `price_check`, `store_location`, `nomatch.none`, `universal.help`."""
    score: float


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """Words of the line that fill a slot of NeMo's dictionary (`item.type`, `location`, `cost.low`)."""

    slot: str
    text: str
    start: int
    """Position of the first character in the line."""
    end: int
    score: float = 1.0


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    intents: tuple[Intent, ...]
    """The likeliest first; never empty (`nomatch.none` when nothing fits)."""
    spans: tuple[Span, ...] = ()
    sentiment: str = ""
    """`negative`, `neutral`, `positive`, or empty when nobody asked."""
    topic: str = ""
    """The guarded topic that the line seems to be of; empty for none, and when nobody looked."""


class Understander(Protocol):
    def read(self, text: str) -> Reading:
        """A few milliseconds. Never raises on any text."""
        ...


class VersionedUnderstander(NamedTuple):
    understander: Understander
    model: str
    """As a Turn names it; empty for rules alone."""


class UnderstanderVersions(Protocol):
    """What understands, by when a conversation began: it keeps the model with which it began."""

    def of(self, call: str, info: Call, published: float, assistant: Assistant | None = None) -> VersionedUnderstander:
        """For a line of a call, with the intents of the flows' own; loading a model takes a moment."""
        ...

    def release(self, calls: Collection[str]) -> None:
        """Only these conversations are open."""
        ...


class OneUnderstander:
    """The same for all conversations."""

    def __init__(self, understander: Understander) -> None:
        self._one = VersionedUnderstander(understander, "")

    def of(self, call: str, info: Call, published: float, assistant: Assistant | None = None) -> VersionedUnderstander:
        return self._one

    def release(self, calls: Collection[str]) -> None:
        """It stays."""
