"""Which web sites' pages may speak to us in the name of whoever looks at them."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import HTTPConnection


def is_allowed_origin(connection: HTTPConnection, origins: list[str]) -> bool:
    """Whether the page that asks is ours or one of the settings. Programs that are no browsers name none."""
    origin = connection.headers.get("origin")
    if origin is None or origin in origins:
        return True
    return bool(origin) and urlsplit(origin).netloc == connection.headers.get("host")
