"""How the local speech server is set up."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tenor.errors import BadInput
from tenor.settings import RivaSettings

PORT_HINT = "stop the other one, or choose another port with --port and --http-port"
_DEFAULTS = RivaSettings()


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """`RivaSettings` as the server needs them, with what only tests and programs of one's own set."""

    host: str = _DEFAULTS.host
    port: int = _DEFAULTS.port
    """gRPC; 0 takes a free one, and `RivaServer.port` tells which."""
    http_port: int | None = _DEFAULTS.http_port
    """Realtime WebSocket and health over HTTP; 0 takes a free one, None leaves them out."""
    tls_cert: Path | None = None
    tls_key: Path | None = None
    tls_client_ca: Path | None = None
    """Clients must show a certificate of this authority."""
    api_key: str = ""
    """When set, every call but health needs `authorization: Bearer <key>`."""
    max_streams: int = _DEFAULTS.max_streams
    """Recognitions at one time; the next is refused and told when to come again."""
    max_syntheses: int = 32
    request_memory_mb: int = _DEFAULTS.request_memory_mb
    """What requests may take while they arrive; recordings wait for half of it."""
    idle_s: float = _DEFAULTS.idle_s
    """A recognition stream without any message for this long is ended."""
    separate_channels: bool = True
    """Recognise several channels of one stream separately for clients that ask; real Riva cannot."""
    engine: str = _DEFAULTS.engine
    """Default recogniser; empty takes the engines' own default."""
    voice: str = _DEFAULTS.voice
    """`auto`, `ttspico`, `flite`, `espeak-ng`, `piper`, or `none`."""
    piper_model: Path | None = None
    """The .onnx file of a Piper voice, its .json beside it."""
    aliases: tuple[str, ...] = tuple(_DEFAULTS.aliases)
    """Names of others' models and voices that the default engine and the voice answer to."""
    grace_s: float = 10.0
    """How long open streams may go on after SIGTERM."""

    def __post_init__(self) -> None:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise BadInput("TLS needs both a certificate (tls_cert) and its key (tls_key)")
        if self.tls_client_ca is not None and self.tls_cert is None:
            raise BadInput("client certificates (tls_client_ca) need TLS: set tls_cert and tls_key")

    @classmethod
    def from_settings(cls, settings: RivaSettings, *, http: bool = True) -> ServerOptions:
        return cls(
            host=settings.host,
            port=settings.port,
            http_port=settings.http_port if http else None,
            tls_cert=_path(settings.cert_file),
            tls_key=_path(settings.key_file),
            tls_client_ca=_path(settings.client_ca_file),
            api_key=settings.api_key.get_secret_value(),
            max_streams=settings.max_streams,
            request_memory_mb=settings.request_memory_mb,
            idle_s=settings.idle_s,
            engine=settings.engine,
            voice=settings.voice,
            piper_model=_path(settings.piper_model),
            aliases=tuple(settings.aliases),
        )

    @property
    def secure(self) -> bool:
        return self.tls_cert is not None


def _path(text: str) -> Path | None:
    return Path(text) if text else None
