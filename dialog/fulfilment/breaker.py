"""A circuit breaker: a provider that fails again and again is left alone for a while, and shoppers need not wait."""

from __future__ import annotations

import time
from collections.abc import Callable


class CircuitBreaker:
    """closed --(failures in a row)--> open --(a while)--> half open: one try decides."""

    def __init__(self, failures: int = 5, open_s: float = 30.0, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = failures
        self._open_s = open_s
        self._clock = clock
        self._failures = 0
        self._closed_again = 0.0
        self._trying = False

    def allows(self) -> bool:
        """Whether to ask the provider now. Who is told yes must say how it went."""
        if self._failures < self._most and self._clock() >= self._closed_again:
            return True
        if self._clock() < self._closed_again or self._trying:
            return False
        self._trying = True
        return True

    def succeeded(self) -> None:
        self._failures = 0
        self._trying = False

    def failed(self, wait_s: float = 0.0) -> None:
        """`wait_s` is what the provider itself asks for."""
        self._failures += 1
        self._trying = False
        rest = self._open_s if self._failures >= self._most else 0.0
        self._closed_again = max(self._closed_again, self._clock() + max(rest, wait_s))

    def gave_up(self) -> None:
        """The try was called off; nothing was learnt."""
        self._trying = False
