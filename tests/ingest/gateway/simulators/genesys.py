"""Genesys AudioHook: signed handshake, an open that waits for opened, binary audio, close that waits for closed."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import secrets
import time
import uuid
from typing import Any, Self

from websockets.asyncio.client import ClientConnection, connect

from tenor.g711 import Samples, encode_ulaw
from tests.ingest.gateway.simulators.tones import interleave

STEREO = {"type": "audio", "format": "PCMU", "channels": ["external", "internal"], "rate": 8000}
ORGANIZATION = "d7934305-0972-4844-938e-9060eef73d05"
COVERED = (
    "@request-target",
    "@authority",
    "audiohook-organization-id",
    "audiohook-session-id",
    "audiohook-correlation-id",
    "x-api-key",
)


def signed_headers(
    authority: str,
    key: str,
    secret: bytes,
    session: str,
    *,
    created: int | None = None,
    nonce: str = "",
    keyid: str = "",
    covered: tuple[str, ...] = COVERED,
) -> dict[str, str]:
    headers = {
        "Audiohook-Organization-Id": ORGANIZATION,
        "Audiohook-Session-Id": session,
        "Audiohook-Correlation-Id": str(uuid.uuid4()),
        "X-API-KEY": key,
    }
    values = {name.lower(): value for name, value in headers.items()}
    values |= {"@request-target": "/genesys", "@authority": authority}
    created = created if created is not None else int(time.time())
    names = " ".join(f'"{name}"' for name in covered)
    nonce = nonce or secrets.token_urlsafe(24)
    parameters = (
        f'({names});keyid="{keyid or key}";nonce="{nonce}";alg="hmac-sha256";created={created};expires={created + 10}'
    )
    base = "\n".join([*(f'"{name}": {values[name]}' for name in covered), f'"@signature-params": {parameters}'])
    mac = base64.b64encode(hmac.new(secret, base.encode(), hashlib.sha256).digest()).decode()
    return headers | {"Signature-Input": f"sig1={parameters}", "Signature": f"sig1=:{mac}:"}


class AudioHook:
    """One session. `async with AudioHook(...) as hook` has been opened; leaving closes it in good order."""

    def __init__(
        self,
        port: int,
        conversation: str,
        *,
        key: str = "",
        secret: bytes = b"",
        media: list[dict[str, Any]] | None = None,
        headers: dict[str, str] | None = None,
        **opening: Any,
    ) -> None:
        self.session = str(uuid.uuid4())
        self._port = port
        self._key = key
        self._secret = secret
        self._headers = headers
        self._opening = {
            "organizationId": ORGANIZATION,
            "conversationId": conversation,
            "participant": {"id": str(uuid.uuid4()), "ani": "tel:+15551234567", "aniName": "Ann", "dnis": "+1800"},
            "media": [STEREO] if media is None else media,
            **opening,
        }
        self.seq = 0
        self.serverseq = 0
        self.position = 0.0
        self.heard: list[dict[str, Any]] = []
        self.opened: dict[str, Any] = {}
        self.socket: ClientConnection

    async def __aenter__(self) -> Self:
        await self.dial()
        await self.open()
        return self

    async def __aexit__(self, *exc: object) -> None:
        if exc[0] is None and self.socket.close_code is None:
            await self.close()

    async def dial(self) -> None:
        headers = self._headers
        if headers is None and self._key:
            headers = signed_headers(f"127.0.0.1:{self._port}", self._key, self._secret, self.session)
        self.socket = await connect(
            f"ws://127.0.0.1:{self._port}/genesys", additional_headers=headers, compression=None
        )

    async def open(self) -> None:
        await self.send("open", self._opening)
        self.opened = await self.expect("opened")

    async def speak(self, external: Samples, internal: Samples, *, chunk_ms: int = 100, paced: bool = False) -> None:
        data = encode_ulaw(interleave(external, internal))
        loop = asyncio.get_running_loop()
        began = loop.time()
        for number, at in enumerate(range(0, len(data), chunk_ms * 16), 1):
            await self.socket.send(data[at : at + chunk_ms * 16])
            if paced:
                await asyncio.sleep(max(0.0, began + number * chunk_ms / 1000 - loop.time()))
        self.position += len(external) / 8000

    async def close(self, reason: str = "end") -> None:
        await self.send("close", {"reason": reason})
        await self.expect("closed")
        await self.socket.close()

    async def die(self) -> None:
        self.socket.transport.abort()
        await self.socket.wait_closed()

    async def send(self, kind: str, parameters: Any, changes: dict[str, Any] | None = None) -> None:
        self.seq += 1
        message = {
            "version": "2",
            "id": self.session,
            "type": kind,
            "seq": self.seq,
            "serverseq": self.serverseq,
            "position": f"PT{self.position:g}S",
            "parameters": parameters,
        }
        await self.socket.send(json.dumps(message | (changes or {})))

    async def expect(self, kind: str) -> dict[str, Any]:
        """The parameters of the next message of this kind; holds the server to its sequence numbers."""
        while True:
            message = json.loads(await asyncio.wait_for(self.socket.recv(), 20))
            self.serverseq += 1
            assert message["seq"] == self.serverseq
            assert message["clientseq"] <= self.seq
            assert message["id"] == self.session
            assert message["version"] == "2"
            self.heard.append(message)
            if message["type"] == kind:
                parameters: dict[str, Any] = message["parameters"]
                return parameters
