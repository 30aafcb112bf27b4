"""The chunks sent to the recogniser and not written down yet: where they lie, when they passed, how loud they were.

What is before the resume point is forgotten, so it holds an utterance, or a window of the patient.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from asr.audio.joiner import AudioSegment
from asr.audio.loudness import LoudnessMeter


class SentChunk(NamedTuple):
    start_ms: float
    end_ms: float
    offset: int
    captured_at: float
    """When the last sample was spoken."""
    sent_at: float


class InFlightAudio:
    def __init__(self) -> None:
        self.end_ms = 0.0
        """End of the audio sent last."""
        self._chunks: deque[SentChunk] = deque()
        self._meter = LoudnessMeter()

    def __bool__(self) -> bool:
        return bool(self._chunks)

    @property
    def oldest_offset(self) -> int | None:
        """Where the oldest chunk lies that is not written down."""
        return self._chunks[0].offset if self._chunks else None

    def add(self, segment: AudioSegment, offset: int, captured_at: float) -> None:
        """What is being sent of the chunk at `offset`."""
        end_ms = segment.start_ms + segment.length_ms
        self._chunks.append(SentChunk(segment.start_ms, end_ms, offset, captured_at, time.time()))
        self._meter.add(segment.start_ms, segment.pcm, segment.rate)
        self.end_ms = end_ms

    def forget(self, before_ms: float) -> None:
        while self._chunks and self._chunks[0].end_ms <= before_ms:
            self._chunks.popleft()
        self._meter.forget(before_ms)

    def clear(self) -> None:
        self._chunks.clear()
        self._meter.clear()

    def loudness(self, spans: Iterable[tuple[int, int]]) -> float | None:
        """Of what was said between these milliseconds, in decibels of full scale."""
        return self._meter.loudness(spans)

    def captured(self, ms: float) -> float | None:
        """When what is heard at `ms` was spoken."""
        chunk = self._find(ms)
        return chunk.captured_at - max(0.0, chunk.end_ms - ms) / 1000 if chunk and chunk.captured_at else None

    def arrived(self, ms: float) -> float | None:
        """When the whole chunk that holds `ms` had been spoken: not before can anybody hear it."""
        chunk = self._find(ms)
        return chunk.captured_at or None if chunk else None

    def sent(self, ms: float) -> float | None:
        """When the audio up to `ms` had been sent."""
        chunk = self._find(ms)
        return None if chunk is None else chunk.sent_at

    def _find(self, ms: float) -> SentChunk | None:
        found = None
        for chunk in reversed(self._chunks):
            if chunk.end_ms < ms:
                break
            found = chunk
        return found or (self._chunks[-1] if self._chunks else None)
