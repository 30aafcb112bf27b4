"""The clock of a call: its beginning, and when a moment of its audio was spoken."""

from __future__ import annotations

import time


class Clock:
    """Position 0 of the audio is `started_at`. The platform's delay is never known exactly; the least
    delay seen so far tells best when position 0 really was.

        spoken   |--100 ms--|--100 ms--|
        arrived       ...        |          |     captured_at is never after the arrival
    """

    def __init__(self) -> None:
        self.started_at = time.time()
        self._zero = time.monotonic()
        self._origin = self.started_at

    def elapsed_ms(self) -> int:
        return int((time.monotonic() - self._zero) * 1000)

    def heard(self, position_s: float) -> None:
        """Audio up to this position has just arrived."""
        self._origin = min(self._origin, time.time() - position_s)

    def captured_at(self, position_s: float) -> float:
        return min(time.time(), self._origin + position_s)
