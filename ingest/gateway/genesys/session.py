"""Genesys AudioHook v2: a session of JSON messages with audio between them.

The platform asks, we answer at once:

    open -> opened    audio ...    ping -> pong    audio ...    close -> closed

What it paused or discarded is time without audio, and becomes silence.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from typing import Any

import msgspec
import structlog
from starlette.websockets import WebSocket

from ingest.gateway import metrics
from ingest.gateway.call_feed import CallFeed
from ingest.gateway.call_info import call_info
from ingest.gateway.deinterleaver import Deinterleaver
from ingest.gateway.errors import Malformed, Unauthorized
from ingest.gateway.genesys.captions import Captions
from ingest.gateway.genesys.messages import NOBODY, Discarded, Envelope, Medium, Open, choose, duration_ms, read
from ingest.gateway.ids import call_id
from ingest.gateway.leg import Leg
from ingest.gateway.session import UNAUTHORIZED, Session
from ingest.gateway.switchboard import Switchboard
from tenor.events import Call

log = structlog.get_logger(__name__)

LONGEST_TEXT = 65_535
CLOSE_S = 5.0
"""After a disconnect the platform has this long to close the session in good order."""
ROLES = {"external": "caller", "internal": "agent"}


class GenesysSession(Session):
    platform = "genesys"

    def __init__(self, socket: WebSocket, board: Switchboard, feed: CallFeed) -> None:
        super().__init__(socket, board)
        self._feed = feed
        self._captions: Captions | None = None
        self._id = socket.headers.get("audiohook-session-id", "")
        self._seq = 0
        self._clientseq = 0
        self._opened = False
        self._closed = asyncio.Event()
        self._sending = asyncio.Lock()
        self._rate = 8000
        self._channels: tuple[int, ...] = ()
        self._audio: Deinterleaver | None = None
        self._at = 0

    async def on_text(self, text: str) -> None:
        if len(text) > LONGEST_TEXT:
            raise Malformed("the message is longer than 64 kB")
        message = read(text, Envelope)
        if message.seq != self._clientseq + 1:
            raise Malformed(f"seq is {message.seq} where {self._clientseq + 1} was due")
        self._clientseq = message.seq
        if not 0 <= message.serverseq <= self._seq:
            raise Malformed("serverseq is beyond what was sent")
        if self._id and message.id != self._id:
            raise Malformed("the message is of another session")
        self._id = message.id
        await self._handle(message)

    async def on_goodbye(self, text: str) -> None:
        if text and read(text, Envelope).type == "close":
            await self._close_session("disconnect")

    async def _handle(self, message: Envelope) -> None:
        match message.type:
            case "open":
                await self._open(read(message.parameters, Open))
            case "ping":
                await self._send("pong", {})
            case "close":
                await self._close_session(read(message.parameters, dict[str, Any]).get("reason"))
            case "discarded":
                self._skip(duration_ms(read(message.parameters, Discarded).discarded))
            case "resumed":
                self._skip(duration_ms(read(message.parameters, Discarded).discarded))
                if self.leg is not None:
                    self.leg.resume()
            case "paused":
                if self.leg is not None:
                    self.leg.pause(self._at * 1000 // self._rate)
            case "update":
                # The recogniser keeps the language the call began with.
                await self._send("updated", {})
            case "error":
                code = read(message.parameters, dict[str, Any]).get("code")
                log.warning(
                    "platform reports an error", platform=self.platform, code=code if isinstance(code, int) else 0
                )
            case _:
                raise Malformed("a type of message we do not know")

    async def _open(self, opening: Open) -> None:
        began = time.perf_counter()
        if self._opened:
            raise Malformed("a second open in one session")
        self._opened = True
        organization = self.socket.headers.get("audiohook-organization-id", opening.organization_id)
        if organization != opening.organization_id:
            raise Unauthorized("the session was signed for another organization")
        languages: dict[str, Any] = {"supportedLanguages": []} if opening.supported_languages else {}
        if opening.conversation_id == NOBODY:
            await self._send("opened", {"media": [], "startPaused": False, **languages})
            metrics.IGNORED.labels(self.platform, "probe").inc()
            return
        medium = choose(opening.media)
        self.leg = self._join(opening, medium)
        await self._send("opened", {"media": [medium], "startPaused": False, **languages})
        metrics.ANSWER.labels(self.platform).observe(time.perf_counter() - began)
        if (opening.custom_config or {}).get("transcripts") is True:
            self._captions = Captions(tuple(sorted(medium.channels)), self.leg.offset_ms, self._send)
            self._feed.listen(self.leg.call.id, self._captions.take)

    def _join(self, opening: Open, medium: Medium) -> Leg:
        self._rate = medium.rate
        self._audio = Deinterleaver(len(medium.channels), ulaw=medium.format == "PCMU")
        # The caller is channel 0 whatever the order of the offer; alone, either party is channel 0.
        order = sorted(medium.channels)
        self._channels = tuple(order.index(channel) for channel in medium.channels)
        told = {"ani": opening.participant.ani, "language": opening.language, **(opening.custom_config or {})}
        told.pop("transcripts", None)

        def info(started_at: float) -> Call:
            roles = tuple(ROLES[channel] for channel in order)
            return call_info(self.board.settings, self.platform, roles, told, started_at, rate=self._rate)

        call = self._call_of(opening)
        return self.board.join(call, self, frozenset(self._channels), info)

    def _call_of(self, opening: Open) -> str:
        """The conversation is the call, except where that would mix up two."""
        conversation = self._conversation(opening)
        call = call_id(self.platform, conversation)
        known = self.board.find(call)
        lost_beginning = known is None and opening.continued_sessions
        other_party = known is not None and known.legs and not opening.continued_sessions
        if lost_beginning or other_party:
            # A gateway that is gone heard the beginning; or a second agent joined the conversation, whom
            # the platform streams in a session of its own beside the first.
            return call_id(self.platform, f"{conversation}-{self._id[:8]}")
        return call

    def _conversation(self, opening: Open) -> str:
        """Where several keys are known, organisations share the gateway, and none must come into another's call."""
        if len(self.board.settings.gateway.genesys_keys) < 2:
            return opening.conversation_id
        key = hashlib.sha256(self.socket.headers.get("x-api-key", "").encode()).hexdigest()
        return f"{opening.conversation_id}-{key[:6]}"

    async def on_binary(self, data: bytes) -> None:
        if self._audio is None or self.leg is None:
            raise Malformed("audio in a session that has none")
        parts = self._audio.split(data)
        for channel, pcm in zip(self._channels, parts, strict=True):
            self.leg.write(channel, self._rate, self._at, pcm)
        self._at += len(parts[0]) // 2

    def _skip(self, ms: int) -> None:
        """Time passed without audio: what comes next lies that much later."""
        if self.leg is None:
            return
        if not self.leg.credible(self._at * 1000 // self._rate + ms):
            raise Malformed("more audio was discarded than time has passed")
        self._at += ms * self._rate // 1000

    async def _close_session(self, reason: Any) -> None:
        if self.leg is not None:
            if reason == "reconnect":
                self.leg.lose()
            elif reason == "error":
                self.leg.fail("the platform ended the call with an error")
            else:
                self.leg.hang_up()
        await self._send("closed", {})
        self._closed.set()

    async def _send(self, kind: str, parameters: dict[str, Any]) -> None:
        async with self._sending:
            self._seq += 1
            message = {
                "version": "2",
                "type": kind,
                "seq": self._seq,
                "clientseq": self._clientseq,
                "id": self._id,
                "parameters": parameters,
            }
            await self.socket.send_text(msgspec.json.encode(message).decode())

    async def close(self, reason: str, code: int) -> None:
        if not self._closed.is_set():
            why = {1000: "completed", 1001: "completed", UNAUTHORIZED: "unauthorized"}.get(code, "error")
            await self._send("disconnect", {"reason": why, "info": reason})
            try:
                await asyncio.wait_for(self._closed.wait(), CLOSE_S if code != 1001 else 1.0)
            except TimeoutError:
                log.info("platform did not close the session", platform=self.platform)
        await super().close(reason, code)

    def over(self, clean: bool) -> None:
        self._closed.set()
        if self._captions is not None and self.leg is not None:
            self._feed.leave(self.leg.call.id, self._captions.take)
            self._captions.stop()
        super().over(clean)
