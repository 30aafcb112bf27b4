"""A server on loopback that speaks the shapes of the real APIs, and misbehaves when told to."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest


@dataclass
class Asked:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


@dataclass
class Reply:
    body: Any = None
    """JSON, or bytes as they are."""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    kind: str = "application/json"
    after_s: float = 0.0


class ApiServer:
    """`replies[path]` is what a path answers: a Reply, a list of them (the last stays), or a function."""

    def __init__(self) -> None:
        self.replies: dict[str, Reply | list[Reply] | Callable[[Asked], Reply]] = {}
        self.asked: list[Asked] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def reply(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        found = self.replies.get(asked.path, Reply({"error": "there is no such path"}, 404))
        if isinstance(found, list):
            return found.pop(0) if len(found) > 1 else found[0]
        return found(asked) if callable(found) else found

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                split = urlsplit(self.path)
                query = {name: values[0] for name, values in parse_qs(split.query).items()}
                length = int(self.headers.get("content-length", 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                asked = Asked(self.command, split.path, query, headers, self.rfile.read(length))
                reply = server.reply(asked)
                time.sleep(reply.after_s)
                body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                try:
                    self.send_response(reply.status)
                    for name, value in {"content-type": reply.kind, **reply.headers}.items():
                        self.send_header(name, value)
                    self.send_header("content-length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:  # the client has hung up
                    self.close_connection = True

            def do_POST(self) -> None:
                self.do_GET()

            def log_message(self, *_: Any) -> None:
                pass

        return Handler


@pytest.fixture
def server() -> Iterator[ApiServer]:
    running = ApiServer()
    yield running
    running.close()


HTML = Reply(b"<!doctype html><title>Sign in</title>", kind="text/html")
MISBEHAVING = {
    "html": HTML,
    "empty": Reply(b""),
    "not json": Reply(b'{"businesses": ['),
    "huge": Reply(b'["' + b"x" * (10 << 20) + b'"]'),
    "deep": Reply(b"[" * 100_000),
    "a list": Reply([1, 2]),
    "a text": Reply("hello"),
    "null": Reply(None),
    "500": Reply({"error": "secret internals"}, 500),
    "403": Reply({"error": "key abc is wrong"}, 403),
    "moved": Reply({}, 302, {"location": "http://127.0.0.1:1/elsewhere"}),
    "wrong types": Reply({"daily": "sunny", "businesses": "many", "itemSummaries": 7, "current": 3, "results": "x"}),
}


@pytest.fixture(params=MISBEHAVING)
def misbehaving(request: pytest.FixtureRequest) -> Reply:
    return MISBEHAVING[request.param]
