"""Chunks put together to one unbroken signal: what came twice is left out, what is missing is silence.

chunks    |--1--|--2--|      |--2--|--3--|     |--4--|        ... 30 s ...      |--9--|
signal    |--1--|--2--|      |  x  |--3--|00000|--4--| flush                    | new stream
"""

from __future__ import annotations

from dataclasses import dataclass

from asr.audio.chunk_reader import length_ms
from tenor.events import AudioChunk

FILL_MS = 10_000
"""A longer hole is not filled: the stream is ended there and another begun after it."""
JITTER_MS = 20.0
"""Clocks of platforms are not exact; below this neighbouring chunks are taken as adjoining."""


@dataclass(frozen=True, slots=True)
class AudioSegment:
    """What the next chunk adds to the signal."""

    start_ms: float
    """Where its audio begins."""
    pcm: bytes
    rate: int
    fresh: bool = False
    """It cannot be joined (a long hole, another rate): it needs a stream of its own."""

    @property
    def length_ms(self) -> float:
        return len(self.pcm) * 500 / self.rate


class ChunkJoiner:
    def __init__(self, position_ms: float | None = None, fill_ms: int = FILL_MS) -> None:
        self._fill_ms = fill_ms
        self.restart(position_ms)

    def restart(self, position_ms: float | None) -> None:
        """Go on exactly at `position_ms`; None takes what comes first."""
        self.position_ms = position_ms
        self._rate = 0
        self._seq = -1

    def join(self, chunk: AudioChunk) -> AudioSegment | None:
        """What to send for `chunk`; None when all of it was sent before."""
        rate, pcm, start = chunk.rate, chunk.pcm, float(chunk.start_ms)
        adjoining = self._rate == rate and chunk.seq == self._seq + 1
        at = self.position_ms if self.position_ms is not None else start
        gap = start - at
        if start + length_ms(chunk) <= at and not (adjoining and abs(gap) < JITTER_MS):
            return None
        fresh = bool(self._rate) and self._rate != rate
        if adjoining and abs(gap) < JITTER_MS:
            pass
        elif gap < 0:
            pcm = pcm[2 * round(-gap * rate / 1000) :]
        elif gap > self._fill_ms:
            at, fresh = start, True
        elif gap > 0:
            pcm = bytes(2 * round(gap * rate / 1000)) + pcm
        self._rate, self._seq = rate, chunk.seq
        if not pcm:
            return None
        self.position_ms = at + len(pcm) * 500 / rate
        return AudioSegment(at, pcm, rate, fresh)
