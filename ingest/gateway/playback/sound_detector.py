"""The sound detector: whether the caller makes a sound that is more than the noise of the line."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

BLOCK_MS: Final = 20
OVER_FLOOR_DB: Final = 12.0
QUIETEST_DB: Final = -42.0
"""Nothing below this counts, however quiet the line is: an echo of what we play is about here."""
GAP_MS: Final = 60
"""Pauses between sounds that are one sound."""
RISE_DB_A_SECOND: Final = 3.0
"""A noise that goes on becomes the floor; speech has pauses in which the floor falls again."""


class SoundDetector:
    def __init__(self) -> None:
        self.sound_ms = 0
        """How long the sound has lasted that is being made; 0 in silence."""
        self.quiet_ms = 0
        """How long ago the last sound was."""
        self._floor_db = -60.0
        self._rest = np.empty(0, np.int16)

    def add(self, pcm: bytes, rate: int) -> None:
        samples = np.frombuffer(pcm, "<i2")
        size = rate * BLOCK_MS // 1000
        if self._rest.size or samples.size != size:
            samples = np.concatenate([self._rest, samples])
        whole = samples.size - samples.size % size
        for start in range(0, whole, size):
            self._add_block(samples[start : start + size])
        self._rest = samples[whole:]

    def forget(self) -> None:
        """What was heard so far is dealt with; the noise floor stays."""
        self.sound_ms = 0

    def _add_block(self, block: np.ndarray[tuple[int], np.dtype[np.int16]]) -> None:
        level = block.astype(np.float32)
        power = float(level @ level) / block.size
        level_db = 10 * math.log10(max(power, 1.0) / 32768**2)
        if level_db > max(self._floor_db + OVER_FLOOR_DB, QUIETEST_DB):
            self.sound_ms += BLOCK_MS
            self.quiet_ms = 0
        else:
            self.quiet_ms += BLOCK_MS
            if self.quiet_ms > GAP_MS:
                self.sound_ms = 0
        if level_db < self._floor_db:
            self._floor_db += 0.3 * (level_db - self._floor_db)
        else:
            self._floor_db += min(level_db - self._floor_db, RISE_DB_A_SECOND * BLOCK_MS / 1000)
