"""The loop of every stage: poll, work, commit what has changed, take partitions over and hand them on.

A stage says what it keeps of a partition and what it does with records; the loop does the rest:

    assigned ---> open      what the stage keeps of the partition, from where its last owner committed
    poll -------> step      with the records that came, of all partitions held; without any, too
    now and then  commit    what each partition says may be committed, if that has changed
    revoked ----> close     then a last commit, while the partition is still ours

A stage that reads several topics has the same partition of all of them or of none: the topics have equally many, and
a call lies on the same one everywhere. Topics that come first are read again from their commit when the last has come.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import structlog
from prometheus_client import Counter, Gauge

from tenor.aio import run_to_completion
from tenor.bus import Bus, Commit, Consumer, Partition, PartitionLost, Position, Record
from tenor.bus.dead import dead_letter
from tenor.bus.partitioning import partition_of
from tenor.events import DEAD, Event, Topic

log = structlog.get_logger(__name__)

UNREAD = Gauge("tenor_unread_records", "Records on the bus that the workers of a stage have not come to", ["stage"])
"""Of all its workers together, told by each: one that died is missed, and how many there are does not matter."""
COMMIT_S = 1.0
POLL_S = 0.25
"""How long a quiet loop waits for records before its stage gets a turn."""


Publish = Callable[[Topic, Event], Coroutine[Any, Any, Position | None]]
"""As `PartitionLoop.publish`."""


class Takeover(NamedTuple):
    """A partition that becomes ours, and how far its last owner had come, by topic."""

    number: int
    positions: dict[str, int]
    """The offset that is read next: the committed one, or the oldest kept."""
    notes: dict[str, str]
    """Of the commits; empty where there is none."""


class HeldPartition(Protocol):
    """What a stage keeps of a partition that it holds."""

    def commits(self) -> Mapping[Partition, Commit]:
        """How far each topic may be committed. Asked for the last time after `close`."""
        ...

    async def close(self) -> None:
        """Stop working on it: nothing is published for this partition after it returns."""
        ...


class ReadPartition:
    """For a stage that keeps nothing of a partition: a record is done when it has been worked on."""

    def __init__(self, taken: Takeover) -> None:
        self._next = {Partition(topic, taken.number): offset for topic, offset in taken.positions.items()}

    def done(self, record: Record) -> None:
        self._next[Partition(record.topic, record.partition)] = record.offset + 1

    def commits(self) -> Mapping[Partition, Commit]:
        return {partition: Commit(offset) for partition, offset in self._next.items()}

    async def close(self) -> None:
        """There is nothing to stop."""


P = TypeVar("P", bound=HeldPartition)


class PartitionLoop(Generic[P]):
    def __init__(
        self,
        bus: Bus,
        stage: str,
        topics: Sequence[Topic],
        open_partition: Callable[[Takeover], Awaitable[P]],
        step: Callable[[Sequence[Record]], Awaitable[None]],
        *,
        max_records: int = 500,
        commit_s: float | None = None,
        dead_letters: Counter | None = None,
    ) -> None:
        """`stage` names the consumer group and the sender of dead letters, which `dead_letters` counts.
        `commit_s`: the least time between two commits, COMMIT_S by default; 0 commits after every step."""
        self.partitions: dict[int, P] = {}
        """By number, those that are held of every topic."""
        self._bus, self._stage, self._topics = bus, stage, tuple(topics)
        self._open, self._step = open_partition, step
        self._max_records, self._commit_s = max_records, COMMIT_S if commit_s is None else commit_s
        self._dead_letters = dead_letters
        self._committed: dict[Partition, Commit] = {}
        self._joined = False

    async def run(self) -> None:
        """Until cancelled, or until a step raises. Either way the partitions are closed and committed."""
        consumer = self._consumer = self._bus.consumer(
            self._topics, self._stage, on_assigned=self._assigned, on_revoked=self._revoked
        )
        try:
            async with consumer:
                await self._work(consumer)
        finally:
            for partition in self.partitions.values():  # what leaving the group could not
                await partition.close()
            self.partitions.clear()

    async def waits_for(self) -> str:
        """What the loop cannot work without: a bus that answers, which says how much lies there unread, and a place
        among the workers."""
        progress = await self._bus.progress(self._topics, self._stage)
        UNREAD.labels(self._stage).set(sum(at.unread for at in progress.values()))
        return "" if self._joined else "its share of the partitions"

    async def holds(self, number: int) -> bool:
        """Whether a partition is still ours, also right after we were frozen: asked before what goes out by another
        way than the bus."""
        return await self._consumer.holds({number})

    async def publish(self, topic: Topic, event: Event) -> Position | None:
        """As the holder of the partition of the event's call. None, and nothing is published, when another worker has
        taken it over while we were frozen or cut off: the next poll closes it."""
        try:
            return await self._bus.publish(topic, event, holder=self._consumer)
        except PartitionLost:
            log.warning("what a partition's new holder tells is not told again", stage=self._stage, call=event.call)
            return None

    async def publish_many(self, topic: Topic, events: Iterable[Event]) -> None:
        """As `publish`, in order for each call; of any number of partitions."""
        count = await self._bus.partitions(topic)
        by_partition = defaultdict[int, list[Event]](list)
        for event in events:
            by_partition[partition_of(event.call, count)].append(event)
        await asyncio.gather(*(self._publish_held(topic, some) for some in by_partition.values()))

    async def _publish_held(self, topic: Topic, events: Sequence[Event]) -> None:
        try:
            await self._bus.publish_many(topic, events, holder=self._consumer)
        except PartitionLost:
            calls = sorted({event.call for event in events})
            log.warning("what a partition's new holder tells is not told again", stage=self._stage, calls=calls)

    async def bury(self, record: Record, reason: str) -> None:
        """A record cannot be read or handled: it goes to the dead letters, and the stage goes on."""
        if self._dead_letters is not None:
            self._dead_letters.inc()
        log.warning(
            "a record could not be handled",
            stage=self._stage, topic=record.topic, partition=record.partition, offset=record.offset, reason=reason,
        )  # fmt: skip
        if record.topic != DEAD.name:  # it would go round for ever
            await run_to_completion(self._bus.publish(DEAD, dead_letter(self._stage, record, reason)))

    async def _work(self, consumer: Consumer) -> None:
        committed = time.monotonic()
        while True:
            records = await consumer.poll(self._max_records, POLL_S)
            self._joined = self._joined or consumer.joined()
            await self._step([record for record in records if record.partition in self.partitions])
            if time.monotonic() - committed >= self._commit_s:
                committed = time.monotonic()
                await self._commit(tuple(self.partitions))

    async def _assigned(self, assigned: Sequence[Partition]) -> None:
        held = self._consumer.assignment()
        for number in sorted({partition.number for partition in assigned} - self.partitions.keys()):
            if held.issuperset(self._parts(number)):
                self.partitions[number] = await self._open(await self._take_over(number))

    async def _take_over(self, number: int) -> Takeover:
        taken = Takeover(number, {}, {})
        for part in self._parts(number):
            commit = await self._consumer.committed(part)
            if commit is not None:
                self._committed[part] = commit
            oldest, _ = await self._bus.bounds(part)
            taken.positions[part.topic] = max(oldest, commit.offset) if commit else oldest
            taken.notes[part.topic] = commit.note if commit else ""
            await self._consumer.seek(part, taken.positions[part.topic])
        return taken

    async def _revoked(self, revoked: Sequence[Partition]) -> None:
        numbers = {partition.number for partition in revoked} & self.partitions.keys()
        await asyncio.gather(*(self.partitions[number].close() for number in numbers))
        await self._commit(numbers)
        for number in numbers:
            del self.partitions[number]
            for part in self._parts(number):
                self._committed.pop(part, None)

    async def _commit(self, numbers: Iterable[int]) -> None:
        commits = {part: commit for number in numbers for part, commit in self.partitions[number].commits().items()}
        changed = {part: commit for part, commit in commits.items() if self._committed.get(part) != commit}
        if changed:
            await self._consumer.commit(changed)
            self._committed |= changed

    def _parts(self, number: int) -> list[Partition]:
        return [Partition(topic.name, number) for topic in self._topics]
