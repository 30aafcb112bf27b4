"""A web server that answers as it is told: properly, late, never, or with rubbish."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

HANG = b""


@dataclass
class Request:
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Web:
    """Answers by path: the first of its answers first, the last one from then on."""

    answers: dict[str, list[bytes]]
    port: int = 0
    requests: list[Request] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def to(self, path: str) -> list[Request]:
        return [request for request in self.requests if request.path == path]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await _read(reader)
            self.requests.append(request)
            answers = self.answers.get(request.path, [status(404)])
            answer = answers[min(len(self.to(request.path)), len(answers)) - 1]
            if answer == HANG:
                await reader.read()  # until the other side has had enough
                self.dropped.append(request.path)
            writer.write(answer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


def status(code: int, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {code} So", "Content-Length: 0", "Connection: close", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def _read(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    pairs = (line.split(": ", 1) for line in head[1:] if line)
    headers = {name.lower(): value for name, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(head[0].split()[1], headers, body)


@asynccontextmanager
async def serving(**answers: list[bytes]) -> AsyncIterator[Web]:
    web = Web({f"/{name}": given for name, given in answers.items()})
    server = await asyncio.start_server(web._serve, "127.0.0.1", 0)
    web.port = server.sockets[0].getsockname()[1]
    try:
        yield web
    finally:
        server.close()
