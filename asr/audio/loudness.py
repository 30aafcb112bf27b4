"""How loud a channel was, in steps of ten milliseconds of the call.

The steps are the same wherever recognition began, and only whole ones inside a word count: so a word is as loud after a
restart as it was before.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import takewhile

import numpy as np

STEP_MS = 10
FULL_SCALE = 32768.0
LEAST = -96.0
"""Decibels of digital silence: one step of 16 bits."""


class LoudnessMeter:
    def __init__(self) -> None:
        self._energy: dict[int, float] = {}
        """Mean square of each step's samples, in the order they came."""
        self._open: tuple[int, int, int] = (-1, 0, 0)
        """The step that is not complete: its number, sum of squares and samples."""

    def add(self, start_ms: float, pcm: bytes, rate: int) -> None:
        samples = np.frombuffer(pcm, "<i2").astype(np.int64)
        if not len(samples):
            return
        first = round(start_ms * rate / 1000)
        steps = np.arange(first * 1000 // (rate * STEP_MS), (first + len(samples) - 1) * 1000 // (rate * STEP_MS) + 1)
        # Where each step begins among the samples: rounded up, as a step is the samples at or after its time.
        starts = np.maximum(-(-steps * rate * STEP_MS // 1000) - first, 0)
        sums = np.add.reduceat(samples * samples, starts)
        counts = np.diff(starts, append=len(samples))
        for number, total, count in zip(steps.tolist(), sums.tolist(), counts.tolist(), strict=True):
            if not count:  # at less than 100 Hz
                continue
            step, before, samples_before = self._open
            if step == number:
                total, count = total + before, count + samples_before
            self._open = (number, total, count)
            self._energy[number] = total / count

    def loudness(self, spans: Iterable[tuple[int, int]]) -> float | None:
        """Of what was said between these milliseconds, in decibels of full scale; None when that is too short."""
        steps = {step for start_ms, end_ms in spans for step in range(math.ceil(start_ms / STEP_MS), end_ms // STEP_MS)}
        energies = [self._energy[step] for step in sorted(steps) if step in self._energy]
        if not energies:
            return None
        mean = sum(energies) / len(energies)
        return round(max(LEAST, 10 * math.log10(mean / FULL_SCALE**2)), 1) if mean else LEAST

    def forget(self, before_ms: float) -> None:
        for step in list(takewhile(lambda step: (step + 1) * STEP_MS <= before_ms, self._energy)):
            del self._energy[step]

    def clear(self) -> None:
        self._energy.clear()
        self._open = (-1, 0, 0)
