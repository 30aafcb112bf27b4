"""A session: one WebSocket of a platform, read message by message until it ends."""

from __future__ import annotations

import asyncio
import time

import structlog
from starlette.websockets import WebSocket, WebSocketDisconnect

from ingest.gateway import metrics
from ingest.gateway.errors import Full, Malformed, Unauthorized
from ingest.gateway.leg import Leg
from ingest.gateway.playback import Playback
from ingest.gateway.switchboard import Switchboard

log = structlog.get_logger(__name__)

UNAUTHORIZED = 3000
"""The close code registered for it."""
LONGEST_REASON = 120
"""Bytes that fit in a close frame."""


class Session:
    """What all WebSocket platforms share; a platform adds what its messages mean."""

    platform: str

    def __init__(self, socket: WebSocket, board: Switchboard) -> None:
        self.socket = socket
        self.board = board
        self.leg: Leg | None = None
        self.heard_at = time.monotonic()
        self._closing: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Serve the accepted socket. A fault of the peer ends this socket and nothing else."""
        self.board.connect(self)
        clean = False
        try:
            clean = await self._read()
        finally:
            self.board.disconnect(self)
            self.over(clean and self._closing is None)
            if self._closing is not None:
                await asyncio.wait([self._closing])

    async def _read(self) -> bool:
        """Until the socket closes; True when the peer said goodbye."""
        while True:
            message = await self.socket.receive()
            if message["type"] == "websocket.disconnect":
                # Only a close frame comes with a reason, be it empty; a broken connection does not.
                return "reason" in message and message["code"] in (1000, 1001, 1005)
            self.heard_at = time.monotonic()
            text = message.get("text")
            try:
                if self._closing is not None:
                    await self.on_goodbye(text or "")
                elif text is not None:
                    await self.on_text(text)
                else:
                    await self.on_binary(message["bytes"])
            except Malformed as fault:
                self._blame(str(fault))
                self.drop(str(fault), 1008)
            except Unauthorized as fault:
                metrics.REFUSED.labels(self.platform, "unauthorized").inc()
                log.warning("call refused", platform=self.platform, reason=str(fault))
                self.drop(str(fault), UNAUTHORIZED)
            except Full as fault:
                metrics.REFUSED.labels(self.platform, "full").inc()
                log.warning("call refused", platform=self.platform, reason=str(fault))
                self.drop(str(fault), 1013)
            except WebSocketDisconnect:
                return False

    async def on_text(self, text: str) -> None:
        raise Malformed("a text message where audio was expected")

    async def on_binary(self, data: bytes) -> None:
        raise Malformed("a binary message where text was expected")

    async def on_goodbye(self, text: str) -> None:
        """A message after we began to close the socket."""

    @property
    def playback(self) -> Playback | None:
        """Of a call that the assistant answers."""
        return None if self.leg is None else self.leg.call.playback

    def over(self, clean: bool) -> None:
        """The socket is gone: without a word of the platform before, it was lost."""
        if self.playback is not None:
            self.playback.disconnect(self)
        if self.leg is not None:
            self.leg.lose()

    def drop(self, reason: str, code: int) -> None:
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(reason, code))

    async def close(self, reason: str, code: int) -> None:
        """Close the socket in the platform's way."""
        await self.socket.close(code, reason.encode()[:LONGEST_REASON].decode(errors="ignore"))

    async def _close(self, reason: str, code: int) -> None:
        try:
            await self.close(reason, code)
        except (WebSocketDisconnect, RuntimeError, OSError):
            log.debug("socket was gone already", platform=self.platform)

    def _blame(self, reason: str) -> None:
        metrics.MALFORMED.labels(self.platform).inc()
        if self._closing is None:
            log.warning("protocol error", platform=self.platform, reason=reason)
        if self.leg is not None:
            self.leg.fail(f"protocol error: {reason}")
