"""Twilio's signature: HMAC-SHA1 over the address it dialled, keyed with the account's token."""

from __future__ import annotations

import base64
import hashlib
import hmac

from starlette.requests import HTTPConnection

from ingest.gateway.errors import Unauthorized
from ingest.gateway.public_url import addresses


def sign(token: str, url: str) -> str:
    """A WebSocket handshake has no form parameters, so the URL is all there is to sign."""
    return base64.b64encode(hmac.new(token.encode(), url.encode(), hashlib.sha1).digest()).decode()


def check(connection: HTTPConnection, token: str, public_url: str) -> None:
    """Raises Unauthorized unless Twilio signed it, or the peer shows the token itself as a bearer:
    Telnyx and Talkdesk cannot sign, but send a token of our choice."""
    given = connection.headers.get("x-twilio-signature", "")
    if not given:
        shown = connection.headers.get("authorization", "")
        if hmac.compare_digest(shown.encode(), f"Bearer {token}".encode()):
            return
        raise Unauthorized("neither X-Twilio-Signature nor a bearer token")
    matches = [hmac.compare_digest(given.encode(), sign(token, url).encode()) for url in _urls(connection, public_url)]
    if not any(matches):
        raise Unauthorized("X-Twilio-Signature does not fit (is gateway.public_url the address Twilio dials?)")


def _urls(connection: HTTPConnection, public_url: str) -> list[str]:
    urls = []
    for authority, target in addresses(connection, public_url):
        # Twilio dials wss only, and may sign with or without the port and with a slash at the end.
        for host in {authority, authority.rsplit(":", 1)[0] if not authority.endswith("]") else authority}:
            urls += [f"wss://{host}{target}", f"wss://{host}{target}/"]
    return urls
