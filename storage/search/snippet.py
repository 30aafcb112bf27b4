"""A stretch of a text round what was found in it, with the places of the words as numbers, never as markup."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from tenor.search.terms import Mark, Term, marks

LONGEST = 400
"""Characters of a snippet; hardly a spoken sentence is longer."""
BEFORE = 80
"""Characters kept before the first word found, when a text is cut."""
LOOK = 100_000
"""Characters that are looked at, as many as are indexed."""


class Snippet(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    marks: list[Mark]
    """What was found in `text`, by character positions: `text[start:end]`."""
    cut_before: bool = False
    """Whether the sentence begins earlier."""
    cut_after: bool = False
    """Whether it goes on."""


def cut(text: str, terms: Iterable[Term]) -> Snippet:
    found = marks(text[:LOOK], terms)
    if len(text) <= LONGEST:
        return Snippet(text=text, marks=found)
    start = max(0, found[0].start - BEFORE) if found else 0
    if start:  # at a word's beginning
        start = text.find(" ", start, start + BEFORE) + 1 or start
    end = min(len(text), start + LONGEST)
    return Snippet(
        text=text[start:end],
        marks=[Mark(mark.start - start, mark.end - start) for mark in found if mark.start >= start and mark.end <= end],
        cut_before=start > 0,
        cut_after=end < len(text),
    )
