"""Whether the two channels of a recording carry the same: then it is one speaker, not two.

Many recorders write mono as stereo. Heard as two speakers, every word would be there twice.
"""

from __future__ import annotations

import numpy as np

from ingest.audio.types import Samples

LOUD_RMS = 100.0
"""Softer blocks say nothing: line noise is alike or not by chance."""
ENOUGH_S = 2.0
"""Decide after this much sound."""
BOUND_S = 30.0
"""Look no further than this into a recording that begins with silence."""
SAME = 0.03
"""Share of the energy that may differ: a lossy codec changes this much, two people far more. An echo of
one speaker on the other's channel is softer than the voice itself, so it differs too."""


class DualMonoDetector:
    """Hears blocks of two channels until it has an opinion."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._loud = 0
        self._heard = 0
        self._energy = 0.0
        self._difference = 0.0

    def hear(self, block: Samples) -> None:
        left, right = block[:, 0].astype(np.float32), block[:, 1].astype(np.float32)
        energy = max(float(left @ left), float(right @ right))
        self._heard += len(block)
        if energy > LOUD_RMS**2 * len(block):
            difference = left - right
            self._loud += len(block)
            self._energy += energy
            self._difference += float(difference @ difference)

    @property
    def decided(self) -> bool:
        return self._loud >= ENOUGH_S * self._rate or self._heard >= BOUND_S * self._rate

    @property
    def same(self) -> bool:
        """False also when all was silent: two speakers lose nothing, one would."""
        return self._energy > 0 and self._difference < SAME * self._energy
