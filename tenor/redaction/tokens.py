"""Text as tokens that remember where they stood."""

from __future__ import annotations

import re
from typing import NamedTuple

_CHUNK = re.compile(r"\S+")
_EDGE = ".,!?;:\"'()[]"
_HYPHENATED = re.compile(r"[A-Za-z']+(?:-[A-Za-z']+)+[.,!?;:\"']*")
_PART = re.compile(r"[^-]+")


class Token(NamedTuple):
    core: str
    """Lower case, without the punctuation around it."""
    start: int
    end: int
    """Of the core, in characters of the text."""
    chunk: int
    """Which of the text's words it belongs to; hyphens part tokens, not words."""


def tokenise(text: str) -> list[Token]:
    tokens = []
    for number, chunk in enumerate(_CHUNK.finditer(text)):
        parts = _PART.finditer(chunk[0]) if _HYPHENATED.fullmatch(chunk[0]) else (None,)
        for part in parts:
            raw = chunk[0] if part is None else part[0]
            start = chunk.start() + (0 if part is None else part.start())
            core = raw.strip(_EDGE) if "@" not in raw else raw.strip(_EDGE + "<>")
            start += raw.find(core) if core else 0
            tokens.append(Token(core.lower(), start, start + len(core), number))
    return tokens
