"""What was heard: the events of the bus, put together call by call and held to their promises."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterable

from tenor.bus import Bus
from tenor.events import AUDIO, AudioChunk, Call, CallEnded, CallStarted, Event


class HeardCall:
    def __init__(self) -> None:
        self.info: Call
        self.starts = 0
        self.ended: CallEnded | None = None
        self.chunks: dict[int, list[AudioChunk]] = defaultdict(list)

    def pcm(self, channel: int) -> bytes:
        return b"".join(chunk.pcm for chunk in self.chunks[channel])

    def seconds(self, channel: int) -> float:
        chunks = self.chunks[channel]
        return sum(len(chunk.pcm) // 2 for chunk in chunks) / chunks[0].rate if chunks else 0.0

    def between(self, channel: int, start_s: float, end_s: float, rate: int = 8000) -> bytes:
        return self.pcm(channel)[round(start_s * rate) * 2 : round(end_s * rate) * 2]

    def take(self, event: Event, chunk_ms: int) -> None:
        if isinstance(event, CallStarted):
            assert self.starts == 0 or event.info == self.info, "came again, but changed"
            self.info = event.info
            self.starts += 1
        assert self.starts, "something came before the start"
        assert self.ended is None, "something came after the end"
        if isinstance(event, CallEnded):
            self.ended = event
        if isinstance(event, AudioChunk):
            chunks = self.chunks[event.channel]
            if chunks and event.seq < chunks[-1].seq + 1:
                assert event in chunks, "published again, but changed"
                return
            assert event.seq == len(chunks)
            assert event.start_ms == event.seq * chunk_ms
            assert not chunks or len(chunks[-1].pcm) == event.rate * chunk_ms // 500, (
                "a short chunk that is not the last"
            )
            assert event.captured_at <= time.time()
            chunks.append(event)


def hear(events: Iterable[Event], chunk_ms: int = 100) -> dict[str, HeardCall]:
    calls: dict[str, HeardCall] = defaultdict(HeardCall)
    for event in events:
        if isinstance(event, CallStarted | AudioChunk | CallEnded):
            calls[event.call].take(event, chunk_ms)
    return dict(calls)


async def read_all(bus: Bus) -> list[Event]:
    """Everything on the audio topic."""
    events: list[Event] = []
    async with bus.follower([AUDIO], from_start=True) as follower:
        while records := await follower.poll(timeout_s=0.3):
            events += [AUDIO.decode(record.value) for record in records]
            await asyncio.sleep(0)
    return events
