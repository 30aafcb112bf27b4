"""Signed session tokens, which say where on the bus a conversation lies, and signed ids of a shop's customers."""

from __future__ import annotations

import hashlib
import hmac
import time
from typing import Final, NamedTuple

from itsdangerous import BadData

from tenor.errors import BadInput
from tenor.web.signing import signer

PURPOSE: Final = "assistant session"


class SessionPlace(NamedTuple):
    """A conversation, and from which offsets on its partition holds what belongs to it."""

    session: str
    """The call."""
    started_at: float
    partition: int
    states_from: int
    lines_from: int
    turns_from: int


class SessionTokens:
    def __init__(self, secret: str, lasts_s: float) -> None:
        self._signer = signer(secret, PURPOSE)
        self._lasts_s = lasts_s

    def issue(self, place: SessionPlace) -> tuple[str, float]:
        """The token, and until when it is valid."""
        until = int(place.started_at + self._lasts_s)
        return str(self._signer.dumps([*place, until])), until

    def read(self, token: str, session: str) -> SessionPlace | None:
        """None when the token is not ours, too old, or for another conversation."""
        try:
            *fields, until = self._signer.loads(token)
            place = SessionPlace(*fields)
        except (BadData, ValueError, TypeError):
            return None
        return place if place.session == session and time.time() < until else None


def customer_signature(secret: str, customer: str, until: int) -> str:
    """What a shop's server computes for its page: HMAC-SHA256 over both, in hexadecimal digits."""
    return hmac.new(secret.encode(), f"{customer}\n{until}".encode(), hashlib.sha256).hexdigest()


def verified_customer(secret: str, customer: str, until: int, signature: str) -> str:
    """The customer, if the shop signed the id and it is not too old."""
    if not secret:
        raise BadInput("customer ids are not accepted here", "set assistant.customer_secret")
    expected = customer_signature(secret, customer, until)
    if not hmac.compare_digest(expected.encode(), signature.encode()):
        raise BadInput("the customer id is not signed by this shop", "sign id and until with assistant.customer_secret")
    if time.time() >= until:
        raise BadInput("the signature of the customer id is too old", "load the shop's page again")
    return customer
