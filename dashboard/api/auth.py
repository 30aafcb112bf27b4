"""Who asks, and how often: a bearer token (`tenor account token`) or a page's ticket; nobody on this machine alone."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Annotated

from fastapi import HTTPException, Request, Security
from fastapi.security import HTTPBearer

from dashboard.sign_in import OWNER, is_loopback
from dashboard.tickets import PAGE, TOKEN, Tickets, bearer
from storage.viewer import Viewer
from tenor.settings import DashboardSettings

BURST_S = 10.0
"""Somebody who was quiet may ask for this long's worth at once."""
REMEMBERED = 10_000
BEARER = HTTPBearer(auto_error=False, description="`tenor account token NAME` makes one")
"""Tells the specification what we look at ourselves."""
CHALLENGE = {"WWW-Authenticate": "Bearer"}


@dataclass(frozen=True, slots=True)
class Guest:
    """Whoever a request comes from."""

    viewer: Viewer
    ticket: str
    """Empty when nobody was asked."""


class Entrance:
    def __init__(self, settings: DashboardSettings, tickets: Tickets) -> None:
        self._settings = settings
        self._tickets = tickets
        self._pace = Pace(settings.api_requests_s)

    async def guest(self, request: Request, _: Annotated[object, Security(BEARER)]) -> Guest:
        """For every endpoint: who asks, unless they ask too often."""
        ticket = bearer(request.headers)
        viewer = await asyncio.to_thread(self.viewer_of, ticket) if ticket else self._nobody(request)
        address = request.client.host if request.client else ""
        if wait := self._pace.wait_s(f"account {viewer.name}" if viewer else f"address {address}"):
            raise HTTPException(429, f"wait {wait:.1f} s", {"Retry-After": str(int(wait) + 1)})
        if viewer is None:
            detail = "this token is not valid, or no longer" if ticket else "send a bearer token: tenor account token"
            raise HTTPException(401, detail, CHALLENGE)
        return Guest(viewer, ticket)

    def viewer_of(self, ticket: str) -> Viewer | None:
        return self._tickets.viewer(ticket, TOKEN) or self._tickets.viewer(ticket, PAGE)

    def still_valid(self, guest: Guest) -> bool:
        return not guest.ticket or self.viewer_of(guest.ticket) == guest.viewer

    def _nobody(self, request: Request) -> Viewer | None:
        """Without a sign-in, whoever is at this machine. The host is looked at too: a page elsewhere can make its own
        name point here, but not change what its browser says."""
        host = request.url.hostname or ""
        client = request.client.host if request.client else ""
        open_to_all = self._settings.sign_in == "none" and is_loopback(host) and is_loopback(client)
        return OWNER if open_to_all else None


class Pace:
    """A bucket for everyone: it fills at `a_second`, each request takes one out."""

    def __init__(self, a_second: float) -> None:
        self._a_second = a_second
        self._full = max(1.0, a_second * BURST_S)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_s(self, name: str) -> float:
        """0 when the request may pass."""
        if not self._a_second:
            return 0.0
        now = time.monotonic()
        left, at = self._buckets.pop(name, (self._full, now))
        left = min(self._full, left + (now - at) * self._a_second)
        self._buckets[name] = (left - 1 if left >= 1 else left, now)
        if len(self._buckets) > REMEMBERED:
            self._buckets.popitem(last=False)
        return 0.0 if left >= 1 else (1 - left) / self._a_second
