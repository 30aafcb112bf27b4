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
from itertools import accumulate

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
    # As long as those it was trained on, even where it is not full: that is worth half a word in a hundred.
    window = np.zeros(int(engine.room_s * RATE), np.float32)
    for start_ms, one in zip(_starts(utterances), utterances, strict=True):
        at = start_ms * RATE // 1000
        window[at : at + len(one.samples)] = loud(one.samples)
    readings = engine.decode(window, Hints(word_times=True))
    dealt = _deal(readings[0].words if readings else (), utterances)
    return [
        _reading(words) or engine.decode(one.samples, one.hints) for words, one in zip(dealt, utterances, strict=True)
    ]


def _deal(words: Sequence[Word], utterances: Sequence[Utterance]) -> list[list[Word]]:
    """The words of each utterance, in its own times. A word that begins after the speech of one belongs to the next;
    when a word ends is no help, since the last one before a pause seems to last until the next begins."""
    starts = _starts(utterances)
    ends = [start + one.speech_ms[1] - one.offset_ms for start, one in zip(starts, utterances, strict=True)]
    dealt: list[list[Word]] = [[] for _ in utterances]
    for word in words:
        number = bisect_left(ends[:-1], word.start_ms)
        start = starts[number]
        dealt[number].append(replace(word, start_ms=max(0, word.start_ms - start), end_ms=max(0, word.end_ms - start)))
    return dealt


def _starts(utterances: Sequence[Utterance]) -> list[int]:
    """Where in the window the samples of each begin, in ms."""
    lengths = [math.ceil(len(one.samples) * 1000 / RATE) + _PAUSE_MS for one in utterances]
    return [0, *accumulate(lengths[:-1])]


def _reading(words: Sequence[Word]) -> list[Decoded]:
    if not words:
        return []
    confidence = math.exp(sum(math.log(word.confidence) for word in words) / len(words))
    return [Decoded(tuple(words), confidence)] if confidence >= _DOUBTFUL else []
