"""Asterisk's side of AudioSocket."""

from __future__ import annotations

import asyncio
import socket
import struct
import uuid
from typing import Self

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
