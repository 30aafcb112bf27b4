"""What people wrote down beside what was recognised of it, sentence by sentence, by their times."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

TOLERANCE_MS = 1000
"""A word this far from every sentence is part of none."""
_TAG = re.compile(r"\[[^\]]*\]|<[^>]*>")


@dataclass
class ReferenceSentence:
    """A sentence as people wrote it down, and as it was recognised."""

    call: str
    channel: int
    role: str
    start_ms: int
    end_ms: int
    text: str
    """Without marks such as [noise]; empty when there was nothing else."""
    heard: list[str] = field(default_factory=list)
    sentiment: str = ""
    """What people say of it; empty where nobody was asked."""

    @property
    def recognised(self) -> str:
        return " ".join(self.heard)


@dataclass(frozen=True, slots=True)
class HypothesisWord:
    channel: int
    start_ms: int
    end_ms: int
    text: str


def plain(text: str) -> str:
    """A transcript's words without its marks."""
    return " ".join(_TAG.sub(" ", text).split())


def align(
    sentences: Iterable[ReferenceSentence], words: Iterable[HypothesisWord], tolerance_ms: int = TOLERANCE_MS
) -> list[HypothesisWord]:
    """Give every word to the sentence of its channel that it was said in; returns those that were said in none."""
    channels: dict[int, list[ReferenceSentence]] = {}
    for sentence in sorted(sentences, key=lambda one: one.start_ms):
        channels.setdefault(sentence.channel, []).append(sentence)
    starts = {channel: [one.start_ms for one in own] for channel, own in channels.items()}
    stray = []
    for word in sorted(words, key=lambda one: (one.start_ms, one.end_ms)):
        own = channels.get(word.channel, [])
        middle = (word.start_ms + word.end_ms) / 2
        at = bisect_right(starts.get(word.channel, []), middle)
        best = min(own[max(0, at - 2) : at + 1], key=lambda one: _distance(one, middle), default=None)
        if best is None or _distance(best, middle) > tolerance_ms:
            stray.append(word)
        else:
            best.heard.append(word.text)
    return stray


def _distance(sentence: ReferenceSentence, at_ms: float) -> float:
    return max(sentence.start_ms - at_ms, at_ms - sentence.end_ms, 0.0)


def word_errors(wanted: Sequence[str], got: Sequence[str]) -> int:
    """Words to change, add and take away until one is the other."""
    row = list(range(len(got) + 1))
    for number, word in enumerate(wanted, 1):
        diagonal, row[0] = row[0], number
        for at, other in enumerate(got, 1):
            diagonal, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, diagonal + (word != other))
    return row[-1]
