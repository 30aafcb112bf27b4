"""The chunks sent to the recogniser and not written down yet: where they lie, when they passed, how loud they were.

What is before the resume point is forgotten, so a trail is as long as an utterance, or as a window of the patient.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from asr.levels import Levels


class Mark(NamedTuple):
    start_ms: float
    end_ms: float
    offset: int
    captured_at: float
    """When the last sample was spoken."""
    sent_at: float


class Trail:
    def __init__(self) -> None:
        self._marks: deque[Mark] = deque()
        self.end_ms = 0.0
        """End of the audio sent last."""
        self.levels = Levels()

    def __bool__(self) -> bool:
        return bool(self._marks)

    def append(self, mark: Mark) -> None:
        self._marks.append(mark)
        self.end_ms = mark.end_ms

    def clear(self) -> None:
        self._marks.clear()
        self.levels.clear()

    @property
    def offset(self) -> int | None:
        """Where the oldest chunk not written down lies."""
        return self._marks[0].offset if self._marks else None

    def forget(self, before_ms: float) -> None:
        while self._marks and self._marks[0].end_ms <= before_ms:
            self._marks.popleft()
        self.levels.forget(before_ms)

    def captured(self, ms: float) -> float | None:
        """When what is heard at `ms` was spoken."""
        mark = self._find(ms)
        return None if mark is None else mark.captured_at - max(0.0, mark.end_ms - ms) / 1000

    def arrived(self, ms: float) -> float | None:
        """When the whole chunk that holds `ms` had been spoken: not before can anybody hear it."""
        mark = self._find(ms)
        return None if mark is None else mark.captured_at

    def sent(self, ms: float) -> float | None:
        """When the audio up to `ms` had been sent."""
        mark = self._find(ms)
        return None if mark is None else mark.sent_at

    def _find(self, ms: float) -> Mark | None:
        found = None
        for mark in reversed(self._marks):
            if mark.end_ms < ms:
                break
            found = mark
        return found or (self._marks[-1] if self._marks else None)
