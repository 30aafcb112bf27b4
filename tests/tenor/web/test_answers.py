"""What others answer is read up to a size, and never unpacked beyond it."""

from __future__ import annotations

import asyncio
import gzip
import tracemalloc
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from tenor.web.answers import ACCEPTED, AnswerTooLarge, limited_answer

MB = 1 << 20


@asynccontextmanager
async def serving(body: bytes, encoding: str) -> AsyncIterator[str]:
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nContent-Encoding: {encoding}\r\n\r\n".encode()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head + body)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"


async def asked(body: bytes, encoding: str, most: int = MB) -> bytes:
    async with (
        serving(body, encoding) as url,
        httpx.AsyncClient() as client,
        client.stream("GET", url, headers=ACCEPTED) as answer,
    ):
        return await limited_answer(answer, most)


async def test_a_packed_answer_is_read() -> None:
    assert await asked(b"plain", "identity") == b"plain"
    assert await asked(gzip.compress(b"packed" * 100), "GZip") == b"packed" * 100
    assert await asked(zlib.compress(b"packed"), "deflate") == b"packed"


@pytest.mark.parametrize("times", [1, 2])
async def test_what_is_packed_small_does_not_become_large(times: int) -> None:
    packed = bytes(100 * MB)
    for _ in range(times):
        packed = gzip.compress(packed, 1 if times == 1 else 6)
    tracemalloc.start()
    try:
        with pytest.raises((AnswerTooLarge, httpx.DecodingError)):
            await asked(packed, ", ".join(["gzip"] * times))
        assert tracemalloc.get_traced_memory()[1] < 5 * MB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("body", "encoding"), [(b"no gzip", "gzip"), (b"x", "br"), (b"x", "gzip, identity")])
async def test_what_cannot_be_unpacked_is_no_answer(body: bytes, encoding: str) -> None:
    with pytest.raises(httpx.DecodingError):
        await asked(body, encoding)


async def test_the_limit_itself_is_allowed() -> None:
    assert len(await asked(gzip.compress(bytes(MB)), "gzip")) == MB
    with pytest.raises(AnswerTooLarge):
        await asked(bytes(MB + 1), "identity")
