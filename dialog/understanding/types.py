"""What was understood of a line, and the contract of what understands."""

from __future__ import annotations

from typing import Protocol

import msgspec


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


class Understander(Protocol):
    def read(self, text: str) -> Reading:
        """A few milliseconds. Never raises on any text."""
        ...
