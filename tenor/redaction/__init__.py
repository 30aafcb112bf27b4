"""Taking out what must not be kept, before anything is published.

A redactor is a pure function of the text and of the text published just before it. It has no memory of
its own, so a worker that takes over a call redacts exactly as its predecessor would have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from tenor.events import Word


class Span(NamedTuple):
    """What was taken out: characters `start` to `end` of the original text."""

    start: int
    end: int
    kind: str


class Redacted(NamedTuple):
    text: str
    words: tuple[Word, ...]
    spans: tuple[Span, ...]


class Redactor(Protocol):
    def redact(self, text: str, words: Sequence[Word], *, before: str = "", final: bool = True) -> Redacted:
        """`text` and `words` with everything secret replaced by its kind in brackets; times stay.

        `before` is what the same speaker said just before, as it was published: a number may go on from
        there. An interim (`final` false) may end in the middle of a number, so its end is masked sooner."""
        ...
