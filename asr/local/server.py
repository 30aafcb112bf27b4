"""The local speech server: Riva's gRPC services, and its realtime protocol over HTTP, on a CPU."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import grpc
import structlog
from grpc_reflection.v1alpha import reflection
from riva.client.proto import health_pb2_grpc, riva_asr_pb2_grpc, riva_nmt_pb2_grpc, riva_tts_pb2_grpc

from asr.local.api import health, recognition, synthesis, translation
from asr.local.api.auth import AuthInterceptor
from asr.local.api.health import HealthService
from asr.local.api.http import HttpServer
from asr.local.api.limits import StreamLimiter
from asr.local.api.recognition import RecognitionService
from asr.local.api.request_memory import LARGEST_MESSAGE, RequestMemory
from asr.local.api.synthesis import SynthesisService
from asr.local.api.translation import TranslationService
from asr.local.options import PORT_HINT, ServerOptions
from asr.local.stt.types import Recognizer
from asr.local.tts.synthesizer import Synthesizer
from asr.local.tts.voices import Voice, find_voice
from tenor.aio import in_thread, run_to_completion
from tenor.web.servers import PortInUse

log = structlog.get_logger(__name__)

HANDSHAKE_MS = 10_000
_CHANNEL = (
    ("grpc.max_receive_message_length", LARGEST_MESSAGE),
    ("grpc.max_send_message_length", LARGEST_MESSAGE),
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.keepalive_time_ms", 60_000),
    # Connections that say nothing, and those that have had no call for a while: clients connect again by themselves.
    ("grpc.server_handshake_timeout_ms", HANDSHAKE_MS),
    ("grpc.max_connection_idle_ms", 600_000),
    # Without this a second server on the same port starts, and they share the calls at random.
    ("grpc.so_reuseport", 0),
)

_FURTHER_CALLS = 200
"""Beyond recognitions and syntheses, among them those that will be told that all places are taken."""
REFRESH_S = 1.0
"""How often it is looked for promoted models."""

Register = Callable[[grpc.aio.Server], None]


class RivaServer:
    """A stage; or by hand with `start` and `stop`.

    Answers health calls from `start` on, and all others once `open` has given it a recogniser.

    Without a `voice` it takes the one its options name. `services` are further gRPC services by full
    name, each with what registers it: the command line adds the language service here.
    """

    name = "riva"

    def __init__(
        self,
        options: ServerOptions,
        recognizer: Recognizer | None = None,
        voice: Voice | None = None,
        services: Mapping[str, Register] | None = None,
        *,
        load_recognizer: Callable[[], Recognizer] | None = None,
    ) -> None:
        self.options = options
        self.opened = asyncio.Event()
        """Set when it serves."""
        self._load_recognizer = load_recognizer
        self.port = 0
        self._further = dict(services or {})
        memory = self._memory = RequestMemory(options.request_memory_mb << 20)
        self._watching: asyncio.Task[None] | None = None
        self._recognitions = StreamLimiter(options.max_streams, "recognition")
        self._recognition = RecognitionService(
            self._recognitions,
            engine=options.engine,
            idle_s=options.idle_s,
            memory=memory,
            separate_channels=options.separate_channels,
            aliases=options.aliases,
        )
        self._syntheses = StreamLimiter(options.max_syntheses, "synthesis")
        self._synthesizer = Synthesizer(voice or find_voice(options.voice, options.piper_model), options.aliases)
        self._synthesis = SynthesisService(self._synthesizer, self._syntheses, options.idle_s, memory)
        self._auth = AuthInterceptor(options.api_key, options.idle_s, memory)
        self._names = (recognition.SERVICE, synthesis.SERVICE, translation.SERVICE, *self._further)
        self._health = HealthService(self._names)
        self._server: grpc.aio.Server | None = None
        self._http = HttpServer(options, self._recognition, self._synthesizer, self._syntheses, lambda: self.ready)
        if recognizer is not None:
            self.open(recognizer)

    @property
    def http_port(self) -> int:
        return self._http.port

    @property
    def streams(self) -> int:
        """Recognitions open now."""
        return len(self._recognitions)

    @property
    def ready(self) -> bool:
        return self._health.serving

    def open(self, recognizer: Recognizer) -> None:
        """The models are there: begin to serve."""
        self._recognition.open(recognizer)
        self._health.serving = True
        self.opened.set()

    async def waits_for(self) -> str:
        return "" if self.ready else "its models"

    async def run(self) -> None:
        """As a stage, until cancelled: listens at once and says it is loading while the models load."""
        assert self._load_recognizer is not None
        recognizer: Recognizer | None = None
        await self.start()
        try:
            recognizer = await asyncio.to_thread(self._load_recognizer)
            self.open(recognizer)
            log.info("serving", engines=[engine.name for engine in recognizer.engines])
            while True:
                await asyncio.sleep(REFRESH_S)
                await in_thread(recognizer.refresh)
        finally:
            await self.stop()
            if recognizer is not None:
                recognizer.close()

    async def start(self) -> None:
        calls = self.options.max_streams + self.options.max_syntheses + _FURTHER_CALLS
        server = grpc.aio.server(interceptors=(self._auth,), options=_CHANNEL, maximum_concurrent_rpcs=calls)
        riva_asr_pb2_grpc.add_RivaSpeechRecognitionServicer_to_server(self._recognition, server)
        riva_tts_pb2_grpc.add_RivaSpeechSynthesisServicer_to_server(self._synthesis, server)
        riva_nmt_pb2_grpc.add_RivaTranslationServicer_to_server(TranslationService(), server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        for register in self._further.values():
            register(server)
        reflection.enable_server_reflection((*self._names, health.SERVICE, reflection.SERVICE_NAME), server)
        self.port = self._bind(server)
        await server.start()
        self._server = server
        self._watching = asyncio.create_task(self._memory.watch(), name="memory of requests")
        if self.options.http_port is not None:
            try:
                await self._http.start()
            except BaseException:
                await self.stop(0)
                raise
        log.info(
            "listening",
            host=self.options.host,
            port=self.port,
            http_port=self.http_port,
            tls=self.options.secure,
            voice=self._synthesizer.voice.name if self._synthesizer.voice else None,
        )

    async def stop(self, grace: float | None = None) -> None:
        """Refuse what is new, let what is open finish, then end it with UNAVAILABLE."""
        if self._server is None:
            return
        self._health.serving = False
        self._auth.draining = True
        grace = self.options.grace_s if grace is None else grace
        await asyncio.gather(self._recognitions.drain(grace), self._syntheses.drain(grace))
        await self._http.stop()
        # What is left are health watches: they have seen the last change and may go.
        await run_to_completion(self._server.stop(0.1))  # gRPC complains of a stop that is itself stopped
        self._server = None
        if self._watching is not None:
            self._watching.cancel()
        self._synthesizer.close()

    def _bind(self, server: grpc.aio.Server) -> int:
        address = f"{self.options.host}:{self.options.port}"
        try:
            if self.options.secure:
                return int(server.add_secure_port(address, self._credentials()))
            return int(server.add_insecure_port(address))
        except RuntimeError as error:
            raise PortInUse(self.options.host, self.options.port, PORT_HINT) from error

    def _credentials(self) -> Any:
        options = self.options
        assert options.tls_cert is not None
        assert options.tls_key is not None
        authority = options.tls_client_ca.read_bytes() if options.tls_client_ca else None
        return grpc.ssl_server_credentials(
            [(options.tls_key.read_bytes(), options.tls_cert.read_bytes())],
            root_certificates=authority,
            require_client_auth=authority is not None,
        )
