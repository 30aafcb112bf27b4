"""The local speech server: Riva's gRPC services, and its realtime protocol over HTTP, on a CPU."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import structlog
from grpc_reflection.v1alpha import reflection
from riva.client.proto import health_pb2_grpc, riva_asr_pb2_grpc, riva_nmt_pb2_grpc

from asr.local import health, recognition, translation
from asr.local.guard import Guard
from asr.local.health import Health
from asr.local.hearing import Ears
from asr.local.recognition import Recognition
from asr.local.streams import Streams
from asr.local.translation import Translation

log = structlog.get_logger(__name__)

_LARGEST_MESSAGE = 128 * 1024 * 1024
_CHANNEL = (
    ("grpc.max_receive_message_length", _LARGEST_MESSAGE),
    ("grpc.max_send_message_length", _LARGEST_MESSAGE),
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.keepalive_time_ms", 60_000),
    # Without this a second server on the same port starts, and they share the calls at random.
    ("grpc.so_reuseport", 0),
)

Register = Callable[[grpc.aio.Server], None]


class PortInUse(OSError):
    """Somebody else listens there."""


@dataclass(frozen=True, slots=True)
class ServerOptions:
    host: str = "127.0.0.1"
    port: int = 50051
    """0 takes a free one; `RivaServer.port` tells which."""
    http_port: int | None = 9000
    """Realtime WebSocket and health over HTTP; None leaves them out."""
    tls_cert: Path | None = None
    tls_key: Path | None = None
    tls_client_ca: Path | None = None
    """Clients must show a certificate of this authority."""
    api_key: str = ""
    """When set, every call but health needs `authorization: Bearer <key>`."""
    max_streams: int = 32
    """Recognitions at one time; the next is refused and told when to come again."""
    max_syntheses: int = 32
    idle_s: float = 60.0
    """A recognition stream without any message for this long is ended."""
    separate_channels: bool = True
    """Hear several channels of one stream separately for clients that ask; real Riva cannot."""
    engine: str = ""
    """Default recogniser; empty takes the engines' own default."""
    voice: str = "auto"
    """`auto`, `ttspico`, `flite`, `espeak-ng`, `piper`, or `none`."""
    grace_s: float = 10.0
    """How long open streams may go on after SIGTERM."""

    @property
    def secure(self) -> bool:
        return self.tls_cert is not None


class RivaServer:
    """Answers health calls from `start` on, and all others once `open` has given it ears.

    `services` are further gRPC services by full name, each with what registers it: the command
    line adds the language service here.
    """

    def __init__(
        self,
        options: ServerOptions,
        ears: Ears | None = None,
        services: Mapping[str, Register] | None = None,
    ) -> None:
        self.options = options
        self.port = 0
        self._further = dict(services or {})
        self._recognitions = Streams(options.max_streams)
        self._recognition = Recognition(
            self._recognitions,
            engine=options.engine,
            idle_s=options.idle_s,
            separate_channels=options.separate_channels,
        )
        self._guard = Guard(options.api_key)
        self._names = (recognition.SERVICE, translation.SERVICE, *self._further)
        self._health = Health(self._names)
        self._server: grpc.aio.Server | None = None
        if ears is not None:
            self.open(ears)

    @property
    def streams(self) -> int:
        """Recognitions open now."""
        return len(self._recognitions)

    @property
    def ready(self) -> bool:
        return self._health.serving

    def open(self, ears: Ears) -> None:
        """The models are there: begin to serve."""
        self._recognition.open(ears)
        self._health.serving = True

    async def start(self) -> None:
        server = grpc.aio.server(interceptors=(self._guard,), options=_CHANNEL)
        riva_asr_pb2_grpc.add_RivaSpeechRecognitionServicer_to_server(self._recognition, server)
        riva_nmt_pb2_grpc.add_RivaTranslationServicer_to_server(Translation(), server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        for register in self._further.values():
            register(server)
        reflection.enable_server_reflection((*self._names, health.SERVICE, reflection.SERVICE_NAME), server)
        self.port = self._bind(server)
        await server.start()
        self._server = server
        log.info("listening", host=self.options.host, port=self.port, tls=self.options.secure)

    async def stop(self, grace: float | None = None) -> None:
        """Refuse what is new, let what is open finish, then end it with UNAVAILABLE."""
        if self._server is None:
            return
        self._health.serving = False
        self._guard.draining = True
        await self._recognitions.drain(self.options.grace_s if grace is None else grace)
        await self._server.stop(1.0)
        self._server = None

    def _bind(self, server: grpc.aio.Server) -> int:
        address = f"{self.options.host}:{self.options.port}"
        try:
            if self.options.secure:
                return int(server.add_secure_port(address, self._credentials()))
            return int(server.add_insecure_port(address))
        except RuntimeError as error:
            raise PortInUse(f"cannot listen on {address}: is another server running there?") from error

    def _credentials(self) -> Any:
        options = self.options
        assert options.tls_cert is not None
        if options.tls_key is None:
            raise ValueError("a TLS certificate needs its key (tls_key)")
        authority = options.tls_client_ca.read_bytes() if options.tls_client_ca else None
        return grpc.ssl_server_credentials(
            [(options.tls_key.read_bytes(), options.tls_cert.read_bytes())],
            root_certificates=authority,
            require_client_auth=authority is not None,
        )


async def serve(
    options: ServerOptions, load_ears: Callable[[], Ears], services: Mapping[str, Register] | None = None
) -> None:
    """Run until SIGTERM or SIGINT. Listens at once and says it is loading while the models load."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    server = RivaServer(options, services=services)
    await server.start()
    ears: Ears | None = None
    try:
        ears = await asyncio.to_thread(load_ears)
        server.open(ears)
        log.info("serving", engines=[engine.name for engine in ears.engines])
        await stopping.wait()
    finally:
        await server.stop()
        if ears is not None:
            ears.close()
