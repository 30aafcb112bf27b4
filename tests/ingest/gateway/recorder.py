"""A bus in memory that remembers what was published, and can be away."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Self

from tenor.bus import AssignmentHook, Consumer, Partition, Position, Progress, Record, no_hook
from tenor.errors import Unavailable
from tenor.events import Event, Topic


class Recorder:
    def __init__(self) -> None:
        self.events: list[Event] = []
        self.away = False
        self.open = asyncio.Event()
        """Cleared: publishing takes as long as it stays so."""
        self.open.set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None: ...

    async def publish(self, topic: Topic, event: Event) -> Position:
        return (await self.publish_many(topic, [event]))[0]

    async def publish_many(self, topic: Topic, events: Iterable[Event]) -> list[Position]:
        await self.open.wait()
        if self.away:
            raise Unavailable("the bus is away")
        self.events += [topic.decode(topic.encode(event)) for event in events]
        return [Position(0, number) for number in range(len(self.events))]

    def consumer(
        self,
        topics: Iterable[Topic],
        group: str,
        *,
        on_assigned: AssignmentHook = no_hook,
        on_revoked: AssignmentHook = no_hook,
    ) -> Consumer:
        raise NotImplementedError

    def follower(self, topics: Iterable[Topic], *, from_start: bool = False) -> Consumer:
        raise NotImplementedError

    async def fetch(self, partition: Partition, offset: int, max_records: int = 500) -> list[Record]:
        raise NotImplementedError

    async def bounds(self, partition: Partition) -> tuple[int, int]:
        raise NotImplementedError

    async def partitions(self, topic: Topic) -> int:
        return 1

    async def progress(self, topics: Iterable[Topic], group: str) -> dict[Partition, Progress]:
        raise NotImplementedError

    async def members(self, group: str) -> int:
        raise NotImplementedError

    async def forget(self, call: str) -> int:
        raise NotImplementedError
