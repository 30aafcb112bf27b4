"""Listening sockets, and web servers inside our event loop."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
from typing import Any, Self

import uvicorn
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp

from tenor.errors import Unavailable
from tenor.web.protocols import HttpProtocol, WebSocketProtocol

STALLED_S = 300
"""How long somebody may read nothing of what they are sent: a browser that plays a recording pauses, too."""
QUIET_S, PROBE_S, PROBES = 60, 15, 4
"""After so long without a word the system asks whether the other side is still there, and how often."""


class PortInUse(Unavailable):
    """Somebody else listens there."""

    def __init__(self, host: str, port: int, hint: str) -> None:
        super().__init__(f"cannot listen on {host}:{port}: another server is running there", hint)


def listening_socket(host: str, port: int, hint: str) -> socket.socket:
    """A socket for a server to listen on; port 0 is any that is free. `hint` says what to do where it cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Connections inherit these. A close waits for what was not sent yet: without a limit for ever.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, STALLED_S * 1000)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, QUIET_S)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, PROBE_S)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, PROBES)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise PortInUse(host, port, hint) from None
        raise Unavailable(f"cannot listen on {host}:{port}: {error.strerror or error}", hint) from None
    return listener


def free_port(host: str, wanted: int) -> int:
    """The wanted port, or another one if somebody listens there. It is free now, and nobody promises for how long."""
    for port in (wanted, 0):
        try:
            with listening_socket(host, port, "") as listener:
                return int(listener.getsockname()[1])
        except PortInUse:
            continue
    raise Unavailable(f"{host} has no free port", "end some servers")


class BodyTooLarge(ValueError):
    """Somebody sends more than we read."""


async def limited_body(request: Request, most: int) -> bytes:
    """What is sent, counted as it comes: what a request says of its own length may be wrong."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most:
            raise BodyTooLarge(f"more than {most} bytes")
    return bytes(body)


def is_loopback(host: str) -> bool:
    """Whether a name or an address means this machine."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def client_network(connection: HTTPConnection) -> str:
    """Who asks: the address, and of IPv6 the network, which is what one household or office has."""
    host = connection.client.host if connection.client else ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return host
    if address.ipv4_mapped is not None:  # to a socket for both, all of IPv4 would be one network
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, 64), strict=False))


def is_forwarded(connection: HTTPConnection) -> bool:
    """Whether a proxy sends this. Behind one everybody looks like the proxy."""
    return any(name.startswith("x-forwarded-") or name == "forwarded" for name in connection.headers)


class WebServer:
    """uvicorn, started and stopped by hand: its own `serve` would take the signals, which belong to whoever runs the
    process. `options` are those of uvicorn's Config.

        async with WebServer(app, listener, lifespan="off"):
            ...  # served until here
    """

    def __init__(self, app: ASGIApp, listener: socket.socket, **options: Any) -> None:
        config = uvicorn.Config(
            app,
            http=HttpProtocol,
            ws=WebSocketProtocol,
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            **options,
        )
        config.load()
        self._server = uvicorn.Server(config)
        self._server.lifespan = config.lifespan_class(config)
        self._listener = listener
        self._ticks: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Requests are answered when this returns."""
        await self._server.startup([self._listener])
        if self._server.should_exit:
            raise RuntimeError("the web application did not start")
        self._ticks = asyncio.create_task(self._server.main_loop(), name="web server")

    async def stop(self) -> None:
        """Open requests have `timeout_graceful_shutdown` seconds to end."""
        if self._ticks is not None:
            self._ticks.cancel()
            self._ticks = None
            await self._server.shutdown([self._listener])

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.stop()
