"""A server on a free port, in a thread of its own, so that the official blocking clients can be used on it."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import pytest
import riva.client

from asr.local.options import ServerOptions
from asr.local.server import RivaServer
from asr.local.stt import interim
from asr.local.stt.decode_pool import DecodePool
from asr.local.stt.types import Recognizer
from asr.local.tts.voices import Voice
from tests.asr.local.scripted import ScriptedRecognizer


class Running:
    def __init__(self, server: RivaServer, loop: asyncio.AbstractEventLoop) -> None:
        self.server = server
        self._loop = loop

    @property
    def address(self) -> str:
        return f"localhost:{self.server.port}"

    @property
    def http(self) -> str:
        return f"localhost:{self.server.http_port}"

    def call(self, coroutine: Any) -> Any:
        """Run something in the server's loop."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(30)

    def channel(self) -> grpc.Channel:
        return grpc.insecure_channel(self.address, options=[("grpc.max_send_message_length", -1)])

    def auth(self, **more: Any) -> riva.client.Auth:
        return riva.client.Auth(uri=self.address, **more)


@contextmanager
def running(
    recognizer: Recognizer | None,
    voice: Voice | None = None,
    services: dict[str, Callable[[Any], None]] | None = None,
    **options: Any,
) -> Iterator[Running]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def start() -> RivaServer:
        wanted = ServerOptions(**{"host": "127.0.0.1", "port": 0, "http_port": None, "voice": "none", **options})
        server = RivaServer(wanted, recognizer, voice, services)
        await server.start()
        return server

    try:
        server = asyncio.run_coroutine_threadsafe(start(), loop).result(30)
        yield Running(server, loop)
        asyncio.run_coroutine_threadsafe(server.stop(0.2), loop).result(30)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


@pytest.fixture
def recognizer() -> ScriptedRecognizer:
    return ScriptedRecognizer()


@pytest.fixture
def riva_server(recognizer: ScriptedRecognizer) -> Iterator[Running]:
    with running(recognizer) as server:
        yield server


@pytest.fixture
def every_interim(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interims wait their turn: otherwise they are left out, as they should be, while other tests keep the machine
    busy."""
    monkeypatch.setattr(interim, "_AHEAD_S", -math.inf)
    monkeypatch.setattr(interim, "_PATIENCE_S", None)
    monkeypatch.setattr(DecodePool, "offer", DecodePool.submit)
