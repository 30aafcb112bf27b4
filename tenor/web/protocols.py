"""What our web servers add to uvicorn's protocols: nobody holds a connection or fills the memory by sending half of
something, by sending it drop by drop, or by never reading the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame

HEAD_S: Final = 10.0
"""How long the head of a request may take, from the connection or its first byte on."""
BODY_S: Final = 20.0
SLOWEST: Final = 2000
"""How long a body may take: this, and a second more for so many bytes."""
LINGER_S: Final = 2.0
LINGER_BYTES: Final = 1024 * 1024
"""What is still read of a body after its request was answered: a client that has sent all of it asks on."""
MOST_FRAGMENTS: Final = 1000
"""Of one message on a WebSocket: they have no size together, but each takes memory."""


def _as_ipv4(client: tuple[str, int] | None) -> tuple[str, int] | None:
    """Where one socket takes both, 10.0.0.1 comes as ::ffff:10.0.0.1, which no list of proxies and peers has."""
    return client and (client[0].removeprefix("::ffff:") if "." in client[0] else client[0], client[1])


class HttpProtocol(H11Protocol):
    _deadline: asyncio.TimerHandle | None = None
    _reading: object = None
    """The request whose body comes."""
    _received = _left_over = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.client = _as_ipv4(self.client)
        self._within(HEAD_S, self._hang_up)

    def connection_lost(self, exc: Exception | None) -> None:
        self._within(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        lingered = self._answered_early
        self._received += len(data)
        super().data_received(data)
        if self._answered_early:
            self._left_over += len(data)
            if self._left_over > LINGER_BYTES:
                self.flow.pause_reading()
            return
        if lingered:  # the rest came after all
            self._within(None)
        self._expect()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._answered_early:
            # Hung up on at once, the other side might never see the answer.
            self._unset_keepalive_if_required()
            self._left_over = 0
            self._within(LINGER_S, self._hang_up)
        else:
            self._expect()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._within(None)
        super().handle_websocket_upgrade(event)

    @property
    def _answered_early(self) -> bool:
        """The answer is out, and the rest of its request still comes."""
        return self.conn.our_state is h11.DONE and self.conn.their_state is h11.SEND_BODY

    def _expect(self) -> None:
        """What is to come next, and until when."""
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            self._within(None)
        elif self.cycle is None or self.cycle.response_complete:
            self._reading = None
            if self.timeout_keep_alive_task is not None:
                self._within(None)
            elif self._deadline is None:
                self._within(HEAD_S, self._hang_up)
        elif not self.cycle.more_body:
            self._within(None)
        elif self._reading is not self.cycle:
            self._reading = self.cycle
            self._wait_for_body()

    def _wait_for_body(self) -> None:
        self._began, self._received = self.loop.time(), 0
        self._within(BODY_S, self._weigh_body)

    def _weigh_body(self) -> None:
        self._deadline = None
        left = self._began + BODY_S + self._received / SLOWEST - self.loop.time()
        if self.flow.read_paused:  # it is we who are slow
            self._wait_for_body()
        elif left > 0:
            self._within(left, self._weigh_body)
        else:
            self._hang_up()

    def _within(self, seconds: float | None, then: Callable[[], None] | None = None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if seconds is not None and then is not None:
            self._deadline = self.loop.call_later(seconds, then)

    def _hang_up(self) -> None:
        self._deadline = None
        self.transport.abort()


class WebSocketProtocol(WebSocketsSansIOProtocol):
    _pong = b""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.client = _as_ipv4(self.client)

    def handle_cont(self, event: Frame) -> None:
        if len(self.frames) < MOST_FRAGMENTS:
            super().handle_cont(event)
        elif not self.close_sent:
            self.frames = []
            self.conn.fail(CloseCode.MESSAGE_TOO_BIG, "too many fragments")
            self.handle_parser_exception()

    def handle_ping(self) -> None:
        """Whoever does not read gets the last answers only, when they do."""
        self._pong = b"".join(self.conn.data_to_send()) or self._pong
        if self.writable.is_set():
            self.resume_writing()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._pong and not self.transport.is_closing():
            self.transport.write(self._pong)
        self._pong = b""
