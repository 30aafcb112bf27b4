"""Utterances of one speaker that are decoded together, for recordings that nobody waits for.

    utterances   |- one -|  |----- two -----| |three|            each made loud
    window       |- one -|__|----- two -----|__|three|__         _PAUSE between them
    words         w1 w2  w3   w4 w5  w6 w7     w8                assigned by their times

An engine that was trained on long windows recognises utterances better with their neighbours around them, and its
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

from asr.local.stt.engines.base import RATE, Audio, DecodeOptions, Engine, EngineHypothesis, normalize_peak
from asr.local.stt.types import RecognizedWord

_PAUSE_MS = 500
_DOUBTFUL = 0.4
"""A hypothesis below this confidence is not taken from a shared window."""


@dataclass(frozen=True, slots=True)
class FinishedUtterance:
    """One that is over. Times are ms of its stream."""

    samples: Audio
    options: DecodeOptions
    offset_ms: int
    """Where its samples begin."""
    speech_ms: tuple[int, int]
    until_ms: int
    """No word ends later."""
    clean_ms: int
    """Where its stream starts clean after it."""


def fit(utterances: Sequence[FinishedUtterance], joint_window_s: float) -> bool:
    """Whether these go into one window."""
    return sum(len(one.samples) / RATE + _PAUSE_MS / 1000 for one in utterances) <= joint_window_s


def decode_together(engine: Engine, utterances: Sequence[FinishedUtterance]) -> list[list[EngineHypothesis]]:
    """The hypotheses of each utterance, as `Engine.decode` gives them for one."""
    if len(utterances) == 1:
        return [engine.decode(utterances[0].samples, utterances[0].options)]
    # As long as those it was trained on, even where it is not full: that is worth half a word in a hundred.
    window = np.zeros(int(engine.joint_window_s * RATE), np.float32)
    for start_ms, one in zip(_starts(utterances), utterances, strict=True):
        at = start_ms * RATE // 1000
        window[at : at + len(one.samples)] = normalize_peak(one.samples)
    hypotheses = engine.decode(window, DecodeOptions(word_times=True, context=utterances[0].options.context))
    assigned = _assign_words(hypotheses[0].words if hypotheses else (), utterances)
    return [
        _hypothesis(words) or engine.decode(one.samples, one.options)
        for words, one in zip(assigned, utterances, strict=True)
    ]


def _assign_words(
    words: Sequence[RecognizedWord], utterances: Sequence[FinishedUtterance]
) -> list[list[RecognizedWord]]:
    """The words of each utterance, in its own times. A word that begins after the speech of one belongs to the next;
    when a word ends is no help, since the last one before a pause seems to last until the next begins."""
    starts = _starts(utterances)
    ends = [start + one.speech_ms[1] - one.offset_ms for start, one in zip(starts, utterances, strict=True)]
    assigned: list[list[RecognizedWord]] = [[] for _ in utterances]
    for word in words:
        number = bisect_left(ends[:-1], word.start_ms)
        start = starts[number]
        assigned[number].append(
            replace(word, start_ms=max(0, word.start_ms - start), end_ms=max(0, word.end_ms - start))
        )
    return assigned


def _starts(utterances: Sequence[FinishedUtterance]) -> list[int]:
    """Where in the window the samples of each begin, in ms."""
    lengths = [math.ceil(len(one.samples) * 1000 / RATE) + _PAUSE_MS for one in utterances]
    return [0, *accumulate(lengths[:-1])]


def _hypothesis(words: Sequence[RecognizedWord]) -> list[EngineHypothesis]:
    if not words:
        return []
    confidence = math.exp(sum(math.log(word.confidence) for word in words) / len(words))
    return [EngineHypothesis(tuple(words), confidence)] if confidence >= _DOUBTFUL else []
