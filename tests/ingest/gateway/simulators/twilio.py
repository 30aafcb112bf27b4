"""Twilio: signed handshake, JSON messages of 20 ms, both tracks; Telnyx's spelling on request."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
from typing import Any, Self

from websockets.asyncio.client import ClientConnection, connect

from tenor.g711 import Samples, encode_ulaw

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

    async def send(self, message: dict[str, Any]) -> None:
        await self.socket.send(json.dumps(message))

    def _numbered(self, message: dict[str, Any]) -> dict[str, Any]:
        self._sequence += 1
        names = ("sequence_number", "stream_id") if self._telnyx else ("sequenceNumber", "streamSid")
        return {names[0]: str(self._sequence), names[1]: "MZ1", **message}
