"""jambonz's `listen` verb."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Self

import numpy as np
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tenor.g711 import Samples


class Listen:
    def __init__(
        self, port: int, call_sid: str, *, rate: int = 8000, mix: str = "stereo", authorization: str = "", **told: Any
    ) -> None:
        self._port = port
        self._headers = {"Authorization": authorization} if authorization else {}
        self._greeting = {
            "callSid": call_sid,
            "direction": "inbound",
            "from": "+15551234567",
            "to": "+18005550100",
            "sampleRate": rate,
            "mixType": mix,
            **told,
        }
        self._bytes_a_second = rate * 2 * (2 if mix == "stereo" else 1)
        self.socket: ClientConnection

    async def __aenter__(self) -> Self:
        await self.dial()
        await self.socket.send(json.dumps(self._greeting))
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.socket.close()

    async def dial(self) -> None:
        self.socket = await connect(
            f"ws://127.0.0.1:{self._port}/jambonz",
            subprotocols=[Subprotocol("audio.jambonz.org")],
            additional_headers=self._headers,
            compression=None,
            open_timeout=60,
        )

    async def speak(self, samples: Samples, *, paced: bool = False) -> None:
        data = samples.tobytes()
        step = self._bytes_a_second // 50
        loop = asyncio.get_running_loop()
        began = loop.time()
        for number, at in enumerate(range(0, len(data), step), 1):
            await self.socket.send(data[at : at + step])
            if paced:
                await asyncio.sleep(max(0.0, began + number * 0.02 - loop.time()))

    async def die(self) -> None:
        self.socket.transport.abort()
        await self.socket.wait_closed()


class ListenCaller(Listen):
    """`bidirectionalAudio` with `streaming`: samples we send are played in real time, until `killAudio`."""

    def __init__(self, port: int, call_sid: str, *, rate: int = 8000, **told: Any) -> None:
        super().__init__(port, call_sid, rate=rate, mix="mono", **told)
        self._rate = rate
        self.received = bytearray()
        self.most_ahead_s = 0.0
        """How much audio waited to be played at most."""
        self.killed = 0
        """How often what waited was forgotten."""
        self.closed = asyncio.Event()

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self._receiving = asyncio.create_task(self._receive())
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._receiving.cancel()
        await super().__aexit__(*exc)

    async def silence(self, seconds: float) -> None:
        await self.speak(np.zeros(round(self._rate * seconds), np.int16), paced=True)

    async def press(self, digit: str) -> None:
        await self.socket.send(json.dumps({"event": "dtmf", "dtmf": digit, "duration": "1600"}))

    async def _receive(self) -> None:
        loop = asyncio.get_running_loop()
        played = 0.0
        async for message in self.socket:
            if isinstance(message, bytes):
                self.received += message
                played = max(played, loop.time()) + len(message) / 2 / self._rate
                self.most_ahead_s = max(self.most_ahead_s, played - loop.time())
            else:
                assert json.loads(message) == {"type": "killAudio"}
                self.killed += 1
                played = loop.time()
        self.closed.set()
