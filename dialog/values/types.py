"""A value that was found in a line, and the contract of what finds it."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, Protocol

import msgspec

KNOWN: Final = 0.8
"""A product or store that scores higher is one of the catalogue; others are any words."""


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """One reading of a few words of a line."""

    type: str
    """The slot type: `place`, `when`, `number`, `quantity`, `price`, `size`, `color`, `sort`, `choice`, `yes_no`,
    `text`."""
    text: str
    """The words as they were said."""
    start: int
    """Position of the first character in the line."""
    end: int
    """Position after the last character."""
    value: Any
    """What it means, as plain JSON: see the parser of the type."""
    score: float = 1.0
    """How sure the reading is; a misspelt name scores lower."""
    alternatives: tuple[Any, ...] = ()
    """Other meanings of the same words (`Portland`), the likeliest first; empty when there is only one."""


class ParseContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a parser may need beside the words."""

    now: datetime
    """The shopper's clock, with its time zone."""
    choices: tuple[str, ...] = ()
    """What may be chosen from, for type `choice`."""
    location: Any = None
    """The place that is known already, for nearness."""


class Parser(Protocol):
    """Reads values of one type. Neither method raises on any text, and both take under a millisecond or two."""

    def find(self, line: str, context: ParseContext) -> list[Value]:
        """Every value in the line, in order, without overlaps. Precise: ordinary words are no values."""
        ...

    def answer(self, line: str, context: ParseContext) -> Value | None:
        """The value if the whole line answers a question for one: hesitations, prepositions and politeness fall
        off ("uh, in tucson please"); more lenient than `find`, since the question says what is meant."""
        ...
