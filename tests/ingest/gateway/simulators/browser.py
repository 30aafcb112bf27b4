"""A browser: the page's messages over a WebSocket, 40 ms of 16 kHz samples at a time, and a loudspeaker that plays in
real time."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from typing import Any, Self

import numpy as np
from websockets.asyncio.client import ClientConnection, connect

from tenor.g711 import Samples

RATE = 16_000
FRAME = RATE // 25


class BrowserPage:
    """`async with BrowserPage(...) as page` has sent its ticket."""

    def __init__(
        self, port: int, session: str, ticket: str, *, origin: str = "", microphone: bool = True, speech: bool = True
    ) -> None:
        self._url = f"ws://127.0.0.1:{port}/browser"
        self._start = {
            "type": "start", "session": session, "ticket": ticket, "microphone": microphone, "speech": speech,
        }  # fmt: skip
        self._headers = {"Origin": origin} if origin else {}
        self.messages: list[dict[str, Any]] = []
        self.cleared_at: list[float] = []
        self.heard = bytearray()
        """What the loudspeaker has played."""
        self.closed = asyncio.Event()
        self.socket: ClientConnection
        self._waiting: deque[bytes | str] = deque()

    async def __aenter__(self) -> Self:
        self.socket = await connect(self._url, additional_headers=self._headers, compression=None)
        await self.send(self._start)
        self._tasks = [asyncio.create_task(self._receive()), asyncio.create_task(self._play())]
        return self

    async def __aexit__(self, *exc: object) -> None:
        for task in self._tasks:
            task.cancel()
        await self.socket.close()

    async def send(self, message: dict[str, Any]) -> None:
        await self.socket.send(json.dumps(message))

    async def speak(self, samples: Samples, *, paced: bool = True) -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        for number, at in enumerate(range(0, len(samples), FRAME), 1):
            await self.socket.send(samples[at : at + FRAME].astype("<i2").tobytes())
            if paced:
                await asyncio.sleep(max(0.0, began + number * 0.04 - loop.time()))

    async def silence(self, seconds: float) -> None:
        await self.speak(np.zeros(round(RATE * seconds), np.int16))

    def told(self, kind: str) -> list[dict[str, Any]]:
        return [message for message in self.messages if message["type"] == kind]

    async def _receive(self) -> None:
        try:
            async for data in self.socket:
                if isinstance(data, bytes):
                    assert len(data) == 2 * RATE // 50
                    self._waiting.append(data)
                    continue
                message = json.loads(data)
                self.messages.append(message)
                if message["type"] == "mark":
                    self._waiting.append(message["name"])
                elif message["type"] == "clear":
                    self.cleared_at.append(asyncio.get_running_loop().time())
                    marks = [one for one in self._waiting if isinstance(one, str)]
                    self._waiting.clear()
                    for name in marks:
                        await self.send({"type": "mark", "name": name})
        finally:
            self.closed.set()

    async def _play(self) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            while self._waiting and isinstance(self._waiting[0], str):
                await self.send({"type": "mark", "name": self._waiting.popleft()})
            if self._waiting:
                frame = self._waiting.popleft()
                assert isinstance(frame, bytes)
                self.heard += frame
            due = max(due + 0.02, loop.time() - 0.1)
            await asyncio.sleep(max(0.0, due - loop.time()))
