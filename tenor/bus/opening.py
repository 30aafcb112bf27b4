"""Which bus a URL means."""

from __future__ import annotations

import re
from pathlib import Path

from tenor.bus import Bus
from tenor.errors import BadInput
from tenor.settings import Settings

FORMS = "sqlite:///relative/bus.db, sqlite:////absolute/bus.db or kafka://host:9092[,host:9092]"


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
        from tenor.bus.kafka.bus import KafkaBus  # aiokafka takes a while to import

        return KafkaBus(servers, settings.bus)
    raise BadInput(f"a bus cannot be reached by {scheme}://", f"bus.url is {FORMS}")
