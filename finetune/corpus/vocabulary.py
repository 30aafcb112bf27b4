"""Rows whose words are not those of the house are left out of training, and what was left out is listed.

Text from elsewhere has typing errors and words that nobody here says. A list says which words are allowed; without one,
words that are said too rarely are taken for mistakes. The rows that judge a model are never filtered.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from finetune.recipes.base import TrainingRow
from tenor.errors import BadInput

LEARNED = ("train", "val")
SHOWN = 10
_APOSTROPHE = "\u2019"
_WORD = re.compile(rf"[^\W\d_]+(?:['{_APOSTROPHE}][^\W\d_]+)*")
"""Numbers are no words, and always allowed."""
_TAG = re.compile(r"\[[^\]]*\]|<[^>]*>")


@dataclass(frozen=True)
class VocabularyFilter:
    """What is left of the rows, and what was dropped."""

    rows: list[TrainingRow]
    dropped: tuple[str, ...]
    """Ids of the rows that are left out,"""
    words: dict[str, int]
    """and for which words, with how many rows each of them cost, most first."""

    @property
    def summary(self) -> str:
        """Names no words: a run keeps ids and numbers only."""
        return f"left out: {len(self.dropped):,} rows with {len(self.words):,} words outside the vocabulary"

    @property
    def listed(self) -> str:
        """For whoever asked for it."""
        most = ", ".join(f"{word} ({rows})" for word, rows in list(self.words.items())[:SHOWN])
        more = f" and {len(self.words) - SHOWN:,} more" if len(self.words) > SHOWN else ""
        return self.summary + (f": {most}{more}" if most else "")


def read_vocabulary(path: Path) -> frozenset[str]:
    """A file of words, any number per line; lines that begin with # are none."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise BadInput(f"the vocabulary {path} cannot be read: {error.strerror}", "a text file of words") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not UTF-8 text", "a text file of words") from None
    words = frozenset(word for line in lines if not line.startswith("#") for word in words_of(line))
    if not words:
        raise BadInput(f"{path} has no words", "a text file of words")
    return words


def common_words(rows: Sequence[TrainingRow], least: int) -> frozenset[str]:
    """Words that are in as many rows as that."""
    counted = Counter(word for row in rows for word in set(words_of(row.text)))
    return frozenset(word for word, count in counted.items() if count >= least)


def within_vocabulary(rows: Sequence[TrainingRow], allowed: Collection[str]) -> VocabularyFilter:
    kept, dropped, cost = [], [], Counter[str]()
    for row in rows:
        unknown = sorted(set(words_of(row.text)).difference(allowed)) if row.split in LEARNED else []
        if unknown:
            dropped.append(row.id)
            cost.update(unknown)
        else:
            kept.append(row)
    words = dict(sorted(cost.items(), key=lambda item: (-item[1], item[0])))
    return VocabularyFilter(kept, tuple(dropped), words)


def words_of(text: str) -> list[str]:
    """In lower case, without tags such as [noise]."""
    return [word.replace(_APOSTROPHE, "'") for word in _WORD.findall(_TAG.sub(" ", text).lower())]
