"""The address a platform dialled: what its signature is made over, seen through any proxy."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import HTTPConnection


def request_target(connection: HTTPConnection) -> str:
    """Path and query exactly as they came."""
    raw = connection.scope.get("raw_path") or connection.scope["path"].encode()
    query = connection.scope.get("query_string", b"")
    return str((raw + b"?" + query if query else raw).decode("latin-1"))


def addresses(connection: HTTPConnection, public_url: str) -> list[tuple[str, str]]:
    """(authority, target) pairs under which the platform may know this request, the surest first.

    A forged header gains nothing: whoever forges it still cannot sign."""
    target = request_target(connection)
    if public_url:
        public = urlsplit(public_url)
        prefix = public.path.rstrip("/")
        return [(public.netloc, target), (public.netloc, target if target.startswith(prefix) else prefix + target)]
    headers = connection.headers
    hosts = [headers.get("x-forwarded-host", "").split(",")[0].strip(), headers.get("host", "")]
    prefix = headers.get("x-forwarded-prefix", "").rstrip("/")
    return [(host, prefix + target) for host in hosts if host]
