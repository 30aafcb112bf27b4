"""A bus in memory on a clock of its own, for workers that die at a chosen moment.

A worker has a `Handle` on it. When the handle's steps are used up the process is dead: whatever it was about to do, or
had just done without knowing, stays as it is, and nothing it tries afterwards has any effect.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Self

from tenor.bus import AssignmentHook, Commit, Consumer, Partition, Position, Progress, Record, no_hook
from tenor.events import TOPICS, Event, Topic


class Crash(BaseException):
    """The process is gone."""


class MemoryBus:
    """One partition of each topic."""

    def __init__(self) -> None:
        self.now = 1_790_000_000.0
        self.records: dict[str, list[Record]] = {topic.name: [] for topic in TOPICS}
        self.commits: dict[Partition, Commit] = {}

    def append(self, topic: Topic, event: Event) -> Position:
        self.now += 1.0
        records = self.records[topic.name]
        records.append(Record(topic.name, 0, len(records), event.call, topic.encode(event), self.now))
        return Position(0, len(records) - 1)

    def events(self, topic: Topic) -> list[Any]:
        return [topic.decode(record.value) for record in self.records[topic.name]]


class Handle:
    """What one process sees of the bus. `steps`: None never dies."""

    def __init__(self, bus: MemoryBus, steps: int | None = None) -> None:
        self._bus, self._left = bus, steps
        self.used = 0

    def step(self) -> None:
        """A moment at which the process may die."""
        self.used += 1
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                raise Crash

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        pass

    async def publish(self, topic: Topic, event: Event, *, holder: Consumer | None = None) -> Position:
        return (await self.publish_many(topic, [event]))[0]

    async def publish_many(
        self, topic: Topic, events: Iterable[Event], *, holder: Consumer | None = None
    ) -> list[Position]:
        self.step()  # before it is there
        await asyncio.sleep(0)
        found = [self._bus.append(topic, event) for event in events]
        self.step()  # it is there, and nobody here knows
        return found

    async def fetch(self, partition: Partition, offset: int, max_records: int = 500) -> list[Record]:
        self.step()
        return self._bus.records[partition.topic][offset : offset + max_records]

    async def bounds(self, partition: Partition) -> tuple[int, int]:
        return 0, len(self._bus.records[partition.topic])

    async def existing(self, topics: Iterable[Topic]) -> list[Topic]:
        return list(topics)

    async def partitions(self, topic: Topic) -> int:
        return 1

    def consumer(
        self,
        topics: Iterable[Topic],
        group: str,
        *,
        on_assigned: AssignmentHook = no_hook,
        on_revoked: AssignmentHook = no_hook,
    ) -> _Consumer:
        return _Consumer(self._bus, self, [Partition(topic.name, 0) for topic in topics], on_assigned, on_revoked)

    def follower(self, topics: Iterable[Topic], *, from_start: bool = False) -> _Consumer:
        raise NotImplementedError

    async def progress(self, topics: Iterable[Topic], group: str) -> dict[Partition, Progress]:
        raise NotImplementedError

    async def members(self, group: str) -> int:
        return 1

    async def forget(self, call: str) -> int:
        return 0


class _Consumer:
    def __init__(
        self,
        bus: MemoryBus,
        handle: Handle,
        parts: Sequence[Partition],
        assigned: AssignmentHook,
        revoked: AssignmentHook,
    ) -> None:
        self._bus, self._handle, self._parts = bus, handle, parts
        self._assigned, self._revoked = assigned, revoked
        self._next = dict.fromkeys(parts, 0)
        self._joined = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self._joined:
            await self._revoked(self._parts)

    async def poll(self, max_records: int = 500, timeout_s: float = 0.5) -> list[Record]:
        if not self._joined:
            self._joined = True
            await self._assigned(self._parts)
        await asyncio.sleep(0)
        found: list[Record] = []
        for part in self._parts:
            some = self._bus.records[part.topic][self._next[part] :]
            self._next[part] += len(some)
            found += some
        if found:
            self._handle.step()
        return found

    async def commit(self, commits: Mapping[Partition, Commit]) -> None:
        self._handle.step()
        self._bus.commits |= commits
        self._handle.step()

    async def committed(self, partition: Partition) -> Commit | None:
        return self._bus.commits.get(partition)

    async def seek(self, partition: Partition, offset: int) -> None:
        self._next[partition] = offset

    def assignment(self) -> frozenset[Partition]:
        return frozenset(self._parts)

    async def holds(self, numbers: Collection[int]) -> bool:
        return True

    def joined(self) -> bool:
        return True
