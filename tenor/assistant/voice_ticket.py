"""Tickets for the voice of a conversation on the web: the dashboard issues them, the gateway checks them.

A ticket says which conversation may be spoken, what is known of it, for which visitor and from which web site. Both
sides have the installation's secret (`tenor/web/signing.py`), so neither has to ask the other.
"""

from __future__ import annotations

import time
from typing import Final

import msgspec
from itsdangerous import BadData

from tenor.events import Call
from tenor.web.signing import signer

PURPOSE: Final = "assistant voice"
LASTS_S: Final = 60.0
"""How long a ticket admits; who is admitted stays."""


class VoiceTicket(msgspec.Struct, frozen=True, kw_only=True):
    session: str
    """The call."""
    info: Call
    """What is known of it."""
    visitor: str
    """Who is counted: an address or a network."""
    origin: str
    """The web site whose page asked for it; empty for a program that is no browser."""
    until: int


class VoiceTickets:
    def __init__(self, secret: str) -> None:
        self._signer = signer(secret, PURPOSE)

    def issue(self, session: str, info: Call, visitor: str, origin: str) -> tuple[str, int]:
        """The ticket, and until when it admits."""
        until = int(time.time() + LASTS_S)
        ticket = VoiceTicket(session=session, info=info, visitor=visitor, origin=origin, until=until)
        return str(self._signer.dumps(msgspec.to_builtins(ticket))), until

    def read(self, ticket: str, session: str) -> VoiceTicket | None:
        """None when it is not ours, too old, or for another conversation."""
        try:
            found = msgspec.convert(self._signer.loads(ticket), VoiceTicket)
        except (BadData, msgspec.ValidationError):
            return None
        return found if found.session == session and time.time() < found.until else None
