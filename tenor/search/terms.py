"""The words of a search: `refund "last week" cancel* -thanks`.

    word       has this word
    "a b"      has these words one after the other
    canc*      has a word that begins so
    -word      has it not; also -"a b" and -canc*

Everything else is a separator, so nothing that is typed can be wrong. Words are compared without regard to case and
accents, the same way in Python, SQLite and PostgreSQL (`storage/search/index.py` has the other two).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

MAX_TERMS = 32
"""More are left out: nobody types them, and each costs the database."""

_TERM = re.compile(r'(-?)(?:"([^"]*)"?|([^\s"]+))')
_WORD = re.compile(r"[^\W_][^\W_\u0300-\u036f]*(?:[\u0300-\u036f]+[^\W_]*)*")


class Term(NamedTuple):
    """Words that follow each other."""

    words: tuple[str, ...]
    """At least one, folded."""
    prefix: bool = False
    """Whether the last one may go on."""


class Terms(NamedTuple):
    wanted: tuple[Term, ...] = ()
    unwanted: tuple[Term, ...] = ()


class Mark(NamedTuple):
    """A found stretch of a text, by character positions."""

    start: int
    end: int


def read(typed: str) -> Terms:
    wanted: list[Term] = []
    unwanted: list[Term] = []
    for minus, phrase, word in _TERM.findall(typed):
        said = phrase or word
        words = tuple(fold(found) for found in _WORD.findall(said))
        if words and len(wanted) + len(unwanted) < MAX_TERMS:
            term = Term(words, prefix=said.endswith("*"))
            (unwanted if minus else wanted).append(term)
    return Terms(tuple(wanted), tuple(unwanted))


def found_in(text: str, said: Terms) -> bool:
    """Whether the text has all that is wanted, and nothing that is not."""
    if not said.wanted and not said.unwanted:
        return True
    words = [fold(found) for found in _WORD.findall(text)]
    return all(_has(words, term) for term in said.wanted) and not any(_has(words, term) for term in said.unwanted)


def _has(words: list[str], term: Term) -> bool:
    size = len(term.words)
    return any(_fits(term, words[first : first + size]) for first in range(len(words) - size + 1))


def fold(word: str) -> str:
    """Without case and accents."""
    bare = "".join(letter for letter in unicodedata.normalize("NFD", word) if not "\u0300" <= letter <= "\u036f")
    return unicodedata.normalize("NFC", bare).lower()


def marks(text: str, terms: Iterable[Term]) -> list[Mark]:
    """Where the terms are in the text, in order and without overlaps."""
    spans = [(match.start(), match.end(), fold(match.group())) for match in _WORD.finditer(text)]
    words = [word for _, _, word in spans]
    found: set[Mark] = set()
    for term in terms:
        size = len(term.words)
        for first in range(len(words) - size + 1):
            if _fits(term, words[first : first + size]):
                found.add(Mark(spans[first][0], spans[first + size - 1][1]))
    merged: list[Mark] = []
    for mark in sorted(found):
        if merged and mark.start <= merged[-1].end:
            merged[-1] = Mark(merged[-1].start, max(merged[-1].end, mark.end))
        else:
            merged.append(mark)
    return merged


def _fits(term: Term, words: list[str]) -> bool:
    *first, last = term.words
    return words[:-1] == first and (words[-1].startswith(last) if term.prefix else words[-1] == last)
