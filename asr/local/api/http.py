"""HTTP beside gRPC, as NVIDIA's containers have it: health, voices and the realtime WebSocket."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import structlog
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from asr.local import realtime_synthesis, realtime_transcription
from asr.local.guard import is_bearer, place_of
from asr.local.options import PortInUse, ServerOptions
from asr.local.realtime import Events
from asr.local.realtime_synthesis import Narrator
from asr.local.realtime_transcription import Transcription
from asr.local.recognition import Recognition
from asr.local.refusal import Refusal
from asr.local.speaking import Speaker
from asr.local.streams import Streams
from asr.local.tickets import Tickets

log = structlog.get_logger(__name__)

_PROTOCOL = "realtime"
_TICKET = "realtime-token."
_LARGEST_MESSAGE = 16 * 1024 * 1024


class HttpSide:
    def __init__(
        self,
        options: ServerOptions,
        recognition: Recognition,
        speaker: Speaker,
        syntheses: Streams,
        ready: Callable[[], bool],
    ) -> None:
        self.port = 0
        self._options = options
        self._recognition = recognition
        self._speaker = speaker
        self._syntheses = syntheses
        self._ready = ready
        self._tickets = Tickets()
        self._server: _Server | None = None
        self._running: asyncio.Task[None] | None = None

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/health/live", self._live),
                Route("/v1/health/ready", self._ready_or_not),
                Route("/v1/audio/list_voices", self._voices),
                Route("/v1/realtime/transcription_sessions", self._transcription_session, methods=["POST"]),
                Route("/v1/realtime/synthesis_sessions", self._synthesis_session, methods=["POST"]),
                WebSocketRoute("/v1/realtime", self._realtime),
            ]
        )

    async def start(self) -> None:
        assert self._options.http_port is not None
        listening = _listen(self._options.host, self._options.http_port)
        self.port = int(listening.getsockname()[1])
        options = self._options
        self._server = _Server(
            uvicorn.Config(
                self.app(),
                ws="websockets-sansio",
                ws_max_size=_LARGEST_MESSAGE,
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=1,
                ssl_certfile=options.tls_cert,
                ssl_keyfile=options.tls_key,
                ssl_ca_certs=str(options.tls_client_ca) if options.tls_client_ca else None,
                ssl_cert_reqs=ssl.CERT_REQUIRED if options.tls_client_ca else ssl.CERT_NONE,
            )
        )
        self._running = asyncio.create_task(self._server.serve(sockets=[listening]))
        while not self._server.started:
            if self._running.done():
                self._running.result()
            await asyncio.sleep(0.01)

    async def stop(self) -> None:
        if self._server is not None and self._running is not None:
            self._server.should_exit = True
            await self._running
            self._server = self._running = None

    async def _live(self, request: Request) -> JSONResponse:
        return JSONResponse({"status": "live"})

    async def _ready_or_not(self, request: Request) -> JSONResponse:
        ready = self._ready()
        return JSONResponse({"status": "ready" if ready else "not ready"}, 200 if ready else 503)

    async def _voices(self, request: Request) -> JSONResponse:
        return JSONResponse({language: {"voices": names} for language, names in self._speaker.voices().items()})

    async def _transcription_session(self, request: Request) -> JSONResponse:
        return self._session(request, realtime_transcription.default_session(self._recognition))

    async def _synthesis_session(self, request: Request) -> JSONResponse:
        return self._session(request, realtime_synthesis.default_session(self._speaker))

    def _session(self, request: Request, session: dict[str, Any]) -> JSONResponse:
        if not self._ready():
            return JSONResponse({"detail": "the models are still loading"}, 503)
        if self._options.api_key:
            bearer = request.headers.get("authorization") or f"Bearer {request.headers.get('x-api-key', '')}"
            if not is_bearer(bearer, self._options.api_key):
                return JSONResponse(
                    {"detail": "a valid API key is needed"}, 401, {"WWW-Authenticate": "Bearer realm=tenor"}
                )
            ticket, expires = self._tickets.issue()
            session["client_secret"] = {"value": ticket, "expires_at": expires}
        return JSONResponse(session)

    async def _realtime(self, socket: WebSocket) -> None:
        offered = socket.scope.get("subprotocols", [])
        tickets = [name.removeprefix(_TICKET) for name in offered if name.startswith(_TICKET)]
        if self._options.api_key and not any(map(self._tickets.good, tickets)):
            await socket.close(1008, "no valid client secret")
            return
        intent = socket.query_params.get("intent", "transcription")
        if intent not in ("transcription", "synthesize"):
            await socket.close(1008, f"unknown intent {intent}")
            return
        # The ticket is never repeated in the answer, only the protocol's name.
        await socket.accept(_PROTOCOL if _PROTOCOL in offered else None)
        events = Events(socket, self._options.idle_s)
        conversation = (
            Transcription(self._recognition, events)
            if intent == "transcription"
            else Narrator(self._speaker, self._syntheses, events)
        )
        try:
            await conversation.run()
            await socket.close()
        except WebSocketDisconnect:
            log.debug("realtime client left", intent=intent)
        except Refusal as refusal:
            log.info("refused", intent=intent, code=refusal.code.name, reason=refusal.text)
            await events.refuse(refusal)
        except Exception as error:
            log.error("failed", intent=intent, error=type(error).__name__, at=place_of(error))
            await events.refuse(Refusal(grpc.StatusCode.INTERNAL, f"internal error: {type(error).__name__}"))


class _Server(uvicorn.Server):
    """Signals belong to the process, not to one of its two listeners."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        if error.errno != errno.EADDRINUSE:
            raise
        raise PortInUse(host, port) from error
    return listening
