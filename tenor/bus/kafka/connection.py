"""How to reach Kafka: addresses, TLS and SASL for aiokafka's clients, patience, and what its errors mean."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from aiokafka import errors
from aiokafka.helpers import create_ssl_context

from tenor.bus.kafka.outage import OutageWatch
from tenor.errors import BadInput, Refused, TenorError, Unavailable
from tenor.settings import BusSettings

T = TypeVar("T")

CONNECT_S = 5.0
"""How long opening the bus waits for a broker: a person at a command sits in front of it."""
RETRY_S = 0.2


class KafkaConnection:
    def __init__(self, servers: list[str], settings: BusSettings) -> None:
        self.servers = servers
        self.settings = settings
        self._tls = _tls(settings) if settings.security.endswith("SSL") else None
        self.outage: OutageWatch | None = None
        """Of the bus, once it is open."""

    @property
    def where(self) -> str:
        return ", ".join(self.servers)

    def options(self) -> dict[str, Any]:
        """What every client of aiokafka is made with."""
        secure = self.settings
        options: dict[str, Any] = {
            "bootstrap_servers": self.servers,
            "client_id": "tenor",
            "security_protocol": secure.security,
            "ssl_context": self._tls,
        }
        if secure.security.startswith("SASL"):
            options |= {
                "sasl_mechanism": secure.sasl_mechanism,
                "sasl_plain_username": secure.sasl_user,
                "sasl_plain_password": secure.sasl_password.get_secret_value(),
            }
        return options

    async def started(
        self, make: Callable[[], T], stop: Callable[[T], Awaitable[None]], patience_s: float | None = None
    ) -> T:
        """A client of aiokafka, started; tried anew while Kafka is away."""

        async def attempt() -> T:
            client: Any = make()
            try:
                await client.start()
            except BaseException:
                await stop(client)
                raise
            await asyncio.sleep(0)  # aiokafka cannot stop tasks of its own that have not begun
            return client  # type: ignore[no-any-return]

        return await self.patiently(attempt, patience_s)

    async def patiently(self, attempt: Callable[[], Awaitable[T]], patience_s: float | None = None) -> T:
        """`attempt` again and again while Kafka is away, until patience runs out."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + (self.settings.patience_s if patience_s is None else patience_s)
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    return await attempt()
            except TimeoutError:
                raise self.away() from None
            except errors.KafkaError as error:
                if not error.retriable:
                    raise self.explained(error) from error
                if loop.time() + RETRY_S > deadline:
                    raise self.away() from error
            await asyncio.sleep(RETRY_S)

    def check(self) -> None:
        """Raises `Unavailable` once Kafka has been away for longer than patience lasts: nobody waits again then."""
        if self.outage is not None and self.outage.over:
            raise self.away()

    def away(self) -> Unavailable:
        if self.settings.security == "PLAINTEXT":
            hint = "start it (`make kafka` runs one here), or name another with bus.url"
        else:
            hint = f"is it running, and does it take {self.settings.security} with the user and certificates of [bus]?"
        return Unavailable(f"no Kafka at {self.where}", hint)

    def explained(self, error: errors.KafkaError) -> TenorError:
        if isinstance(error, errors.KafkaConnectionError | errors.KafkaTimeoutError):
            return self.away()
        text = str(error) or type(error).__name__
        if isinstance(error, errors.MessageSizeTooLargeError):
            return BadInput(
                f"Kafka does not take an event of this size: {text}", "raise max.message.bytes of the topic"
            )
        if isinstance(
            error,
            errors.TopicAuthorizationFailedError
            | errors.GroupAuthorizationFailedError
            | errors.ClusterAuthorizationFailedError,
        ):
            return Refused(f"Kafka does not allow it: {text}", "grant the user of bus.sasl_user read, write and create")
        return Unavailable(f"Kafka at {self.where} failed: {text}", "see the broker's log")


def _tls(settings: BusSettings) -> ssl.SSLContext:
    for name in ("ca_file", "cert_file", "key_file"):
        path = getattr(settings, name)
        try:
            if path:
                open(path, "rb").close()
        except OSError as error:
            raise BadInput(f"cannot read bus.{name} {path}: {error.strerror}") from None
    try:
        context: ssl.SSLContext = create_ssl_context(
            cafile=settings.ca_file or None, certfile=settings.cert_file or None, keyfile=settings.key_file or None
        )
    except ssl.SSLError as error:
        raise BadInput(f"the certificates of [bus] cannot be used: {error}") from None
    return context
