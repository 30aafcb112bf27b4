"""A channel's chunks in order, from any place on the bus.

While the channel keeps up, the worker hands it chunks as it reads them. When it does not (no stream, a
slow recogniser), nothing is kept in memory: the channel reads the bus again for itself, at its own
pace, until it is level with the worker.

    worker reads      a1 b1 a2 b2 a3 b3 a4 b4 a5 b5 | next_offset of the source
    channel b         b1 b2 ^ no room: left on the bus
                            '-- read -> b3 b4 b5 --'  level: live again
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from typing import NamedTuple

from asr.audio.source import AudioSource
from tenor.events import AUDIO, AudioChunk, CallEnded, Unreadable

MAX_CHANNELS = 32
ROOM_MS = 3000


class ChunkRecord(NamedTuple):
    offset: int
    chunk: AudioChunk | None
    """None: the call is over."""


def flaw(chunk: AudioChunk) -> str:
    """Why a chunk cannot be used; empty when it can."""
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


class ChunkReader:
    def __init__(self, source: AudioSource, call: str, channel: int) -> None:
        self._source = source
        self._call = call
        self._channel = channel
        self._queue: deque[ChunkRecord] = deque()
        self._queued_ms = 0.0
        self._taken: ChunkRecord | None = None
        """What `take` gave last, until it is done with."""
        self._read_next = source.next_offset
        """Where to read on when not live."""
        self._live = True
        """The worker hands us what it reads."""
        self._closing = False
        self._woken = asyncio.Event()

    @property
    def next_offset(self) -> int:
        """Where the oldest chunk lies that was not taken, or not done with."""
        if self._taken is not None:
            return self._taken.offset
        if self._queue:
            return self._queue[0].offset
        return self._source.next_offset if self._live else self._read_next

    @property
    def holding(self) -> bool:
        """Whether something was taken and is not done with."""
        return self._taken is not None

    def hand(self, record: ChunkRecord) -> None:
        """What the worker has just read. Left on the bus when there is no room."""
        if self._live:
            if self._queued_ms >= ROOM_MS:
                self._live = False
            else:
                self._append(record)
                self._read_next = record.offset + 1
        self._woken.set()

    def close(self) -> None:
        """No more audio will come: `take` gives the end when everything on the bus is taken."""
        self._closing = True
        self._woken.set()

    def wake(self) -> None:
        """Make `take` return even though there is nothing new."""
        self._woken.set()

    def rewind(self, offset: int) -> None:
        """Read again from `offset`."""
        self._queue.clear()
        self._queued_ms = 0.0
        self._taken = None
        self._read_next = offset
        self._live = False

    async def take(self, timeout_s: float | None = None) -> ChunkRecord | None:
        """The next chunk, or the end of the call; None after `timeout_s`, or when woken."""
        self._taken = await self._next(timeout_s)
        return self._taken

    def done(self) -> None:
        """What was taken last need not be read again from here."""
        self._taken = None

    async def _next(self, timeout_s: float | None) -> ChunkRecord | None:
        while not self._queue:
            if not self._live:
                if self._read_next >= self._source.next_offset:
                    self._live = True
                else:
                    await self._read()
                continue
            if self._closing:
                return ChunkRecord(self.next_offset, None)
            self._woken.clear()
            try:
                async with asyncio.timeout(timeout_s):
                    await self._woken.wait()
            except TimeoutError:
                return None
            if not self._queue and self._live and not self._closing:
                return None
        record = self._queue.popleft()
        if record.chunk is not None:
            self._queued_ms -= length_ms(record.chunk)
        return record

    async def _read(self) -> None:
        page = await self._source.read(self._read_next)
        self._read_next = page.next
        for record in page.records:
            if record.key != self._call:
                continue
            with suppress(Unreadable):
                event = AUDIO.decode(record.value)
                if isinstance(event, CallEnded):
                    self._append(ChunkRecord(record.offset, None))
                elif isinstance(event, AudioChunk) and event.channel == self._channel and not flaw(event):
                    self._append(ChunkRecord(record.offset, event))

    def _append(self, record: ChunkRecord) -> None:
        self._queue.append(record)
        if record.chunk is not None:
            self._queued_ms += length_ms(record.chunk)
