"""The slots of a line as NeMo's files have them: one BIO tag for each word, words being split at blanks."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from dialog.understanding.types import Reading, Span, Understander
from tenor.bounded_dict import BoundedDict
from tenor.taxonomy.assistant import OUTSIDE

_WORD: Final = re.compile(r"\S+")
KEPT: Final = 256


def bio_tags(text: str, spans: Sequence[Span]) -> tuple[str, ...]:
    """A word that only partly belongs to a span has its tag, too: punctuation stays on its word."""
    words = [word.span() for word in _WORD.finditer(text)]
    ends = [end for _, end in words]
    owners: list[Span | None] = [None] * len(words)
    for span in reversed(spans):  # of two on one word the first counts
        at = bisect_right(ends, span.start)
        while at < len(words) and words[at][0] < span.end:
            owners[at] = span
            at += 1
    tags: list[str] = []
    begun: set[Span] = set()
    for owner in owners:
        tags.append(OUTSIDE if owner is None else f"{'I' if owner in begun else 'B'}-{owner.slot}")
        if owner is not None:
            begun.add(owner)
    return tuple(tags)


class CachedUnderstander:
    """Remembers the last lines, so that a line is not read again for its tags."""

    def __init__(self, understander: Understander) -> None:
        self.understander = understander
        self._known: BoundedDict[str, Reading] = BoundedDict(KEPT)

    def read(self, text: str) -> Reading:
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self.understander.read(text)
        return known
