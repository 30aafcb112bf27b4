"""A channel's chunks in order, from any place on the bus.

While the channel keeps up, the worker hands it chunks as it reads them. When it does not (no stream, a
slow recogniser), nothing is kept in memory: the channel reads the bus again for itself, at its own
pace, until it is level with the worker.

    worker reads      a1 b1 a2 b2 a3 b3 a4 b4 a5 b5 | position
    channel b         b1 b2 ^ no room: left on the bus
                            '-- fetch -> b3 b4 b5 -'  level: live again
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from asr.pages import Pages
from tenor.events import AUDIO, AudioChunk, CallEnded, Unreadable

MAX_CHANNELS = 32
ROOM_MS = 3000


class Piece(NamedTuple):
    offset: int
    chunk: AudioChunk | None
    """None: the call is over."""


def flaw(chunk: AudioChunk) -> str:
    """Why a chunk cannot be heard; empty when it can."""
    if not 0 <= chunk.channel < MAX_CHANNELS:
        return f"channel {chunk.channel} is out of range"
    if chunk.rate <= 0:
        return f"sample rate {chunk.rate} is none"
    if len(chunk.pcm) % 2:
        return "audio of 16-bit samples with an odd number of bytes"
    if chunk.start_ms < 0:
        return "audio from before the call began"
    return ""


def length_ms(chunk: AudioChunk) -> float:
    return len(chunk.pcm) * 500 / chunk.rate


class Reel:
    def __init__(self, pages: Pages, call: str, channel: int, position: Callable[[], int]) -> None:
        self._pages = pages
        self._call = call
        self._channel = channel
        self._position = position
        """Offset up to which the worker has read the partition."""
        self._queue: deque[Piece] = deque()
        self._queued_ms = 0.0
        self._next = position()
        self._woken = asyncio.Event()
        self.live = True

    @property
    def offset(self) -> int:
        """Where the chunks lie that were not taken yet."""
        if self._queue:
            return self._queue[0].offset
        return self._position() if self.live else self._next

    def hand(self, piece: Piece) -> None:
        """What the worker has just read. Left on the bus when there is no room."""
        if self.live:
            if self._queued_ms >= ROOM_MS:
                self.live = False
            else:
                self._append(piece)
                self._next = piece.offset + 1
        self._woken.set()

    def rewind(self, offset: int) -> None:
        """Read again from `offset`."""
        self._queue.clear()
        self._queued_ms = 0.0
        self._next = offset
        self.live = False

    def wake(self) -> None:
        """Make `take` return even though there is nothing new."""
        self._woken.set()

    async def take(self, timeout_s: float | None = None) -> Piece | None:
        """The next piece; None after `timeout_s`, or when woken."""
        while not self._queue:
            if self.live:
                self._woken.clear()
                try:
                    async with asyncio.timeout(timeout_s):
                        await self._woken.wait()
                except TimeoutError:
                    return None
                if not self._queue and self.live:
                    return None
            elif self._next >= self._position():
                self.live = True
            else:
                await self._read()
        piece = self._queue.popleft()
        if piece.chunk is not None:
            self._queued_ms -= length_ms(piece.chunk)
        return piece

    async def _read(self) -> None:
        page = await self._pages.read(self._next, self._position())
        self._next = page.next
        for record in page.records:
            if record.key != self._call:
                continue
            with suppress(Unreadable):
                event = AUDIO.decode(record.value)
                if isinstance(event, CallEnded):
                    self._append(Piece(record.offset, None))
                elif isinstance(event, AudioChunk) and event.channel == self._channel and not flaw(event):
                    self._append(Piece(record.offset, event))

    def _append(self, piece: Piece) -> None:
        self._queue.append(piece)
        if piece.chunk is not None:
            self._queued_ms += length_ms(piece.chunk)
