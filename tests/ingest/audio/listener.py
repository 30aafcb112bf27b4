"""A bus that only listens."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from typing import cast

from tenor.bus import Bus, Consumer, Position
from tenor.events import AUDIO, AudioChunk, CallEnded, CallStarted, Event, Topic


class Listener:
    """Keeps what is published, as it would be read, and when it came."""

    def __init__(self) -> None:
        self.events: list[CallStarted | AudioChunk | CallEnded] = []
        self.came_at: list[float] = []
        self.publications: list[int] = []
        self.heard = asyncio.Event()

    @property
    def bus(self) -> Bus:
        return cast(Bus, self)

    async def publish(self, topic: Topic, event: Event, *, holder: Consumer | None = None) -> Position:
        return (await self.publish_many(topic, [event]))[0]

    async def publish_many(
        self, topic: Topic, events: Iterable[Event], *, holder: Consumer | None = None
    ) -> list[Position]:
        assert topic is AUDIO
        decoded = [topic.decode(topic.encode(event)) for event in events]
        self.events += decoded
        self.came_at += [time.time()] * len(decoded)
        self.publications.append(len(decoded))
        if any(isinstance(event, AudioChunk) for event in decoded):
            self.heard.set()
        return [Position(0, len(self.events))] * len(decoded)

    @property
    def started(self) -> CallStarted:
        first = self.events[0]
        assert isinstance(first, CallStarted)
        return first

    @property
    def ended(self) -> CallEnded:
        last = self.events[-1]
        assert isinstance(last, CallEnded)
        return last

    def chunks(self, channel: int = 0) -> list[AudioChunk]:
        return [event for event in self.events if isinstance(event, AudioChunk) and event.channel == channel]

    def pcm(self, channel: int = 0) -> bytes:
        return b"".join(chunk.pcm for chunk in self.chunks(channel))
