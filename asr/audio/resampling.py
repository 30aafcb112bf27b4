"""A channel's audio at a rate Riva takes, in messages of a size it takes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import soxr

LOWEST_RATE, HIGHEST_RATE, DEFAULT_RATE = 8_000, 96_000, 16_000


def supported_rate(rate: int) -> int:
    """The rate to send: the audio's own where Riva takes it."""
    return rate if LOWEST_RATE <= rate <= HIGHEST_RATE else DEFAULT_RATE


class StreamResampler:
    """Resamples the audio of one stream; begins clean."""

    def __init__(self, rate: int) -> None:
        self.rate = supported_rate(rate)
        self._resampler = soxr.ResampleStream(rate, self.rate, 1, dtype="int16") if rate != self.rate else None

    def blocks(self, pcm: bytes) -> Iterator[bytes]:
        """At most a second each."""
        if self._resampler is not None:
            pcm = self._resampler.resample_chunk(np.frombuffer(pcm, np.int16)).tobytes()
        step = 2 * self.rate
        for at in range(0, len(pcm), step):
            yield pcm[at : at + step]

    def rest(self) -> Iterator[bytes]:
        """What the resampler still holds."""
        if self._resampler is not None:
            last = self._resampler.resample_chunk(np.empty(0, np.int16), last=True).tobytes()
            if last:
                yield last
