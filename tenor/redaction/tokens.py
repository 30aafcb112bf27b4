"""Text as tokens that remember where they stood."""

from __future__ import annotations

import re
from typing import NamedTuple

_CHUNK = re.compile(r"\S+")
_EDGE = ".,!?;:\"'()[]<>{}|~#*\u201c\u201d\u2018\u2019\u00ab\u00bb\u2026"
_HYPHENATED = re.compile(r"[A-Za-z']+(?:-[A-Za-z']+)+[.,!?;:\"']*")
_PART = re.compile(r"[^-]+")
_LABELLED = re.compile(r"[A-Za-z.]+[:=#](?!//)|.+")
"""`card:4111` and `password=hunter2` are two tokens, as if there were a space."""


class Token(NamedTuple):
    core: str
    """Lower case, without the punctuation around it, with a straight apostrophe."""
    start: int
    end: int
    """Of the core, in characters of the text."""
    chunk: int
    """Which of the text's words it belongs to; hyphens and colons part tokens, not words."""


def tokenise(text: str) -> list[Token]:
    tokens = []
    for number, chunk in enumerate(_CHUNK.finditer(text)):
        for part in (_PART if _HYPHENATED.fullmatch(chunk[0]) else _LABELLED).finditer(chunk[0]):
            raw, start = part[0], chunk.start() + part.start()
            core = raw.strip(_EDGE)
            start += raw.find(core) if core else 0
            tokens.append(Token(core.lower().replace("\u2019", "'"), start, start + len(core), number))
    return tokens
