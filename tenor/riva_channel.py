"""The connection to a Riva server, as `speech` names it: for recognition, synthesis and language services alike."""

from __future__ import annotations

from typing import Any

from riva.client.auth import create_channel

from tenor.errors import BadInput
from tenor.settings import SpeechSettings

_OPTIONS = [
    # A server that vanished without a word is noticed in half a minute; Riva accepts pings 10 s apart.
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.min_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 5_000),
    ("grpc.max_receive_message_length", 16 * 1024 * 1024),
]


def open_channel(speech: SpeechSettings, *, use_aio: bool = True) -> Any:
    """A gRPC channel with the certificates of the settings; it connects when it is first used."""
    try:
        return create_channel(
            ssl_root_cert=speech.root_cert or None,
            ssl_client_cert=speech.client_cert or None,
            ssl_client_key=speech.client_key or None,
            use_ssl=speech.tls,
            uri=speech.address,
            options=_OPTIONS,
            use_aio=use_aio,
        )
    except OSError as error:
        raise BadInput(
            f"Cannot read a certificate for the Riva server: {error.filename}",
            "Check speech.root_cert, speech.client_cert and speech.client_key.",
        ) from None
