"""Phrases as they are spoken: matched word by word, whatever the case, the punctuation and the apostrophes.

cancel my account      these words, one after the other
cancel * account       up to five words in between, or none
cancel*                a word that begins so: cancel, cancelled, cancellation
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from dataclasses import dataclass

GAP = 5
"""Words that a `*` between words may stand for."""
MOST_WORDS = 30
"""Of a phrase."""
LONGEST = 20_000
"""Characters of a sentence that are looked at; nobody says more in one breath."""
_APOSTROPHES = re.compile("['\u2018\u2019\u02bc`\u00b4]")
_WORD = re.compile(r"[^\W_]+\*?|\*")


def words(text: str) -> list[str]:
    """The words of a text without case, punctuation and apostrophes: `Don't!` is `dont`."""
    return [word.rstrip("*") for word in _pieces(text[:LONGEST]) if word != "*"]


def _pieces(text: str) -> list[str]:
    flat = _APOSTROPHES.sub("", unicodedata.normalize("NFKC", text)).casefold()
    return _WORD.findall(flat)


@dataclass(frozen=True, slots=True)
class Phrase:
    text: str
    """As it was written."""
    pieces: tuple[str, ...]

    def found_in(self, said: list[str]) -> bool:
        """Whether these words hold the phrase. One pass: every place a match may have come to moves on with each
        word, so the time is the product of the lengths, whatever the words."""
        last = len(self.pieces)
        places: set[tuple[int, int]] = set()
        for word in said:
            moved: set[tuple[int, int]] = set()
            for place, skipped in (*places, (0, 0)):
                if self.pieces[place] == "*":  # never the last piece, never two in a row
                    if skipped < GAP:
                        moved.add((place, skipped + 1))
                    place += 1
                if _fits(self.pieces[place], word):
                    if place + 1 == last:
                        return True
                    moved.add((place + 1, 0))
            places = moved
        return False


def phrase(text: str) -> Phrase | str:
    """The phrase, or what is wrong with it."""
    pieces = _pieces(text)
    if not any(piece != "*" for piece in pieces):
        return "has no words in it"
    if pieces[0] == "*" or pieces[-1] == "*":
        return "needs no * at its beginning or end: it is found anywhere in a sentence"
    if any(pair == ("*", "*") for pair in itertools.pairwise(pieces)):
        return "has two * side by side"
    if len(pieces) > MOST_WORDS:
        return f"is longer than {MOST_WORDS} words"
    return Phrase(text, tuple(pieces))


def _fits(piece: str, word: str) -> bool:
    return word.startswith(piece[:-1]) if piece.endswith("*") else word == piece
