"""Asterisk's side of AudioSocket."""

from __future__ import annotations

import asyncio
import socket
import struct
import uuid
from typing import Self

import numpy as np

from tenor.g711 import Samples


class AudioSocket:
    def __init__(self, port: int, number: uuid.UUID, *, kind: int = 0x10, rate: int = 8000) -> None:
        self._port = port
        self._number = number
        self._kind = kind
        self._rate = rate
        self.reader: asyncio.StreamReader
        self.writer: asyncio.StreamWriter

    async def __aenter__(self) -> Self:
        await self.dial()
        await self.send(0x01, self._number.bytes)
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.writer.close()

    async def dial(self) -> None:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self._port)

    async def speak(self, samples: Samples, *, paced: bool = False) -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        step = self._rate // 50
        for number, at in enumerate(range(0, len(samples), step), 1):
            await self.send(self._kind, samples[at : at + step].tobytes())
            if paced:
                await asyncio.sleep(max(0.0, began + number * 0.02 - loop.time()))

    async def hang_up(self) -> None:
        await self.send(0x00, b"")

    async def die(self) -> None:
        """A reset, as when a host vanishes and its successor does not know the connection."""
        raw = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()
        await asyncio.sleep(0)

    async def send(self, kind: int, payload: bytes) -> None:
        self.writer.write(struct.pack(">BH", kind, len(payload)) + payload)
        await self.writer.drain()


class AudioSocketCaller(AudioSocket):
    """A channel on which we are heard: Asterisk plays every frame it gets, in real time."""

    def __init__(self, port: int, number: uuid.UUID, *, kind: int = 0x10, rate: int = 8000) -> None:
        super().__init__(port, number, kind=kind, rate=rate)
        self.received: list[tuple[int, bytes]] = []
        self.most_ahead_s = 0.0
        """How much audio waited to be played at most."""
        self.closed = asyncio.Event()
        """We have hung up."""
        self._rate_hz = rate

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self._receiving = asyncio.create_task(self._receive())
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._receiving.cancel()
        await super().__aexit__(*exc)

    @property
    def heard(self) -> bytes:
        return b"".join(pcm for _, pcm in self.received)

    async def silence(self, seconds: float) -> None:
        await self.speak(np.zeros(round(self._rate_hz * seconds), np.int16), paced=True)

    async def _receive(self) -> None:
        loop = asyncio.get_running_loop()
        played = 0.0
        while True:
            kind, length = struct.unpack(">BH", await self.reader.readexactly(3))
            payload = await self.reader.readexactly(length)
            if kind == 0x00:
                self.closed.set()
                return
            assert length == self._rate_hz // 50 * 2, "20 ms in each frame"
            self.received.append((kind, payload))
            played = max(played, loop.time()) + 0.02
            self.most_ahead_s = max(self.most_ahead_s, played - loop.time())
