"""Whoever sends half of something, sends it drop by drop or never reads: over real sockets, with short limits."""

from __future__ import annotations

import asyncio
import os
import struct
import time
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from tenor.web import protocols
from tenor.web.servers import WebServer, listening_socket

HEAD = b"POST /%s HTTP/1.1\r\nHost: x\r\n"


async def _whole(request: Request) -> PlainTextResponse:
    return PlainTextResponse(str(len(await request.body())))


async def _refusing(request: Request) -> PlainTextResponse:
    return PlainTextResponse("no", 413)


async def _slow(request: Request) -> PlainTextResponse:
    """Reads, but late."""
    await asyncio.sleep(1)
    return PlainTextResponse(str(len(await request.body())))


async def _echo(socket: WebSocket) -> None:
    await socket.accept()
    async for text in socket.iter_text():
        await socket.send_text(str(len(text)))


APP = Starlette(
    routes=[
        Route("/whole", _whole, methods=["GET", "POST"]),
        Route("/refusing", _refusing, methods=["POST"]),
        Route("/slow", _slow, methods=["POST"]),
        WebSocketRoute("/echo", _echo),
    ]
)


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[WebServer]:
    for name, value in {"HEAD_S": 0.4, "BODY_S": 0.4, "SLOWEST": 100_000, "LINGER_S": 0.4}.items():
        monkeypatch.setattr(protocols, name, value)
    with listening_socket("127.0.0.1", 0, "") as listener:
        async with WebServer(APP, listener, lifespan="off", timeout_graceful_shutdown=1) as made:
            made.port = listener.getsockname()[1]  # type: ignore[attr-defined]
            yield made


class Peer:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def send(self, *parts: bytes, every_s: float = 0.0) -> int:
        """How many parts could be sent; the server hung up on the others."""
        for number, part in enumerate(parts):
            try:
                self.writer.write(part)
                await self.writer.drain()
            except OSError:
                return number
            await asyncio.sleep(every_s)
        return len(parts)

    async def answer(self) -> bytes:
        """All that comes until it is hung up on."""
        said = b""
        with suppress(ConnectionError):
            async with asyncio.timeout(5):
                while piece := await self.reader.read(65536):
                    said += piece
        return said

    async def hung_up_on(self) -> float:
        began = time.monotonic()
        assert await self.answer() == b""
        return time.monotonic() - began


async def connect(server: WebServer) -> Peer:
    return Peer(*await asyncio.open_connection("127.0.0.1", server.port))  # type: ignore[attr-defined]


async def test_who_connects_and_says_nothing_is_hung_up_on(server: WebServer) -> None:
    assert 0.2 < await (await connect(server)).hung_up_on() < 3


async def test_half_a_head_is_hung_up_on_also_when_it_comes_drop_by_drop(server: WebServer) -> None:
    peer = await connect(server)
    await peer.send(HEAD % b"whole")
    assert await peer.hung_up_on() < 3
    peer = await connect(server)
    began = time.monotonic()
    assert await peer.send(*[b"X"] * 100, every_s=0.05) < 100
    assert time.monotonic() - began < 3


async def test_a_second_request_that_stops_half_way_is_hung_up_on(server: WebServer) -> None:
    peer = await connect(server)
    await peer.send(HEAD % b"whole" + b"Content-Length: 2\r\n\r\nab")
    assert (await peer.reader.read(1000)).startswith(b"HTTP/1.1 200")
    await peer.send(b"GET /wh")
    assert await peer.hung_up_on() < 3


@pytest.mark.parametrize("told", [b"Content-Length: 100000\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\nfff\r\n"])
async def test_half_a_body_is_hung_up_on(server: WebServer, told: bytes) -> None:
    peer = await connect(server)
    await peer.send(HEAD % b"whole" + told + b"half")
    assert await peer.hung_up_on() < 3


async def test_a_body_may_take_long_when_it_is_long_but_not_drop_by_drop(server: WebServer) -> None:
    peer = await connect(server)
    await peer.send(HEAD % b"whole" + b"Content-Length: 120000\r\n\r\n")
    await peer.send(*[bytes(10_000)] * 12, every_s=0.08)  # twice the time that a short one has
    assert (await peer.reader.read(1000)).endswith(b"120000")
    peer = await connect(server)
    await peer.send(HEAD % b"whole" + b"Content-Length: 120000\r\n\r\n")
    assert await peer.send(*[b"x"] * 100, every_s=0.05) < 100


async def test_who_waits_for_us_is_not_hung_up_on(server: WebServer) -> None:
    peer = await connect(server)
    await peer.send(HEAD % b"slow" + b"Content-Length: 3000000\r\n\r\n")
    await peer.send(bytes(3_000_000))
    assert (await peer.reader.read(1000)).endswith(b"3000000")


async def test_what_was_refused_is_not_taken_in_and_the_answer_arrives(server: WebServer) -> None:
    peer = await connect(server)
    sending = asyncio.create_task(
        peer.send(HEAD % b"refusing" + b"Content-Length: 200000000\r\n\r\n", *[bytes(1_000_000)] * 200)
    )
    assert (await peer.reader.read(1000)).startswith(b"HTTP/1.1 413")
    async with asyncio.timeout(5):
        assert await sending < 50, "of 200 MB nothing may be left to send but what lies in buffers of the system"


async def test_a_short_body_that_nobody_reads_keeps_the_connection(server: WebServer) -> None:
    peer = await connect(server)
    for _ in range(2):
        await peer.send(HEAD % b"refusing" + b"Content-Length: 10\r\n\r\n")
        assert (await peer.reader.read(1000)).startswith(b"HTTP/1.1 413")
        await peer.send(b"0123456789")


async def talking(server: WebServer) -> Peer:
    peer = await connect(server)
    upgrade = b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    key = b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    await peer.send(b"GET /echo HTTP/1.1\r\nHost: x\r\n" + upgrade + key)
    assert b" 101 " in await peer.reader.readuntil(b"\r\n\r\n")
    return peer


def frame(opcode: int, data: bytes = b"", *, last: bool = True) -> bytes:
    return struct.pack("!BB", (128 if last else 0) | opcode, 128 | len(data)) + bytes(4) + data


async def test_a_message_in_endless_pieces_of_nothing_is_ended(server: WebServer) -> None:
    peer = await talking(server)
    await peer.send(frame(1, b"ab", last=False) + frame(0, b"c"))
    assert await peer.reader.readexactly(3) == b"\x81\x013"
    await peer.send(frame(1, last=False), *[frame(0, last=False) * 100] * 20)
    ended = await peer.answer()
    assert not ended or struct.unpack("!H", ended[2:4]) == (1009,)


async def test_answers_to_pings_that_nobody_reads_do_not_pile_up(server: WebServer) -> None:
    peer = await talking(server)
    (connection,) = server._server.server_state.connections
    pings = frame(9, bytes(125)) * 1000
    with suppress(TimeoutError):
        async with asyncio.timeout(20):
            for _ in range(120):
                peer.writer.write(pings)
                await peer.writer.drain()
    assert connection.transport.get_write_buffer_size() < 1_000_000
    await peer.send(frame(9, b"last") + frame(1, os.urandom(3).hex().encode()))
    said = b""
    async with asyncio.timeout(20):
        while b"\x8a\x04last" not in said or b"\x81\x016" not in said:
            said = said[-100:] + await peer.reader.read(65536)
