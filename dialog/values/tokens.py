"""Words of a line with their positions, folded so that spellings which sound the same are the same."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

# Whoever sends more than this answers no question; only the beginning is read, so that no line costs much time.
LONGEST = 2_000

# "L.A." and "d.c." are one word; an apostrophe or a point between digits belongs to the word; signs that mean
# something stand alone.
WORD = re.compile(
    r"[^\W\d_](?:\.[^\W\d_])+\.?|\d+(?:[.,:/-]\d+)*|[^\W\d_]+(?:['\u2019\u02bc`][^\W\d_]+)*|[$%#°\"″&]", re.UNICODE
)


def word_list(text: str) -> list[str]:
    return text.split()


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


APOSTROPHES = {ord(mark): None for mark in "'\u2019\u02bc`"}


class Token(NamedTuple):
    key: str
    """Lower case, ASCII where possible, without apostrophes and points."""
    text: str
    start: int
    end: int


def fold(text: str) -> str:
    plain = text.lower()
    if not plain.isascii():
        plain = "".join(mark for mark in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(mark))
    return plain.translate(APOSTROPHES)


def tokenise(line: str) -> list[Token]:
    return list(_tokenised(line[:LONGEST]))


@lru_cache(32)
def _tokenised(line: str) -> tuple[Token, ...]:
    """Kept for a moment: every parser reads the same line."""
    tokens = []
    for match in WORD.finditer(line):
        text = match.group()
        key = fold(text)
        if not key[0].isdigit():
            key = key.replace(".", "")
        tokens.append(Token(key, text, match.start(), match.end()))
    return tuple(tokens)
