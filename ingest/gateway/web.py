"""The web side: who may open a socket on which path, health, and registration for AudioSocket."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property

import structlog
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from ingest.gateway import metrics
from ingest.gateway.audiosocket.peers import Peers
from ingest.gateway.audiosocket.registrations import Registrations
from ingest.gateway.browser.session import MOST_SOCKETS, BrowserSession
from ingest.gateway.call_feed import CallFeed
from ingest.gateway.errors import Malformed, Unauthorized
from ingest.gateway.genesys import signature as genesys_signature
from ingest.gateway.genesys.session import GenesysSession
from ingest.gateway.jambonz import session as jambonz
from ingest.gateway.jambonz.session import JambonzSession
from ingest.gateway.session import Session
from ingest.gateway.switchboard import Switchboard
from ingest.gateway.twilio import signature as twilio_signature
from ingest.gateway.twilio.session import TwilioSession
from tenor.assistant.voice_ticket import VoiceTickets
from tenor.settings import GatewaySettings
from tenor.web.servers import BodyTooLarge, client_network, is_forwarded, limited_body
from tenor.web.signing import secret_of

log = structlog.get_logger(__name__)

LONGEST_BODY = 16_384


class GatewayApp:
    def __init__(self, board: Switchboard, feed: CallFeed, peers: Peers, registrations: Registrations) -> None:
        self._board = board
        self._feed = feed
        self._peers = peers
        self._registrations = registrations
        self._nonces = genesys_signature.Nonces()
        self._visitors: Counter[str] = Counter()
        self._strangers: Counter[str] = Counter()
        """Sockets of browsers that have not shown a ticket yet, by where they come from."""
        self.app = Starlette(
            routes=[
                WebSocketRoute("/twilio", self._twilio),
                WebSocketRoute("/genesys", self._genesys),
                WebSocketRoute("/jambonz", self._jambonz),
                WebSocketRoute("/browser", self._browser),
                Route("/health", self._health, methods=["GET"]),
                Route("/audiosocket/calls", self._register, methods=["POST"]),
            ]
        )

    @cached_property
    def _tickets(self) -> VoiceTickets:
        """With the secret that the dashboard signs with."""
        return VoiceTickets(secret_of(self._board.settings))

    @property
    def _settings(self) -> GatewaySettings:
        return self._board.settings.gateway

    async def _twilio(self, socket: WebSocket) -> None:
        token = self._settings.twilio_auth_token.get_secret_value()

        def check() -> None:
            twilio_signature.check(socket, token, self._settings.public_url)

        if await self._admitted(socket, "twilio", "twilio_auth_token" if not token else "", check):
            await socket.accept()
            await self._serve(TwilioSession(socket, self._board))

    async def _genesys(self, socket: WebSocket) -> None:
        keys = self._settings.genesys_keys

        def check() -> None:
            genesys_signature.check(socket, keys, self._settings.public_url, self._nonces)

        if await self._admitted(socket, "genesys", "genesys_keys" if not keys else "", check):
            await socket.accept()
            await self._serve(GenesysSession(socket, self._board, self._feed))

    async def _jambonz(self, socket: WebSocket) -> None:
        token = self._settings.jambonz_token.get_secret_value()

        def check() -> None:
            jambonz.check(socket, token)

        if await self._admitted(socket, "jambonz", "jambonz_token" if not token else "", check):
            offered = socket.scope.get("subprotocols", [])
            await socket.accept(jambonz.SUBPROTOCOL if jambonz.SUBPROTOCOL in offered else None)
            await self._serve(JambonzSession(socket, self._board))

    async def _browser(self, socket: WebSocket) -> None:
        """Anybody may connect; the first message has the ticket, so that no log has it."""
        network = client_network(socket)
        if self._strangers[network] >= MOST_SOCKETS:
            await self._refuse(socket, "web", "full", 503, "too many sockets without a ticket are open")
        elif await self._admitted(socket, "web", "", lambda: None):
            with self._stranger(network) as known:
                await socket.accept()
                session = BrowserSession(socket, self._board, self._feed, self._tickets, self._visitors, known)
                await self._serve(session)

    @contextmanager
    def _stranger(self, network: str) -> Iterator[Callable[[], None]]:
        """Until a socket has shown its ticket: strangers must not take the places of telephones."""
        self._strangers[network] += 1
        known = False

        def become_known() -> None:
            nonlocal known
            if not known:
                known = True
                self._strangers[network] -= 1
                if not self._strangers[network]:
                    del self._strangers[network]

        try:
            yield become_known
        finally:
            become_known()

    async def _admitted(self, socket: WebSocket, platform: str, missing: str, check: Callable[[], None]) -> bool:
        """Without a secret a platform is not served, unless `gateway.insecure` says that anybody may."""
        if self._board.crowded:
            await self._refuse(socket, platform, "full", 503, "too many sockets are open")
            return False
        if missing and not self._settings.insecure:
            await self._refuse(socket, platform, "unset", 503, f"not served: gateway.{missing} is not set")
            return False
        if not missing:
            try:
                check()
            except Unauthorized as fault:
                status = 401 if "authorization" not in socket.headers and platform == "jambonz" else 403
                await self._refuse(socket, platform, "unauthorized", status, str(fault))
                return False
        return True

    async def _refuse(self, socket: WebSocket, platform: str, cause: str, status: int, reason: str) -> None:
        metrics.REFUSED.labels(platform, cause).inc()
        log.warning("socket refused", platform=platform, status=status, reason=reason)
        # The peer learns that it was refused; only our log says what it got wrong.
        said = "refused" if cause == "unauthorized" else reason
        await socket.send_denial_response(PlainTextResponse(said + "\n", status))

    async def _serve(self, session: Session) -> None:
        try:
            await session.run()
        except Exception as error:
            # A mistake of ours in one session must not take the server's other calls with it.
            log.exception("session failed", platform=session.platform, error=type(error).__name__)

    async def _health(self, request: Request) -> JSONResponse:
        settings = self._settings
        return JSONResponse(
            {
                "status": "stopping" if self._board.draining else "ok",
                "calls": self._board.open_calls,
                "bus": "behind" if self._board.bus_behind else "ok",
                "platforms": {
                    "twilio": settings.insecure or bool(settings.twilio_auth_token.get_secret_value()),
                    "genesys": settings.insecure or bool(settings.genesys_keys),
                    "jambonz": settings.insecure or bool(settings.jambonz_token.get_secret_value()),
                    "audiosocket": bool(settings.audiosocket_peers),
                    "web": True,
                },
            }
        )

    async def _register(self, request: Request) -> JSONResponse:
        if is_forwarded(request) or request.client is None or not self._peers.allow(request.client.host):
            metrics.REFUSED.labels("audiosocket", "peer").inc()
            return JSONResponse({"error": "only peers of gateway.audiosocket_peers may register"}, 403)
        try:
            body = await limited_body(request, LONGEST_BODY)
        except BodyTooLarge as error:
            return JSONResponse({"error": str(error)}, 413)
        try:
            registration = self._registrations.add(body)
        except Malformed as fault:
            metrics.MALFORMED.labels("audiosocket").inc()
            return JSONResponse({"error": str(fault)}, 422)
        return JSONResponse({"uuid": str(registration.uuid), "call": registration.call}, 201)
