"""A browser's socket: the shopper's microphone in, the assistant's speech out, for as long as either is switched on.

    browser  {"type": "start", "session", "ticket", "microphone", "speech"}      first
             16-bit samples at 16 kHz                                            while the microphone is on
             {"type": "microphone" | "speech", "on"}   {"type": "mark", "name"}   {"type": "alive"}   {"type": "end"}
    gateway  {"type": "state", "microphone", "speech"}   {"type": "transcript", "text", "final"}
             16-bit samples at 16 kHz, 20 ms each   {"type": "mark", "name"}   {"type": "clear"}

The call is the one that the shopper writes in: it was begun by the dashboard, and goes on when the socket closes. Its
clock is the conversation's, so that spoken and written lines stand in their order.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import msgspec
from starlette.websockets import WebSocket

from ingest.gateway import metrics
from ingest.gateway.call_feed import CallFeed
from ingest.gateway.errors import Full, Malformed, Unauthorized, unreadable
from ingest.gateway.session import Session
from ingest.gateway.switchboard import Switchboard
from tenor.assistant.voice_ticket import VoiceTicket, VoiceTickets
from tenor.events import Call, Transcript

RATE: Final = 16_000
LEAD_MS: Final = 200
"""The page plays what it has, and forgets the rest on `clear`."""
LONGEST_AUDIO: Final = 32_000
"""Bytes of one message: a second. A page sends 40 ms."""
LONGEST_TEXT: Final = 16_384
MOST_AHEAD_MS: Final = 5_000
"""Nobody speaks faster than time passes: more audio than this ahead of the clock is a flood."""
MOST_BEHIND_MS: Final = 1_000
"""A page that slept goes on at the time it is, not where it stopped."""
TAIL_MS: Final = 1_000
"""Silence after a microphone that was switched off, in which the recogniser finds the end of the last words."""
MOST_SOCKETS: Final = 20
"""Per visitor, as the text page has it: a household or an office is one."""
MOST_WAITING: Final = 100
"""Messages to a page that does not read; it loses the others."""
MOST_MESSAGES: Final = 600
"""Text messages within a minute; more is a flood."""


class BrowserMessage(msgspec.Struct):
    type: str
    session: str = ""
    ticket: str = ""
    microphone: bool = False
    speech: bool = False
    on: bool = False
    name: str = ""


_read = msgspec.json.Decoder(BrowserMessage).decode


class BrowserSession(Session):
    platform = "web"
    rate = RATE
    lead_ms = LEAD_MS

    def __init__(
        self,
        socket: WebSocket,
        board: Switchboard,
        feed: CallFeed,
        tickets: VoiceTickets,
        visitors: Counter[str],
        known: Callable[[], None],
    ) -> None:
        """`visitors`: how many sockets each has open, on this gateway; `known` is told once the ticket was shown."""
        super().__init__(socket, board)
        self._feed, self._tickets, self._visitors, self._known = feed, tickets, visitors, known
        self._ticket: VoiceTicket | None = None
        self._microphone = self._speech = False
        self._at = 0
        """Samples of the microphone's from the beginning of the socket."""
        self._waiting: asyncio.Queue[dict[str, Any]] = asyncio.Queue(MOST_WAITING)
        self._telling: asyncio.Task[None] | None = None
        self._minute, self._messages = 0, 0

    # -- what the page says

    async def on_text(self, text: str) -> None:
        self._count(text)
        try:
            message = _read(text)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise unreadable(error) from None
        if message.type == "start":
            self._start(message)
            return
        if self.leg is None:
            raise Malformed("start comes first")
        match message.type:
            case "microphone":
                self._switch(message.on, self._speech)
            case "speech":
                self._switch(self._microphone, message.on)
            case "mark" if self.playback is not None:
                self.playback.played(message.name)
            case "end":
                self.leg.call.end("closed by the shopper", for_good=True, code=1000)
            case "alive":
                pass
            case _:
                metrics.IGNORED.labels(self.platform, "other").inc()

    async def on_binary(self, data: bytes) -> None:
        if self.leg is None:
            raise Malformed("start comes first")
        if len(data) > LONGEST_AUDIO or len(data) % 2:
            raise Malformed(f"audio comes as 16-bit samples, at most {LONGEST_AUDIO} bytes at once")
        if not self._microphone:
            metrics.IGNORED.labels(self.platform, "media").inc()  # on its way when it was switched off
            return
        now_ms = self.leg.call.clock.elapsed_ms() - self.leg.offset_ms
        at_ms = self._at * 1000 // RATE
        if at_ms > now_ms + MOST_AHEAD_MS:
            raise Malformed("audio comes faster than time passes")
        if now_ms - at_ms > MOST_BEHIND_MS:
            self._at = now_ms * RATE // 1000
        self._write(data)

    def _start(self, message: BrowserMessage) -> None:
        began = time.perf_counter()
        if self.leg is not None:
            raise Malformed("start comes once")
        ticket = self._tickets.read(message.ticket, message.session)
        if ticket is None:
            raise Unauthorized("the ticket is not valid for this conversation, or no longer")
        origin = self.socket.headers.get("origin", "")
        if origin and origin != ticket.origin:
            raise Unauthorized("the ticket was given to another web site")
        if self._visitors[ticket.visitor] >= MOST_SOCKETS:
            raise Full("you have too many connections open: close some")
        self._visitors[ticket.visitor] += 1
        self._ticket = ticket
        self._known()
        self._microphone, self._speech = message.microphone, message.speech

        def info(_: float) -> Call:
            return msgspec.structs.replace(ticket.info, rate=RATE, medium="voice" if self._microphone else "chat")

        self.leg = self.board.join(ticket.session, self, frozenset({0}), info, in_writing=True)
        self._telling = asyncio.create_task(self._tell(), name=f"browser {ticket.session}")
        self._feed.listen(ticket.session, self._hear)
        if self.playback is not None:
            self.playback.mute(not self._speech)
            self.playback.connect(self)
            # Audio flows from now on: nobody takes the call for dead while nothing is said.
            at = self.leg.call.clock.elapsed_ms() * RATE // 1000
            self.leg.call.write(self.playback.channel, RATE, at, bytes(2 * RATE // 50))
        self._switch(self._microphone, self._speech)
        metrics.ANSWER.labels(self.platform).observe(time.perf_counter() - began)

    def _switch(self, microphone: bool, speech: bool) -> None:
        assert self.leg is not None
        if self._microphone and not microphone:
            self._write(bytes(2 * RATE * TAIL_MS // 1000))
        self._microphone, self._speech = microphone, speech
        self.leg.call.change_medium("voice" if microphone else "chat")
        if self.playback is not None:
            self.playback.mute(not speech)
        self._put({"type": "state", "microphone": microphone, "speech": speech})

    def _write(self, pcm: bytes) -> None:
        assert self.leg is not None
        self.leg.write(0, RATE, self._at, pcm)
        self._at += len(pcm) // 2

    def _count(self, text: str) -> None:
        minute = int(time.monotonic() // 60)
        if minute != self._minute:
            self._minute, self._messages = minute, 0
        self._messages += 1
        if self._messages > MOST_MESSAGES or len(text) > LONGEST_TEXT:
            raise Malformed("too much was sent")

    # -- what the page is told

    async def play(self, pcm: bytes) -> None:
        await self.socket.send_bytes(pcm)

    async def clear(self) -> None:
        await self._send({"type": "clear"})

    async def mark(self, name: str) -> bool:
        await self._send({"type": "mark", "name": name})
        return True

    def _hear(self, said: Transcript) -> None:
        """The shopper's words while they are being spoken."""
        if said.channel == 0 and not said.written:
            self._put({"type": "transcript", "text": said.text, "final": said.final})

    def _put(self, message: dict[str, Any]) -> None:
        if not self._waiting.full():
            self._waiting.put_nowait(message)

    async def _tell(self) -> None:
        try:
            while True:
                await self._send(await self._waiting.get())
        except Exception:
            pass

    async def _send(self, message: dict[str, Any]) -> None:
        await self.socket.send_text(msgspec.json.encode(message).decode())

    # -- the end

    def over(self, clean: bool) -> None:
        if self._telling is not None:
            self._telling.cancel()
        if self._ticket is not None:
            self._visitors[self._ticket.visitor] -= 1
            if not self._visitors[self._ticket.visitor]:
                del self._visitors[self._ticket.visitor]
            self._feed.leave(self._ticket.session, self._hear)
        if clean and self.leg is not None:
            self.leg.hang_up("the microphone and the speech were switched off")
        super().over(clean)
