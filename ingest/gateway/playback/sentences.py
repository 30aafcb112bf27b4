"""Sentences of a reply: the pieces that are synthesised, played and said again."""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 300
"""Characters: some servers refuse more than 400 at once, and the first sound of a shorter text comes sooner."""
_END = re.compile(r"""(?:(?<=[.!?])|(?<=[.!?]["')\]]))\s+(?=["'(\[]*[A-Z0-9$])""")
_ABBREVIATION = re.compile(r"(?:^|\s)(?:St|Mt|Ft|Dr|Mr|Mrs|Ms|Jr|Sr|Ave|Blvd|vs|approx|[A-Za-z])\.$")


def split_sentences(text: str) -> list[str]:
    """In their order, none of them empty, none longer than `LONGEST`."""
    sentences: list[str] = []
    for part in _END.split(" ".join(text.split())):
        if sentences and _ABBREVIATION.search(sentences[-1]):
            sentences[-1] += f" {part}"
        elif part:
            sentences.append(part)
    return [piece for sentence in sentences for piece in _pieces(sentence)]


def _pieces(sentence: str) -> list[str]:
    pieces = []
    while len(sentence) > LONGEST:
        at = max(sentence.rfind(mark, 0, LONGEST) + len(mark) for mark in (", ", "; ", ": "))
        if at < LONGEST // 3:
            at = sentence.rfind(" ", 0, LONGEST) + 1 or LONGEST
        pieces.append(sentence[:at].strip())
        sentence = sentence[at:].strip()
    return [*pieces, sentence] if sentence else pieces
