"""Signed tokens: who is looking, and until when. Pages send them to the feed, the recordings and the actions; browsers
as a cookie; programs to the API."""

from __future__ import annotations

import time
from collections.abc import Callable

from itsdangerous import BadData, URLSafeSerializer
from starlette.datastructures import Headers

from storage.viewer import ROLES, Viewer
from tenor.web.signing import signer

VersionOf = Callable[[str], tuple[int, str] | None]
HasEnded = Callable[[str], bool]
PAGE, SESSION, API = "page", "session", "token"
"""What a token is for: a page's own requests, a browser's cookie, a program's API calls. None passes for another."""
ROUND_S = 600


def recording_purpose(call: str) -> str:
    """For one recording: an audio element has its token in the address, so it opens nothing else."""
    return f"audio {call}"


class SignedTokens:
    """`version_of` tells an account's version and role, or None when there is no such account any more; without it
    names are not accounts of ours and a token stands by itself. API tokens belong to accounts of ours whoever signs
    people in: `api_version_of` is for them. What was given out in a session ends with it, which `has_ended` tells."""

    def __init__(
        self, secret: str, version_of: VersionOf | None = None, *, api_version_of: VersionOf | None = None,
        has_ended: HasEnded = lambda session: False,
    ) -> None:  # fmt: skip
        self._secret = secret
        self._version_of = version_of
        self._api_version_of = api_version_of or version_of
        self._has_ended = has_ended

    def issue(self, viewer: Viewer, purpose: str, lasts_s: float) -> str:
        version_of = self._lookup(purpose)
        known = version_of(viewer.name) if version_of else None
        version = known[0] if known else 0
        told = [viewer.name, viewer.role, int(time.time() + lasts_s), version]
        if viewer.session and purpose != API:  # a program goes on when the person who set it up signs out
            told.append(viewer.session)
        return str(self._signer(purpose).dumps(told))

    def for_page(self, viewer: Viewer, lasts_s: float, purpose: str = PAGE) -> str:
        """The same token for some minutes, so that a page that is made again has nothing new to send."""
        return self.issue(viewer, purpose, lasts_s + ROUND_S - time.time() % ROUND_S)

    def viewer(self, token: str, purpose: str) -> Viewer | None:
        """Who holds this token; None when it is not ours, for something else, too old, or its account has changed."""
        try:
            name, role, until, version, *session = self._signer(purpose).loads(token)
        except (BadData, ValueError, TypeError):
            return None
        if role not in ROLES or time.time() >= until:
            return None
        version_of = self._lookup(purpose)
        if version_of and version_of(name) != (version, role):
            return None
        if session and self._has_ended(session[0]):
            return None
        return Viewer(name, role, *session[:1])

    def _lookup(self, purpose: str) -> VersionOf | None:
        return self._api_version_of if purpose == API else self._version_of

    def _signer(self, purpose: str) -> URLSafeSerializer:
        return signer(self._secret, purpose)


def bearer(headers: Headers) -> str:
    """The token that a request carries; empty when it carries none."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
