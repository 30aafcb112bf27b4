"""Which bus a URL means."""

from __future__ import annotations

import re
from pathlib import Path

from tenor.bus import Bus
from tenor.errors import BadInput, Refused
from tenor.settings import Settings
from tenor.web.servers import is_loopback

FORMS = "sqlite:///relative/bus.db, sqlite:////absolute/bus.db or kafka://host:9092[,host:9092]"


def _refuse_open_network(settings: Settings, servers: list[str]) -> None:
    """Redaction changes text; what was said still goes over the bus as audio, which nobody on the way may hear."""
    remote = [server for server in servers if not is_loopback(server.rpartition(":")[0])]
    if settings.redacts and remote and not settings.bus.security.endswith("SSL") and not settings.bus.trusted_network:
        raise Refused(
            f"redaction is on, but audio would travel unencrypted to {', '.join(remote)}",
            "encrypt it (bus.security = SSL or SASL_SSL); or, where the network between Tenor and Kafka is closed to "
            "others, say so with bus.trusted_network = true",
        )


def open_bus(settings: Settings) -> Bus:
    """The bus of `settings`, to be used as `async with open_bus(settings) as bus`."""
    url = settings.bus_url
    scheme, separator, rest = url.partition("://")
    if not separator:
        raise BadInput(f"{url!r} is no address of a bus", f"bus.url is {FORMS}")
    if scheme == "sqlite":
        if not rest.startswith("/") or rest == "/":
            raise BadInput(f"{url!r} names no file", f"bus.url is {FORMS}")
        from tenor.bus.embedded.bus import EmbeddedBus

        return EmbeddedBus(Path(rest[1:]), settings.bus)
    if scheme == "kafka":
        servers = [server.strip() for server in rest.rstrip("/").split(",")]
        for server in servers:
            if not re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]@]+):[0-9]{1,5}", server):
                raise BadInput(f"{server!r} in {url!r} is not host:port", f"bus.url is {FORMS}")
        _refuse_open_network(settings, servers)
        from tenor.bus.kafka.bus import KafkaBus  # aiokafka takes a while to import

        return KafkaBus(servers, settings.bus)
    raise BadInput(f"a bus cannot be reached by {scheme}://", f"bus.url is {FORMS}")
