"""Utterances of one speaker that are decoded together, for recordings that nobody waits for.

    utterances   |- one -|  |----- two -----| |three|            each made loud
    window       |- one -|__|----- two -----|__|three|__         _PAUSE between them
    words         w1 w2  w3   w4 w5  w6 w7     w8                dealt back by their times

An engine that was trained on long windows hears its utterances better with their neighbours around them, and its
encoder, whose cost is the window's, runs once for all of them. An utterance that gets no words so, or doubtful ones,
is decoded again on its own: engines skip a short answer now and then.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from asr.local.engine import RATE, Audio, Decoded, Engine, Hints, loud
from asr.local.hearing import Word

_PAUSE_MS = 500
_DOUBTFUL = 0.4
"""A reading below this confidence is not taken from a shared window."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """One that is over. Times are ms of its stream."""

    samples: Audio
    hints: Hints
    offset_ms: int
    """Where its samples begin."""
    speech_ms: tuple[int, int]
    until_ms: int
    """No word ends later."""
    clean_ms: int
    """Where the listener starts clean after it."""


def fit(utterances: Sequence[Utterance], room_s: float) -> bool:
    """Whether these go into one window."""
    return sum(len(one.samples) / RATE + _PAUSE_MS / 1000 for one in utterances) <= room_s


def decode_together(engine: Engine, utterances: Sequence[Utterance]) -> list[list[Decoded]]:
    """The readings of each utterance, as `Engine.decode` gives them for one."""
    if len(utterances) == 1:
        return [engine.decode(utterances[0].samples, utterances[0].hints)]
    pause = np.zeros(_PAUSE_MS * RATE // 1000, np.float32)
    window = np.concatenate([part for one in utterances for part in (loud(one.samples), pause)])
    readings = engine.decode(window, Hints(word_times=True))
    dealt = _deal(readings[0].words if readings else (), utterances)
    return [
        _reading(words) or engine.decode(one.samples, one.hints) for words, one in zip(dealt, utterances, strict=True)
    ]


def _deal(words: Sequence[Word], utterances: Sequence[Utterance]) -> list[list[Word]]:
    """The words of each utterance, in its own times. A word that begins after the speech of one belongs to the next;
    when a word ends is no help, since the last one before a pause seems to last until the next begins."""
    lengths = [len(one.samples) * 1000 // RATE + _PAUSE_MS for one in utterances]
    starts = np.cumsum([0, *lengths[:-1]]).tolist()
    ends = [start + one.speech_ms[1] - one.offset_ms for start, one in zip(starts, utterances, strict=True)]
    dealt: list[list[Word]] = [[] for _ in utterances]
    for word in words:
        number = bisect_left(ends[:-1], word.start_ms)
        start = starts[number]
        dealt[number].append(replace(word, start_ms=max(0, word.start_ms - start), end_ms=max(0, word.end_ms - start)))
    return dealt


def _reading(words: Sequence[Word]) -> list[Decoded]:
    if not words:
        return []
    confidence = math.exp(sum(math.log(word.confidence) for word in words) / len(words))
    return [Decoded(tuple(words), confidence)] if confidence >= _DOUBTFUL else []
