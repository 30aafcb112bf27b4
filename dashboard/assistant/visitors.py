"""Who a request comes from, and how much of everything one visitor may have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from starlette.exceptions import HTTPException

from dashboard.auth.rate_limiter import RateLimiter
from tenor.settings import AssistantSettings

MOST_CONNECTIONS: Final = 20
"""Sockets and waiting requests that one visitor may have open: a household or an office is one visitor."""
MINUTE_S, HOUR_S = 60.0, 3600.0


class VisitorLimits:
    def __init__(self, settings: AssistantSettings) -> None:
        self._sessions = RateLimiter(settings.sessions_per_hour / HOUR_S, HOUR_S)
        self._messages = RateLimiter(settings.messages_per_minute / MINUTE_S, MINUTE_S)
        self._connections: Counter[str] = Counter()

    def begin(self, visitor: str) -> None:
        """Raises 429 when this visitor has begun too many conversations."""
        _refuse(self._sessions.wait_s(visitor), "you have begun many conversations")

    def message_wait_s(self, visitor: str, session: str) -> float:
        """0 when a message may pass. Neither one visitor with many conversations nor many with one get more."""
        return max(self._messages.wait_s(f"visitor {visitor}"), self._messages.wait_s(f"session {session}"))

    def message(self, visitor: str, session: str) -> None:
        _refuse(self.message_wait_s(visitor, session), "you write faster than we can read")

    @contextmanager
    def connection(self, visitor: str) -> Iterator[None]:
        """For as long as something stays open; 429 when too much is."""
        if self._connections[visitor] >= MOST_CONNECTIONS:
            raise HTTPException(429, "you have too many connections open: close some")
        self._connections[visitor] += 1
        try:
            yield
        finally:
            self._connections[visitor] -= 1
            if not self._connections[visitor]:
                del self._connections[visitor]


def _refuse(wait_s: float, reason: str) -> None:
    if wait_s:
        raise HTTPException(429, f"{reason}: wait {wait_s:.0f} s", {"Retry-After": str(int(wait_s) + 1)})
