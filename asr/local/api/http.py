"""HTTP beside gRPC, as NVIDIA's containers have it: health, voices and the realtime WebSocket."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from typing import Any

import grpc
import structlog
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from asr.local.api.auth import is_bearer, traceback_places
from asr.local.api.limits import StreamLimiter
from asr.local.api.realtime import synthesis, transcription
from asr.local.api.realtime.client_secrets import ClientSecrets
from asr.local.api.realtime.events import EventSocket
from asr.local.api.realtime.synthesis import SynthesisSession
from asr.local.api.realtime.transcription import TranscriptionSession
from asr.local.api.recognition import RecognitionService
from asr.local.api.request_memory import LARGEST_CHUNK
from asr.local.errors import ApiError
from asr.local.options import PORT_HINT, ServerOptions
from asr.local.tts.synthesizer import Synthesizer
from tenor.web.servers import WebServer, listening_socket

log = structlog.get_logger(__name__)

_PROTOCOL = "realtime"
_SECRET_PREFIX = "realtime-token."


class HttpServer:
    def __init__(
        self,
        options: ServerOptions,
        recognition: RecognitionService,
        synthesizer: Synthesizer,
        limiter: StreamLimiter,
        ready: Callable[[], bool],
    ) -> None:
        self.port = 0
        self._options = options
        self._recognition = recognition
        self._synthesizer = synthesizer
        self._limiter = limiter
        self._ready = ready
        self._secrets = ClientSecrets()
        self._server: WebServer | None = None

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
        listener = listening_socket(self._options.host, self._options.http_port, PORT_HINT)
        self.port = int(listener.getsockname()[1])
        options = self._options
        self._server = WebServer(
            self.app(),
            listener,
            ws_max_size=LARGEST_CHUNK,
            lifespan="off",
            timeout_graceful_shutdown=1,
            ssl_certfile=options.tls_cert,
            ssl_keyfile=options.tls_key,
            ssl_ca_certs=str(options.tls_client_ca) if options.tls_client_ca else None,
            ssl_cert_reqs=ssl.CERT_REQUIRED if options.tls_client_ca else ssl.CERT_NONE,
        )
        await self._server.start()

    async def stop(self) -> None:
        if self._server is not None:
            await self._server.stop()
            self._server = None

    async def _live(self, request: Request) -> JSONResponse:
        return JSONResponse({"status": "live"})

    async def _ready_or_not(self, request: Request) -> JSONResponse:
        ready = self._ready()
        return JSONResponse({"status": "ready" if ready else "not ready"}, 200 if ready else 503)

    async def _voices(self, request: Request) -> JSONResponse:
        return JSONResponse({language: {"voices": names} for language, names in self._synthesizer.voices().items()})

    async def _transcription_session(self, request: Request) -> JSONResponse:
        return self._session(request, transcription.default_session(self._recognition))

    async def _synthesis_session(self, request: Request) -> JSONResponse:
        return self._session(request, synthesis.default_session(self._synthesizer))

    def _session(self, request: Request, session: dict[str, Any]) -> JSONResponse:
        if not self._ready():
            return JSONResponse({"detail": "the models are still loading"}, 503)
        if self._options.api_key:
            bearer = request.headers.get("authorization") or f"Bearer {request.headers.get('x-api-key', '')}"
            if not is_bearer(bearer, self._options.api_key):
                return JSONResponse(
                    {"detail": "a valid API key is needed"}, 401, {"WWW-Authenticate": "Bearer realm=tenor"}
                )
            secret, expires = self._secrets.issue()
            session["client_secret"] = {"value": secret, "expires_at": expires}
        return JSONResponse(session)

    async def _realtime(self, socket: WebSocket) -> None:
        offered = socket.scope.get("subprotocols", [])
        secrets = [name.removeprefix(_SECRET_PREFIX) for name in offered if name.startswith(_SECRET_PREFIX)]
        if self._options.api_key and not any(map(self._secrets.is_valid, secrets)):
            await socket.close(1008, "no valid client secret")
            return
        intent = socket.query_params.get("intent", "transcription")
        if intent not in ("transcription", "synthesize"):
            await socket.close(1008, f"unknown intent {intent}")
            return
        # The secret is never repeated in the answer, only the protocol's name.
        await socket.accept(_PROTOCOL if _PROTOCOL in offered else None)
        events = EventSocket(socket, self._options.idle_s)
        conversation = (
            TranscriptionSession(self._recognition, events)
            if intent == "transcription"
            else SynthesisSession(self._synthesizer, self._limiter, events)
        )
        try:
            await conversation.run()
            await socket.close()
        except WebSocketDisconnect:
            log.debug("realtime client left", intent=intent)
        except ApiError as error:
            log.info("refused", intent=intent, code=error.code.name, reason=error.text)
            await events.send_error(error)
        except Exception as error:
            log.error("failed", intent=intent, error=type(error).__name__, at=traceback_places(error))
            await events.send_error(ApiError(grpc.StatusCode.INTERNAL, f"internal error: {type(error).__name__}"))
