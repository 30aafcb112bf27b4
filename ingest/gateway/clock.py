"""The clock of a call: where we are in it now."""

from __future__ import annotations

import time


class Clock:
    def __init__(self) -> None:
        self.started_at = time.time()
        self._zero = time.monotonic()

    def elapsed_ms(self) -> int:
        return int((time.monotonic() - self._zero) * 1000)
