"""A text cut into sentences, without losing a character that is not white space.

pysbd knows abbreviations, times, amounts and ellipses; it is asked only where a sentence may end inside the text,
and never about a text so long that asking would take seconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import pysbd

LONGEST = 400
"""Characters of a sentence, so that the model's 128 tokens cover all of it; what runs on longer is cut into like parts
between two words, a longer word in itself."""
MOST = 500
"""Sentences of a text; of one with more, neighbours are joined. Nobody writes or says so much at once: longer messages
come in pieces."""
SLOW = 20_000
"""Characters beyond which a plain rule decides in place of pysbd."""

CharSpan = tuple[int, int]
"""Characters start..end of the text, end not included."""

_MAY_END = re.compile(r"[.?!…\u061F\u06D4\u3002\uFF01\uFF1F][^\s\w]*\s|\n")
_SEGMENTER = pysbd.Segmenter(language="en", clean=False)


def spans(text: str) -> list[CharSpan]:
    """Where the sentences are, in order; none begins or ends with white space."""
    whole = _trimmed(text, 0, len(text))
    if whole is None:
        return []
    begin, end = whole
    cuts = [begin, *_ends(text, begin, end), end]
    found = [span for cut in pairwise(cuts) if (span := _trimmed(text, *cut))]
    longest = max(LONGEST, 2 * (end - begin) // MOST)
    return _at_most([piece for span in found for piece in _short(text, span, longest)])


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in spans(text)]


def _ends(text: str, begin: int, end: int) -> list[int]:
    """Places inside begin..end where a sentence is over."""
    plain = [found.end() for found in _MAY_END.finditer(text, begin, end)]
    if not plain or end - begin > SLOW:
        return plain
    places, at = [], begin
    for part in _SEGMENTER.processor(text[begin:end]).process():  # `segment` would also search for each, slowly
        words = part.strip()
        start = text.find(words, at, end)
        if start < 0 or text[at:start].strip():
            return plain  # it has changed what it was given
        at = start + len(words)
        places.append(at)
    return plain if text[at:end].strip() else [place for place in places if place < end]


def _short(text: str, span: CharSpan, longest: int) -> Iterator[CharSpan]:
    start, end = span
    while (length := end - start) > longest:
        size = -(-length // -(-length // longest))
        space = max(text.rfind(" ", start, start + size + 1), text.rfind("\n", start, start + size + 1))
        cut = space if space > start else start + size
        if piece := _trimmed(text, start, cut):
            yield piece
        rest = _trimmed(text, cut, end)
        if rest is None:
            return
        start, end = rest
    yield start, end


def _at_most(found: list[CharSpan]) -> list[CharSpan]:
    each = -(-len(found) // MOST) or 1
    return [(found[at][0], found[min(at + each, len(found)) - 1][1]) for at in range(0, len(found), each)]


def _trimmed(text: str, start: int, end: int) -> CharSpan | None:
    """Without white space at both ends; None when nothing is left."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None
