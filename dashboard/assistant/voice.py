"""The voice of conversations on the web: where the gateway is, and tickets that it admits."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

import msgspec
from starlette.requests import HTTPConnection

from dashboard.assistant.conversation import Conversation
from tenor.assistant.voice_ticket import VoiceTickets
from tenor.errors import BadInput
from tenor.settings import Settings
from tenor.web.servers import client_network

_HOST: Final = re.compile(r"[A-Za-z0-9.:-]+")
OFF: Final = "off"
ROUTE: Final = "/browser"


class Voice:
    def __init__(self, settings: Settings, secret: str) -> None:
        self._settings = settings
        self._tickets = VoiceTickets(secret)
        given = settings.assistant.voice_url
        if given not in ("", OFF) and (urlsplit(given).scheme not in ("ws", "wss") or not urlsplit(given).netloc):
            raise BadInput(f"assistant.voice_url: {given!r} is no WebSocket's address", "write wss://HOST/browser")

    def address(self, connection: HTTPConnection) -> str:
        """Where this visitor's browser reaches the gateway; empty: there is no voice."""
        given, gateway = self._settings.assistant.voice_url, self._settings.gateway
        if given:
            return "" if given == OFF else given
        if gateway.public_url:
            return f"wss://{urlsplit(gateway.public_url).netloc}{ROUTE}"
        host = connection.url.hostname or ""
        if not _HOST.fullmatch(host) or not gateway.port:
            return ""
        scheme = "wss" if connection.url.scheme in ("https", "wss") else "ws"
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{gateway.port}{ROUTE}"

    def ticket(self, connection: HTTPConnection, conversation: Conversation) -> tuple[str, int]:
        """For the holder of the conversation's token. Refused when there is nothing to be spoken any more."""
        if conversation.over or conversation.info is None:
            raise BadInput("this conversation is over", "begin a new one")
        info = msgspec.structs.replace(conversation.info, medium="voice")
        origin = connection.headers.get("origin", "")
        return self._tickets.issue(conversation.place.session, info, client_network(connection), origin)
