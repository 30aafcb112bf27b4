"""A message cut into what goes onto the bus at once: its paragraphs, and of a very long one some ten sentences each."""

from __future__ import annotations

from collections.abc import Iterator

LONGEST = 2000
"""Characters of a piece. The language stage cuts it into sentences that its model reads to their end."""
WRAPPED = 60
"""A line at least this long that ends in no full stop goes on in the next: somebody's mail program broke it."""
_STOPS = ".!?\u2026"
_ENDS = (". ", "! ", "? ", ", ", " ")
"""Where to cut, best first."""


def pieces(text: str) -> Iterator[str]:
    for paragraph in _paragraphs(text):
        start = 0
        while start < len(paragraph):
            end = _cut(paragraph, start)
            if piece := paragraph[start:end].strip():
                yield piece
            start = end


def _paragraphs(text: str) -> Iterator[str]:
    """Lines that belong together, joined."""
    held: list[str] = []
    for line in text.split("\n"):
        line = " ".join(line.split())
        if line:
            held.append(line)
        if held and (not line or (len(line) < WRAPPED and line[-1] not in _STOPS)):
            yield " ".join(held)
            held = []
    if held:
        yield " ".join(held)


def _cut(text: str, start: int) -> int:
    end = start + LONGEST
    if end >= len(text):
        return len(text)
    for mark in _ENDS:
        found = text.rfind(mark, start + LONGEST // 2, end)
        # A number that goes on after the cut would be looked at by halves.
        while found > 0 and text[found - 1 : found].isdigit() and text[found + 1 : found + 2].isdigit():
            found = text.rfind(mark, start + LONGEST // 2, found)
        if found > 0:
            return found + len(mark)
    return end
