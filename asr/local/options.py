"""How the local speech server is set up."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tenor.errors import BadInput, Unavailable


class PortInUse(Unavailable):
    """Somebody else listens there."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(
            f"cannot listen on {host}:{port}: another server is running there",
            "stop the other one, or choose another port with --port and --http-port",
        )


@dataclass(frozen=True, slots=True)
class ServerOptions:
    host: str = "127.0.0.1"
    port: int = 50051
    """gRPC; 0 takes a free one, and `RivaServer.port` tells which."""
    http_port: int | None = 9000
    """Realtime WebSocket and health over HTTP; 0 takes a free one, None leaves them out."""
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
    piper_model: Path | None = None
    """The .onnx file of a Piper voice, its .json beside it."""
    grace_s: float = 10.0
    """How long open streams may go on after SIGTERM."""

    def __post_init__(self) -> None:
        if (self.tls_cert is None) != (self.tls_key is None):
            raise BadInput("TLS needs both a certificate (tls_cert) and its key (tls_key)")
        if self.tls_client_ca is not None and self.tls_cert is None:
            raise BadInput("client certificates (tls_client_ca) need TLS: set tls_cert and tls_key")

    @property
    def secure(self) -> bool:
        return self.tls_cert is not None
