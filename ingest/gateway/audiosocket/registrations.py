"""Registrations: which call and party an AudioSocket UUID stands for.

AudioSocket carries one voice and a UUID, nothing else. Whoever places the call tells us the rest before
the sockets connect; so two sockets become one call with two channels.
"""

from __future__ import annotations

import time
import uuid
from typing import Any

import msgspec

from ingest.gateway.errors import Malformed, unreadable
from tenor.bounded_dict import BoundedDict

MOST = 10_000
KEPT_S = 3600.0


class Registration(msgspec.Struct):
    """Body of `POST /audiosocket/calls`. Other keys tell about the call."""

    uuid: uuid.UUID
    call: str
    role: str = "caller"
    roles: tuple[str, ...] = ("caller", "agent")
    """Roles of all channels of the call, the same for each of its sockets."""


class Registrations:
    def __init__(self) -> None:
        self._known: BoundedDict[uuid.UUID, tuple[float, Registration, dict[str, Any]]] = BoundedDict(MOST)

    def add(self, body: bytes) -> Registration:
        """Raises Malformed when the body is no registration."""
        try:
            registration = msgspec.json.decode(body, type=Registration)
            told = msgspec.json.decode(body, type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise unreadable(error) from None
        if not registration.call or registration.role not in registration.roles or len(registration.roles) > 8:
            raise Malformed("call must be named, and role must be one of roles")
        for known in ("uuid", "call", "role", "roles"):
            told.pop(known, None)
        self._known[registration.uuid] = (time.monotonic(), registration, told)
        self._forget()
        return registration

    def find(self, number: uuid.UUID) -> tuple[Registration, dict[str, Any]] | None:
        """Stays known, so that a socket that comes back finds its call again."""
        self._forget()
        found = self._known.get(number)
        return None if found is None else found[1:]

    def _forget(self) -> None:
        oldest = time.monotonic() - KEPT_S
        while self._known and next(iter(self._known.values()))[0] < oldest:
            self._known.popitem(last=False)
