"""Frames back in order: for platforms that number them and do not promise their order."""

from __future__ import annotations

from typing import NamedTuple

WINDOW_MS = 200
WINDOW_FRAMES = 50
"""A bound for frames that are too short to ever fill the window."""


class Frame(NamedTuple):
    number: int
    at_ms: int
    """Position in its stream; -1 when the platform did not say."""
    pcm: bytes
    ms: int
    """Length."""


class Reorder:
    """Lets the next frame pass at once; holds one that came early until those before it are there, or
    until 200 ms of audio wait and the missing ones are given up. What comes after that is too late.

        in    1  2  4  3  3  5          out   1  2  .  3 4  x  5
    """

    def __init__(self) -> None:
        self._next = -1
        self._next_ms = -1
        self._early: dict[int, Frame] = {}
        self.dropped = 0

    def push(self, frame: Frame) -> list[Frame]:
        if frame.number < self._next or frame.number in self._early:
            self.dropped += 1
            return []
        if self._follows(frame):
            self._passed(frame)
            return [frame, *self._ready()]
        self._early[frame.number] = frame
        waiting_ms = sum(early.ms for early in self._early.values())
        if waiting_ms < WINDOW_MS and len(self._early) < WINDOW_FRAMES:
            return []
        return self._release()

    def flush(self) -> list[Frame]:
        """Everything that waits: no more will come."""
        out: list[Frame] = []
        while self._early:
            out += self._release()
        return out

    def _follows(self, frame: Frame) -> bool:
        if self._next < 0:
            return frame.number <= 1
        if frame.number == self._next:
            return True
        # Some platforms number per track, some across tracks: then the time tells that nothing is missing.
        return self._next_ms >= 0 and abs(frame.at_ms - self._next_ms) <= frame.ms // 2

    def _release(self) -> list[Frame]:
        first = self._early.pop(min(self._early))
        self._passed(first)
        return [first, *self._ready()]

    def _ready(self) -> list[Frame]:
        out = []
        while self._early:
            number = min(self._early)
            if not self._follows(self._early[number]):
                break
            frame = self._early.pop(number)
            self._passed(frame)
            out.append(frame)
        return out

    def _passed(self, frame: Frame) -> None:
        self._next = frame.number + 1
        self._next_ms = frame.at_ms + frame.ms if frame.at_ms >= 0 else -1
