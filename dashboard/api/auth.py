"""Who asks, and how often: by an API token (`tenor account token`) or a page's token. Without a sign-in nobody is asked
on this machine."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated

from fastapi import HTTPException, Request, Security
from fastapi.security import HTTPBearer

from dashboard.auth.rate_limiter import RateLimiter
from dashboard.auth.sign_in import OWNER
from dashboard.auth.tokens import API, PAGE, SignedTokens, bearer
from storage.viewer import Viewer
from tenor.settings import DashboardSettings
from tenor.web.servers import client_network, is_loopback

BEARER = HTTPBearer(auto_error=False, description="`tenor account token NAME` makes one")
"""Tells the specification what we look at ourselves."""
CHALLENGE = {"WWW-Authenticate": "Bearer"}


@dataclass(frozen=True, slots=True)
class Requester:
    """Whoever a request comes from."""

    viewer: Viewer
    token: str
    """Empty when nobody was asked."""


class ApiAuth:
    def __init__(self, settings: DashboardSettings, tokens: SignedTokens) -> None:
        self._settings = settings
        self._tokens = tokens
        self._rate_limiter = RateLimiter(settings.api_requests_s)

    async def requester(self, request: Request, _: Annotated[object, Security(BEARER)]) -> Requester:
        """For every endpoint: who asks, unless they ask too often."""
        token = bearer(request.headers)
        viewer = await asyncio.to_thread(self.viewer_of, token) if token else self._nobody(request)
        address = client_network(request)
        if wait := self._rate_limiter.wait_s(f"account {viewer.name}" if viewer else f"address {address}"):
            raise HTTPException(429, f"wait {wait:.1f} s", {"Retry-After": str(int(wait) + 1)})
        if viewer is None:
            detail = "this token is not valid, or no longer" if token else "send a bearer token: tenor account token"
            raise HTTPException(401, detail, CHALLENGE)
        return Requester(viewer, token)

    def viewer_of(self, token: str) -> Viewer | None:
        return self._tokens.viewer(token, API) or self._tokens.viewer(token, PAGE)

    def still_valid(self, requester: Requester) -> bool:
        return not requester.token or self.viewer_of(requester.token) == requester.viewer

    def _nobody(self, request: Request) -> Viewer | None:
        """Without a sign-in, whoever is at this machine. The host is looked at too: a page elsewhere can make its own
        name point here, but not change what its browser says."""
        host = request.url.hostname or ""
        client = request.client.host if request.client else ""
        open_to_all = self._settings.sign_in == "none" and is_loopback(host) and is_loopback(client)
        return OWNER if open_to_all else None
