"""How often somebody may ask."""

from __future__ import annotations

import time

from tenor.bounded_dict import BoundedDict

BURST_S = 10.0
"""Somebody who was quiet may ask for this long's worth at once."""
REMEMBERED = 10_000


class RateLimiter:
    """A token bucket for everyone: it fills at `a_second`, each request takes one out. A full one holds what comes in
    `burst_s`."""

    def __init__(self, a_second: float, burst_s: float = BURST_S) -> None:
        self._a_second = a_second
        self._full = max(1.0, a_second * burst_s)
        self._buckets: BoundedDict[str, tuple[float, float]] = BoundedDict(REMEMBERED)

    def wait_s(self, name: str) -> float:
        """0 when the request may pass."""
        if not self._a_second:
            return 0.0
        now = time.monotonic()
        left, at = self._buckets.pop(name, (self._full, now))
        left = min(self._full, left + (now - at) * self._a_second)
        self._buckets[name] = (left - 1 if left >= 1 else left, now)
        return 0.0 if left >= 1 else (1 - left) / self._a_second
