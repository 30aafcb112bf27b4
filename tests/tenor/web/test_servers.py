"""Sockets to listen on, and the web server that the gateway, the dashboard and the speech server share."""

from __future__ import annotations

import asyncio
import signal
import time

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from tenor.errors import Unavailable
from tenor.web.servers import PortInUse, WebServer, client_network, listening_socket

HOST = "127.0.0.1"


async def _hello(request: Request) -> PlainTextResponse:
    return PlainTextResponse("hello")


async def _never(request: Request) -> PlainTextResponse:
    await asyncio.Event().wait()
    return PlainTextResponse("never")


APP = Starlette(routes=[Route("/", _hello), Route("/never", _never)])


async def _get(port: int, path: str = "/") -> httpx.Response:
    async with httpx.AsyncClient(trust_env=False, timeout=5) as client:
        return await client.get(f"http://{HOST}:{port}{path}")


async def test_it_answers_until_it_is_stopped_and_leaves_the_signals_alone() -> None:
    before = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]
    listener = listening_socket(HOST, 0, "")
    port = listener.getsockname()[1]
    async with WebServer(APP, listener, lifespan="off"):
        assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)] == before
        answer = await _get(port)
        assert (answer.text, "server" in answer.headers) == ("hello", False)
    with pytest.raises(httpx.ConnectError):
        await _get(port)


async def test_a_request_that_never_ends_does_not_keep_it_from_stopping() -> None:
    listener = listening_socket(HOST, 0, "")
    server = WebServer(APP, listener, lifespan="off", timeout_graceful_shutdown=1)
    await server.start()
    asking = asyncio.create_task(_get(listener.getsockname()[1], "/never"))
    await asyncio.sleep(0.2)
    began = time.monotonic()
    await server.stop()
    assert time.monotonic() - began < 4
    await asyncio.wait([asking])
    assert asking.exception() is not None or not asking.result().is_success


async def test_it_can_be_stopped_before_it_was_started() -> None:
    listener = listening_socket(HOST, 0, "")
    with listener:
        await WebServer(APP, listener, lifespan="off").stop()


def test_a_port_that_is_taken_says_what_to_do() -> None:
    with listening_socket(HOST, 0, "") as first:
        first.listen()
        port = first.getsockname()[1]
        with pytest.raises(
            PortInUse, match=f"cannot listen on {HOST}:{port}: another server is running there"
        ) as error:
            listening_socket(HOST, port, "choose another port")
    assert error.value.hint == "choose another port"


def test_an_address_that_is_not_ours_is_said_to_be() -> None:
    with pytest.raises(Unavailable, match=r"cannot listen on 192\.0\.2\.1:0: Cannot assign requested address"):
        listening_socket("192.0.2.1", 0, "")


def test_ipv6() -> None:
    with listening_socket("::1", 0, "") as listener:
        assert listener.getsockname()[0] == "::1"


async def _who(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"{request.client.host if request.client else ''} {client_network(request)}")


async def test_a_server_for_both_kinds_of_addresses_tells_those_of_ipv4_apart() -> None:
    """All of IPv4 is one network of IPv6: one visitor could use up what all others may have."""
    listener = listening_socket("::", 0, "")
    port = listener.getsockname()[1]
    options = {"proxy_headers": True, "forwarded_allow_ips": "127.0.0.0/8"}
    async with (
        WebServer(Starlette(routes=[Route("/", _who)]), listener, lifespan="off", **options),
        httpx.AsyncClient() as client,
    ):

        async def told(**headers: str) -> str:
            return (await client.get(f"http://127.0.0.1:{port}/", headers=headers)).text

        assert await told() == "127.0.0.1 127.0.0.1"
        proxied = {"X-Forwarded-For": "198.51.100.7, 203.0.113.9"}
        assert await told(**proxied) == "203.0.113.9 203.0.113.9", "the proxy is known, and its last word counts"
        mapped = {"X-Forwarded-For": "::ffff:203.0.113.9"}
        assert (await told(**mapped)).endswith(" 203.0.113.9")
        assert (await told(**{"X-Forwarded-For": "2001:db8::7"})).endswith(" 2001:db8::/64")
