"""The text to learn: the words that people wrote, with the capitals and marks that the model writes already.

    people    thank you for calling harper valley my name is sue
    model     Thank you for calling. Hopper Valley, my name is Sue.
    learned   Thank you for calling. Harper Valley, my name is Sue.

Bare transcripts would teach the model to stop writing capitals and marks. Where its words match, its spelling stays;
where they do not, people's word takes the spelling that it has most often elsewhere.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from asr.local.stt.text.formatter import one_spelling
from asr.local.stt.text.numbers import split_punctuation, to_spoken_form
from asr.local.stt.types import RecognizedWord

_SENTENCE_END = (".", "?", "!")
_CASED = re.compile(r"[A-Z]|[.,?!]$")

Pair = tuple[int | None, int | None]
"""Positions of one word in two texts; None where it is only in the other."""


class Spelling:
    """How each word is written where no sentence begins, as counted in what the model wrote."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[str]] = defaultdict(Counter)

    def count(self, words: Sequence[str]) -> None:
        for before, word in pairwise(words):
            core = split_punctuation(word)[1]
            if core and not before.endswith(_SENTENCE_END):
                self._counts[core.lower()][core] += 1

    def of(self, word: str) -> str:
        counts = self._counts.get(word.lower())
        return counts.most_common(1)[0][0] if counts else word


def spell_out(text: str) -> list[str]:
    """The words of a text, numbers as they are spoken and no hyphens: as people transcribe them."""
    words = [RecognizedWord(word, 0, 0, 1.0) for word in text.split()]
    spoken = " ".join(word.text for word in to_spoken_form(one_spelling(words)))
    return re.sub(r"(?<=\w)-(?=\w)", " ", spoken).split()


def plain(word: str) -> str:
    return split_punctuation(word)[1].lower()


def align(left: Sequence[str], right: Sequence[str]) -> list[Pair]:
    """The cheapest way from one text to the other, word by word."""
    rows = [list(range(len(right) + 1))]
    for at, word in enumerate(left, 1):
        row = [at]
        for to, other in enumerate(right, 1):
            row.append(min(rows[-1][to - 1] + (word != other), rows[-1][to] + 1, row[-1] + 1))
        rows.append(row)
    pairs: list[Pair] = []
    at, to = len(left), len(right)
    while at or to:
        if at and to and rows[at][to] == rows[at - 1][to - 1] + (left[at - 1] != right[to - 1]):
            at, to = at - 1, to - 1
            pairs.append((at, to))
        elif at and rows[at][to] == rows[at - 1][to] + 1:
            at -= 1
            pairs.append((at, None))
        else:
            to -= 1
            pairs.append((None, to))
    return pairs[::-1]


def word_errors(people: Sequence[str], model: Sequence[str]) -> int:
    left, right = [plain(word) for word in people], [plain(word) for word in model]
    return sum(at is None or to is None or left[at] != right[to] for at, to in align(left, right))


def match(people: Sequence[str], model: Sequence[str]) -> float:
    """The share of people's words that the model wrote too."""
    left, right = [plain(word) for word in people], [plain(word) for word in model]
    same = sum(at is not None and to is not None and left[at] == right[to] for at, to in align(left, right))
    return same / max(len(left), 1)


def with_marks(people: Sequence[str], model: Sequence[str], spelling: Spelling) -> list[str]:
    """People's words, each with capitals and marks. There are exactly as many as were given."""
    marked: list[str] = []
    left, right = [plain(word) for word in people], [plain(word) for word in model]
    pairs = align(left, right)
    matched = [at is not None and to is not None and left[at] == right[to] for at, to in pairs]
    for (at, to), same, next_same in zip(pairs, matched, [*matched[1:], True], strict=True):
        theirs = model[to] if to is not None else ""
        if at is None:
            # The model's word goes, the end of a sentence stays.
            if theirs.endswith(_SENTENCE_END) and marked and marked[-1][-1].isalnum():
                marked[-1] += theirs[-1]
            continue
        if _CASED.search(people[at]):  # people wrote capitals and marks themselves
            marked.append(people[at])
            continue
        begins = not marked or marked[-1].endswith(_SENTENCE_END)
        _, core, after = split_punctuation(theirs)
        began = to is not None and (to == 0 or model[to - 1].endswith(_SENTENCE_END))
        word = core if same and not (began and not begins) else spelling.of(people[at])
        if not same and not (next_same and theirs.endswith(_SENTENCE_END)):
            after = ""  # among wrong words, marks are likely wrong too
        marked.append((word[:1].upper() + word[1:] if begins else word) + after)
    return marked


def as_window(texts: Iterable[str]) -> str:
    """The text of a window: it begins with a capital and does not end in a comma."""
    text = " ".join(filter(None, texts))
    text = text[:1].upper() + text[1:]
    return text[:-1] + "." if text.endswith(",") else text
