"""The slots of a line as NeMo's files have them: one BIO tag for each word, words being split at blanks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from dialog.understanding.types import Reading, Span, Understander
from tenor.bounded_dict import BoundedDict
from tenor.taxonomy.assistant import OUTSIDE

_WORD: Final = re.compile(r"\S+")
KEPT: Final = 256


def bio_tags(text: str, spans: Sequence[Span]) -> tuple[str, ...]:
    """A word that only partly belongs to a span has its tag, too: punctuation stays on its word."""
    tags: list[str] = []
    begun: set[Span] = set()
    for word in _WORD.finditer(text):
        span = next((one for one in spans if one.start < word.end() and word.start() < one.end), None)
        if span is None:
            tags.append(OUTSIDE)
        else:
            tags.append(f"{'I' if span in begun else 'B'}-{span.slot}")
            begun.add(span)
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
