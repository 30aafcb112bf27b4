"""The gateway as a stage: two ports, served until it is told to stop.

uvicorn serves the web side, with the `websockets` library's protocol inside it: that library's own server
takes GET requests only, and AudioSocket calls are registered with a POST on the same port.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket

import structlog

from ingest.gateway.audiosocket.peers import Peers
from ingest.gateway.audiosocket.registrations import Registrations
from ingest.gateway.audiosocket.session import AudioSocketServer
from ingest.gateway.call_feed import CallFeed
from ingest.gateway.switchboard import Switchboard
from ingest.gateway.web import GatewayApp
from tenor.bus import Bus
from tenor.events import TRANSCRIPTS, Transcript
from tenor.settings import Settings
from tenor.web.servers import WebServer, listening_socket

log = structlog.get_logger(__name__)

LONGEST_MESSAGE = 256 * 1024
BACKLOG = 1024
GOODBYE_S = 5


class Gateway:
    """`port` and `audiosocket_port` are the real ones once `ready` is set, also when 0 was asked for."""

    name = "gateway"

    def __init__(self, bus: Bus, settings: Settings) -> None:
        self.ready = asyncio.Event()
        self.port = settings.gateway.port
        self.audiosocket_port = settings.gateway.audiosocket_port
        self._settings = settings.gateway
        self._board = Switchboard(bus, settings)
        self._feed = CallFeed(bus, (TRANSCRIPTS,), (Transcript,))
        peers, registrations = Peers(settings.gateway.audiosocket_peers), Registrations()
        self._web = GatewayApp(self._board, self._feed, peers, registrations)
        self._audiosocket = AudioSocketServer(self._board, peers, registrations)

    async def waits_for(self) -> str:
        """A bus that is away for a moment keeps it from nothing: audio is held."""
        if not self.ready.is_set():
            return "its ports"
        return "a bus that takes audio" if self._board.bus_full else ""

    async def run(self) -> None:
        """Serve until cancelled; then end open calls, hand the bus what is held, and return."""
        with contextlib.ExitStack() as sockets:
            web_socket = sockets.enter_context(self._listen(self.port, "port"))
            audio_socket = sockets.enter_context(self._listen(self.audiosocket_port, "audiosocket_port"))
            self.port = web_socket.getsockname()[1]
            self.audiosocket_port = audio_socket.getsockname()[1]
            async with self._web_server(web_socket):
                await self._serve(audio_socket)

    async def _serve(self, audio_socket: socket.socket) -> None:
        tcp = await asyncio.start_server(self._audiosocket.accept, sock=audio_socket, backlog=BACKLOG)
        log.info("gateway listens", port=self.port, audiosocket_port=self.audiosocket_port)
        self.ready.set()
        try:
            await self._board.watch()
        except asyncio.CancelledError:
            log.info("gateway stops", calls=self._board.open_calls, drain_s=self._settings.drain_s)
            tcp.close()
            await self._board.drain(self._settings.drain_s)
        finally:
            tcp.close()
            await self._board.stop()
            await self._feed.stop()

    def _web_server(self, listener: socket.socket) -> WebServer:
        return WebServer(
            self._web.app,
            listener,
            lifespan="off",
            proxy_headers=bool(self._settings.proxies),
            forwarded_allow_ips=self._settings.proxies,
            date_header=False,
            backlog=BACKLOG,
            ws_max_size=LONGEST_MESSAGE,
            # Audio does not deflate, and what inflates can burst.
            ws_per_message_deflate=False,
            timeout_graceful_shutdown=GOODBYE_S,
        )

    def _listen(self, port: int, setting: str) -> socket.socket:
        hint = f"is another gateway running? else choose another gateway.{setting}"
        return listening_socket(self._settings.host, port, hint)
