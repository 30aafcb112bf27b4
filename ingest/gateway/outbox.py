"""The outbox of a call: events wait here for the bus, and only here does anything wait for it."""

from __future__ import annotations

import asyncio
from collections import deque
from itertools import groupby, islice

import structlog

from ingest.gateway import metrics
from tenor.bus import Bus
from tenor.events import (
    AUDIO,
    CALLS,
    TRANSCRIPTS,
    TURNS,
    AudioChunk,
    CallGivenBack,
    CallState,
    CallTakenOver,
    Event,
    KeyPressed,
    Topic,
    Transcript,
    TurnSpoken,
)

log = structlog.get_logger(__name__)

HOLD_S = 60.0
"""Audio a call may hold while the bus is away."""
BEHIND_S = 5.0
"""Held for longer than this, the bus counts as behind."""
HOLD_BYTES = 512 * 1024 * 1024
"""Audio all calls together may hold."""
BATCH = 256
RETRY_S = 1.0
GIVE_UP_S = 600.0
"""A call that is over keeps offering what it holds for this long."""


class Overflow(Exception):
    """The bus has been away for longer than we can hold the audio."""


class HeldAudio:
    """How much audio all outboxes hold together."""

    def __init__(self, limit: int = HOLD_BYTES) -> None:
        self.bytes = 0
        self._limit = limit

    @property
    def full(self) -> bool:
        return self.bytes > self._limit


class CallOutbox:
    """Takes events without waiting; one task takes them to the bus, in order and in batches."""

    def __init__(self, bus: Bus, call: str, channels: int, held: HeldAudio, hold_s: float = HOLD_S) -> None:
        self._bus = bus
        self._call = call
        self._held = held
        self._queue: deque[Event] = deque()
        self._seconds = 0.0
        """Audio held, of all channels."""
        self._channels = channels
        self._limit = hold_s * channels
        self._refused = False
        self._last_word: CallState | None = None
        self._closed_at: float | None = None
        self._wake = asyncio.Event()

    @property
    def behind(self) -> bool:
        """True while the bus is slow or away."""
        return self._seconds > BEHIND_S * self._channels

    def put(self, events: list[Event]) -> None:
        """Raises Overflow, and takes nothing, when the call or all calls hold too much."""
        if self._seconds > self._limit or self._held.full:
            raise Overflow
        self._append(events)

    def close(self, events: list[Event], last_word: CallState | None = None) -> None:
        """The last events of the call; always taken. `last_word` goes to the calls topic after them."""
        self._append(events)
        self._last_word = last_word
        self._closed_at = asyncio.get_running_loop().time()
        self._wake.set()

    async def run(self) -> None:
        """Publish until closed and empty, or until giving up."""
        try:
            while self._queue or self._closed_at is None:
                if not self._queue:
                    self._wake.clear()
                    await self._wake.wait()
                elif not await self._publish():
                    if self._hopeless():
                        log.error("call not published", call=self._call, events=len(self._queue))
                        break
                    await asyncio.sleep(RETRY_S)
            if self._last_word is not None:
                await self._say_last_word(self._last_word)
        finally:
            self._taken(len(self._queue))

    async def _publish(self) -> bool:
        topic, events = next(groupby(islice(self._queue, BATCH), _topic))
        batch = list(events)
        try:
            await self._bus.publish_many(topic, batch)
        except Exception as error:
            # Whatever the bus raises, the call must outlive it; a batch taken in part is offered again.
            metrics.RETRIES.inc()
            if not self._refused:
                log.warning("bus does not take audio", call=self._call, error=type(error).__name__)
            self._refused = True
            return False
        self._refused = False
        self._taken(len(batch))
        return True

    async def _say_last_word(self, state: CallState) -> None:
        try:
            await self._bus.publish(CALLS, state)
        except Exception as error:
            log.error("failure of a call not published", call=self._call, error=type(error).__name__)

    def _hopeless(self) -> bool:
        return self._closed_at is not None and asyncio.get_running_loop().time() - self._closed_at > GIVE_UP_S

    def _append(self, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, AudioChunk):
                self._weigh(event, 1)
        self._queue.extend(events)
        self._wake.set()

    def _taken(self, count: int) -> None:
        for _ in range(count):
            event = self._queue.popleft()
            if isinstance(event, AudioChunk):
                self._weigh(event, -1)

    def _weigh(self, chunk: AudioChunk, sign: int) -> None:
        # Silence is one piece of memory for all its chunks, and a second party that joins late brings much of it.
        size = len(chunk.pcm)
        if chunk.pcm.count(0) < size:
            self._seconds += sign * size / (2 * chunk.rate)
            self._held.bytes += sign * size


def _topic(event: Event) -> Topic:
    """A call's outbox is one line: what is said after some audio is published after it, on whatever topic."""
    match event:
        case Transcript():
            return TRANSCRIPTS
        case KeyPressed() | TurnSpoken() | CallTakenOver() | CallGivenBack():
            return TURNS
        case _:
            return AUDIO
