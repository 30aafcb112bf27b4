"""A bus in memory that remembers what was published, and can be away."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import Self

from tenor.bus import AssignmentHook, Commit, Consumer, Partition, Position, Progress, Record, no_hook
from tenor.errors import Unavailable
from tenor.events import Event, Topic


class Recorder:
    def __init__(self) -> None:
        self.events: list[Event] = []
        self.records: list[Record] = []
        self.away = False
        self.open = asyncio.Event()
        """Cleared: publishing takes as long as it stays so."""
        self.open.set()
        self.published = asyncio.Event()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None: ...

    async def publish(self, topic: Topic, event: Event, *, holder: Consumer | None = None) -> Position:
        return (await self.publish_many(topic, [event]))[0]

    async def publish_many(
        self, topic: Topic, events: Iterable[Event], *, holder: Consumer | None = None
    ) -> list[Position]:
        await self.open.wait()
        if self.away:
            raise Unavailable("the bus is away")
        for event in events:
            value = topic.encode(event)
            self.records.append(Record(topic.name, 0, len(self.records), event.call, value, time.time()))
            self.events.append(topic.decode(value))
        self.published.set()
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
        return Follower(self, {topic.name for topic in topics})

    async def fetch(self, partition: Partition, offset: int, max_records: int = 500) -> list[Record]:
        raise NotImplementedError

    async def bounds(self, partition: Partition) -> tuple[int, int]:
        raise NotImplementedError

    async def existing(self, topics: Iterable[Topic]) -> list[Topic]:
        return list(topics)

    async def partitions(self, topic: Topic) -> int:
        return 1

    async def progress(self, topics: Iterable[Topic], group: str) -> dict[Partition, Progress]:
        raise NotImplementedError

    async def members(self, group: str) -> int:
        raise NotImplementedError

    async def forget(self, call: str) -> int:
        raise NotImplementedError


class Follower:
    """Reads what is published after it was opened."""

    def __init__(self, bus: Recorder, topics: set[str]) -> None:
        self._bus, self._topics, self._at = bus, topics, 0

    async def __aenter__(self) -> Self:
        self._at = len(self._bus.records)
        return self

    async def __aexit__(self, *exc: object) -> None: ...

    async def poll(self, max_records: int = 500, timeout_s: float = 0.5) -> list[Record]:
        if self._at == len(self._bus.records):
            self._bus.published.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):
                    await self._bus.published.wait()
        found, self._at = self._bus.records[self._at :], len(self._bus.records)
        return [record for record in found if record.topic in self._topics]

    async def commit(self, commits: Mapping[Partition, Commit]) -> None: ...

    async def committed(self, partition: Partition) -> Commit | None:
        return None

    async def seek(self, partition: Partition, offset: int) -> None: ...

    def assignment(self) -> frozenset[Partition]:
        return frozenset()

    async def holds(self, numbers: Collection[int]) -> bool:
        return True

    def joined(self) -> bool:
        return True
