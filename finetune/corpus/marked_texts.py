"""Texts that people wrote with marks and capitals, as words without them and what was taken away.

Yes. Is it Paula's?   ->   yes     . capital
                           is        capital
                           it        small
                           paula's ? capital
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import msgspec

from finetune.corpus.call_sentences import CallSentence
from finetune.corpus.datasets import lines
from nlp.inference.punctuation import CAPITAL, CAPITALS, SMALL

_WRITTEN = re.compile(r"[A-Z0-9\"'$\u00a3\u20ac].*[.?!]$")
_PARTS = re.compile(r"^(?P<before>[\"'(\[\u201c\u2018]*)(?P<word>.*?)(?P<after>[.,;:?!\u2026\"')\]\u201d\u2019]*)$")
_DASHES = {"-", "\u2013", "\u2014"}
_ABBREVIATION = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]$")
_MARK_OF = {",": ",", ";": ",", ".": ".", "!": ".", "?": "?"}
_EVERY = 5
_JOINED = (1, 1, 2, 3, 4)
"""How many sentences make one text."""


@dataclass(frozen=True, slots=True)
class MarkedText:
    words: tuple[str, ...]
    """Without marks, in small letters."""
    marks: tuple[str, ...]
    cases: tuple[str, ...]


def written_sentences(rows: Iterable[CallSentence]) -> list[str]:
    """Those with a capital and a mark, also among what was said before."""
    texts = (text.strip() for row in rows for text in (row.text, row.said_before or ""))
    return [text for text in dict.fromkeys(texts) if _WRITTEN.match(text)]


def public_sentences(data: Path) -> list[str]:
    """Of BANKING77 (CC BY 4.0), which has many questions: as many of its sentences as would drown ours are left out."""
    rows = (msgspec.json.decode(line) for line in lines(data / "nlu" / "banking77" / "train.jsonl.gz"))
    return [text for row in rows if _WRITTEN.match(text := str(row["text"]).strip())][::_EVERY]


def joined(sentences: Sequence[str], random: Random, *, times: int = 1) -> list[str]:
    """Texts of some sentences each, as people say them one after the other."""
    texts = []
    for _ in range(times):
        order = list(sentences)
        random.shuffle(order)
        while order:
            count = random.choice(_JOINED)
            texts.append(" ".join(order[:count]))
            del order[:count]
    return texts


def without_marks(text: str) -> MarkedText:
    words: list[str] = []
    marks: list[str] = []
    cases: list[str] = []
    for part in text.split():
        found = _PARTS.match(part)
        word, after = (found["word"], found["after"]) if found else (part, "")
        if _ABBREVIATION.search(word) and after.startswith("."):
            word, after = f"{word}.", after[1:]
        if not word or word in _DASHES:
            continue
        words.append(word.lower())
        marks.append(next((_MARK_OF[mark] for mark in after if mark in _MARK_OF), ""))
        cases.append(_case(word))
    return MarkedText(tuple(words), tuple(marks), tuple(cases))


def _case(word: str) -> str:
    letters = [letter for letter in word if letter.isalpha()]
    if len(letters) > 1 and all(letter.isupper() for letter in letters):
        return CAPITALS
    return CAPITAL if letters and letters[0].isupper() else SMALL
