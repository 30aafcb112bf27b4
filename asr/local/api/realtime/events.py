"""What the two realtime protocols (transcription and synthesis) have in common: JSON events on a WebSocket."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from typing import Any

import grpc
import structlog
from starlette.websockets import WebSocket, WebSocketDisconnect

from asr.local.errors import ApiError, idle, invalid

log = structlog.get_logger(__name__)

_CLOSE_CODES = {
    grpc.StatusCode.RESOURCE_EXHAUSTED: 1013,
    grpc.StatusCode.UNAVAILABLE: 1012,
    grpc.StatusCode.INTERNAL: 1011,
}
_POLICY = 1008


class EventSocket:
    """A client's WebSocket: JSON events in and out."""

    def __init__(self, socket: WebSocket, idle_s: float) -> None:
        self._socket = socket
        self._idle_s = idle_s

    async def send(self, kind: str, **fields: Any) -> None:
        await self._socket.send_text(json.dumps({"event_id": f"event_{uuid.uuid4()}", "type": kind, **fields}))

    async def created(self) -> None:
        conversation = {"id": f"conv_{uuid.uuid4()}", "object": "realtime.conversation"}
        await self.send("conversation.created", conversation=conversation)

    async def received(self) -> AsyncIterator[dict[str, Any]]:
        while True:
            try:
                async with asyncio.timeout(self._idle_s):
                    text = await self._socket.receive_text()
            except TimeoutError:
                raise idle(self._idle_s) from None
            except KeyError:
                raise invalid("events are sent as text, not as binary messages") from None
            try:
                event = json.loads(text)
            except (ValueError, RecursionError):
                event = None
            if not isinstance(event, dict):
                raise invalid("an event is a JSON object")
            yield event

    async def send_error(self, error: ApiError) -> None:
        """Say why, and close: like a gRPC call, a session does not outlive its error."""
        fields = {"type": error.code.name.lower(), "code": error.code.name, "message": error.text}
        fields.update({key.replace("-", "_"): value for key, value in error.trailers})
        try:
            await self.send("error", error=fields)
            await self._socket.close(_CLOSE_CODES.get(error.code, _POLICY))
        except (WebSocketDisconnect, RuntimeError):
            log.debug("client left before it was told its error")


def merged(defaults: dict[str, Any], given: Any) -> dict[str, Any]:
    """A session with what the client sent laid over the defaults, section by section."""
    if not isinstance(given, dict):
        raise invalid("session must be an object")
    session = dict(defaults)
    for key, value in given.items():
        if isinstance(value, dict) and isinstance(session.get(key), dict):
            session[key] = merged(session[key], value)
        elif value is not None:
            session[key] = value
    return session


def text_field(event: dict[str, Any], key: str) -> str:
    value = event.get(key, "")
    if not isinstance(value, str):
        raise invalid(f"{key} must be a string")
    return value
