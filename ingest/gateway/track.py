"""A track: one channel of a call as an unbroken line of samples, cut into chunks."""

from __future__ import annotations

import time

from ingest.gateway import metrics
from tenor.events import AudioChunk


class Track:
    """Writes go to a position. What lies between the end and there becomes silence, what lies before
    the end was heard already and is dropped; so chunk N begins at N * chunk_ms, whatever happened.

    When a moment was spoken is not told by the platforms. The least delay seen so far tells it best:

        spoken    |--100 ms--|--100 ms--|
        arrived         |         |           |     captured_at is never after the arrival
    """

    def __init__(
        self, call: str, platform: str, channel: int, rate: int, chunk_ms: int, started_at: float, first: int = 0
    ) -> None:
        """`first`: number of its first chunk; a call that was written before it was spoken has none before."""
        self.channel = channel
        self.rate = rate
        self._call = call
        self._platform = platform
        self._chunk_ms = chunk_ms
        self._origin = started_at
        """When position 0 was spoken."""
        self._seq = first
        self._start = self._edge_of(first)
        """Position of the first sample that has not left in a chunk."""
        self._edge = self._edge_of(first + 1)
        self._pending = bytearray()
        self._filled = 0
        self._silent_chunk = b""

    @property
    def end(self) -> int:
        """Position after the last sample, in samples."""
        return self._start + len(self._pending) // 2

    @property
    def end_ms(self) -> int:
        """The first whole millisecond after the last sample."""
        return -(-self.end * 1000 // self.rate)

    @property
    def heard_ms(self) -> int:
        """How much of it was heard: without the silence that was filled in."""
        return (self.end - self._filled) * 1000 // self.rate

    def write(self, at: int, pcm: bytes) -> list[AudioChunk]:
        """16-bit samples at a position; the chunks that are complete now."""
        chunks = self.fill(at)
        late = self.end - at
        if late > 0:
            metrics.DROPPED.labels(self._platform).inc()
            pcm = pcm[late * 2 :]
        if pcm:
            self._pending += pcm
            self._origin = min(self._origin, time.time() - self.end / self.rate)
            if self.end >= self._edge:
                chunks += self._complete()
        return chunks

    def fill(self, to: int) -> list[AudioChunk]:
        """Silence up to a position."""
        missing = to - self.end
        if missing <= 0:
            return []
        metrics.SILENCE.labels(self._platform).inc(missing / self.rate)
        self._filled += missing
        chunks: list[AudioChunk] = []
        while self.end < to:
            # Up to one edge at a time, so that a long silence shares one chunk's bytes.
            self._pending += bytes(2 * (min(to, self._edge) - self.end))
            if self.end >= self._edge:
                chunks += self._complete()
        return chunks

    def flush(self) -> list[AudioChunk]:
        """The last, shorter chunk."""
        return [self._cut(len(self._pending))] if self._pending else []

    def _complete(self) -> list[AudioChunk]:
        chunks = []
        while self.end >= self._edge:
            chunks.append(self._cut((self._edge - self._start) * 2))
        return chunks

    def _cut(self, size: int) -> AudioChunk:
        pcm = bytes(self._pending[:size])
        if pcm.count(0) == size:
            if len(self._silent_chunk) != size:
                self._silent_chunk = bytes(size)
            pcm = self._silent_chunk
        del self._pending[:size]
        self._start += size // 2
        chunk = AudioChunk(
            call=self._call,
            channel=self.channel,
            seq=self._seq,
            start_ms=self._seq * self._chunk_ms,
            rate=self.rate,
            pcm=pcm,
            captured_at=min(time.time(), self._origin + self._start / self.rate),
        )
        self._seq += 1
        self._edge = self._edge_of(self._seq + 1)
        return chunk

    def _edge_of(self, number: int) -> int:
        """Where chunk `number` begins, in samples: without drift at any rate and chunk length."""
        return number * self._chunk_ms * self.rate // 1000
