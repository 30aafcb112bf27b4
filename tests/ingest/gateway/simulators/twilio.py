"""Twilio: signed handshake, JSON messages of 20 ms, both tracks; Telnyx's spelling on request."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
from collections import deque
from typing import Any, Self

import numpy as np
from websockets.asyncio.client import ClientConnection, connect

from tenor.g711 import Samples, decode_ulaw, encode_ulaw

FRAME = 160


def signature(token: str, url: str) -> str:
    return base64.b64encode(hmac.new(token.encode(), url.encode(), hashlib.sha1).digest()).decode()


class TwilioStream:
    """One Media Stream. `async with TwilioStream(...) as stream` has sent connected and start."""

    def __init__(
        self,
        port: int,
        call_sid: str,
        *,
        token: str = "",
        tracks: tuple[str, ...] = ("inbound", "outbound"),
        parameters: dict[str, str] | None = None,
        headers: dict[str, str] | None = None,
        telnyx: bool = False,
    ) -> None:
        self._url = f"ws://127.0.0.1:{port}/twilio"
        self._headers = {"X-Twilio-Signature": signature(token, "wss" + self._url[2:])} if token else {}
        self._headers |= headers or {}
        self._call_sid = call_sid
        self._tracks = tracks
        self._parameters = parameters or {}
        self._telnyx = telnyx
        self._sequence = 0
        self._chunks = dict.fromkeys(tracks, 0)
        self.socket: ClientConnection

    async def __aenter__(self) -> Self:
        await self.dial()
        await self.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.socket.close()

    async def dial(self) -> None:
        self.socket = await connect(self._url, additional_headers=self._headers, compression=None)
        await self.send({"event": "connected", "protocol": "Call", "version": "1.0.0"})

    async def start(self) -> None:
        if self._telnyx:
            start: dict[str, Any] = {
                "call_control_id": self._call_sid,
                "media_format": {"encoding": "PCMU", "sample_rate": 8000, "channels": 1},
            }
        else:
            start = {
                "streamSid": "MZ1",
                "accountSid": "AC1",
                "callSid": self._call_sid,
                "tracks": list(self._tracks),
                "customParameters": self._parameters,
                "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1},
            }
        await self.send(self._numbered({"event": "start", "start": start}))

    def frames(self, track: str, samples: Samples) -> list[dict[str, Any]]:
        """The media messages for this audio, numbered on from those before."""
        messages = []
        encoded = encode_ulaw(samples)
        for at in range(0, len(encoded), FRAME):
            self._chunks[track] += 1
            media = {
                "track": track,
                "chunk": str(self._chunks[track]),
                "timestamp": str((self._chunks[track] - 1) * 20 + 5),
                "payload": base64.b64encode(encoded[at : at + FRAME]).decode(),
            }
            messages.append(self._numbered({"event": "media", "media": media}))
        return messages

    async def speak(self, audio: dict[str, Samples], *, paced: bool = False) -> None:
        """Each track's audio, 20 ms of one and 20 ms of the other."""
        turns = zip(*(self.frames(track, samples) for track, samples in audio.items()), strict=True)
        loop = asyncio.get_running_loop()
        began = loop.time()
        for number, frames in enumerate(turns, 1):
            for frame in frames:
                await self.send(frame)
            if paced:
                await asyncio.sleep(max(0.0, began + number * 0.02 - loop.time()))

    async def stop(self) -> None:
        await self.send(self._numbered({"event": "stop", "stop": {"accountSid": "AC1", "callSid": self._call_sid}}))

    async def die(self) -> None:
        """The connection breaks without a word."""
        self.socket.transport.abort()
        await self.socket.wait_closed()

    async def press(self, digit: str) -> None:
        """A key of the caller's telephone."""
        await self.send(self._numbered({"event": "dtmf", "dtmf": {"track": "inbound_track", "digit": digit}}))

    async def send(self, message: dict[str, Any]) -> None:
        await self.socket.send(json.dumps(message))

    def _numbered(self, message: dict[str, Any]) -> dict[str, Any]:
        self._sequence += 1
        names = ("sequence_number", "stream_id") if self._telnyx else ("sequenceNumber", "streamSid")
        return {names[0]: str(self._sequence), names[1]: "MZ1", **message}


class TwilioCaller(TwilioStream):
    """A stream of `<Connect><Stream>`: what we send is played to the caller in real time, and can be cleared.

    `async with TwilioCaller(...) as caller`; `caller.heard` is what the caller has heard so far."""

    def __init__(self, port: int, call_sid: str, **how: Any) -> None:
        super().__init__(port, call_sid, tracks=("inbound",), **how)
        self.frames_at: list[float] = []
        """When each frame of ours arrived."""
        self.most_ahead_s = 0.0
        """How much audio waited to be played at most."""
        self.cleared_at: list[float] = []
        self.marks: list[str] = []
        self.closed = asyncio.Event()
        self._heard = bytearray()
        self._waiting: deque[bytes | str] = deque()
        self._played_to = 0.0

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self._tasks = [asyncio.create_task(self._receive()), asyncio.create_task(self._play())]
        return self

    async def __aexit__(self, *exc: object) -> None:
        for task in self._tasks:
            task.cancel()
        await super().__aexit__(*exc)

    @property
    def heard(self) -> bytes:
        """16-bit samples of what was played, without the silence in between."""
        return decode_ulaw(bytes(self._heard)).tobytes()

    @property
    def heard_s(self) -> float:
        return len(self._heard) / 8000

    async def silence(self, seconds: float) -> None:
        """The caller says nothing, in real time."""
        await self.speak({"inbound": np.zeros(round(8000 * seconds), np.int16)}, paced=True)

    async def _receive(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            async for text in self.socket:
                message = json.loads(text)
                assert message["streamSid"] == "MZ1"
                match message["event"]:
                    case "media":
                        payload = base64.b64decode(message["media"]["payload"])
                        assert len(payload) == FRAME
                        self.frames_at.append(loop.time())
                        self._waiting.append(payload)
                        waiting = sum(1 for one in self._waiting if isinstance(one, bytes))
                        self.most_ahead_s = max(self.most_ahead_s, 0.02 * waiting)
                    case "mark":
                        self._waiting.append(message["mark"]["name"])
                    case "clear":
                        self.cleared_at.append(loop.time())
                        marks = [one for one in self._waiting if isinstance(one, str)]
                        self._waiting.clear()
                        for name in marks:
                            await self._reached(name)
        finally:
            self.closed.set()

    async def _play(self) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            while self._waiting and isinstance(self._waiting[0], str):
                await self._reached(str(self._waiting.popleft()))
            if self._waiting:
                frame = self._waiting.popleft()
                assert isinstance(frame, bytes)
                self._heard += frame
            due = max(due + 0.02, loop.time() - 0.1)
            await asyncio.sleep(max(0.0, due - loop.time()))

    async def _reached(self, name: str) -> None:
        self.marks.append(name)
        await self.send(self._numbered({"event": "mark", "mark": {"name": name}}))
