"""The bus: topics of ordered events between the stages. One small interface, two implementations.

    embedded   one SQLite file in WAL mode           sqlite:///.tenor/bus.db
    Kafka      aiokafka                              kafka://host:9092[,host:9092]

Promises, the same for both (tests/tenor/bus holds them to it):
- what `publish` returned for is durable and is read by every group at least once;
- events of one call are read in the order they were published, since a call is one partition;
- within a group a partition belongs to one consumer at a time; a dead one's partitions go to the others;
- a member that wakes after its lease can neither commit nor publish for what went to others (`holder`);
- reading goes on from the committed offset after any crash;
- topics of the bus have the same number of partitions and one way of choosing among them, so that
  partition 3 of `tenor.audio` and partition 3 of `tenor.transcripts` hold the same calls.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, Self

from tenor.errors import TenorError
from tenor.events import Event, Topic


class Partition(NamedTuple):
    topic: str
    number: int


class Record(NamedTuple):
    """One event as it lies on the bus; `topic.decode(record.value)` reads it."""

    topic: str
    partition: int
    offset: int
    key: str
    value: bytes
    at: float
    """When it was published, in seconds since the epoch."""


class PartitionLost(TenorError):
    """The member that wanted to publish for a partition no longer holds it: another has taken it over."""


class Position(NamedTuple):
    """Where a published event came to lie."""

    partition: int
    offset: int


class Commit(NamedTuple):
    """How far a group has come on a partition: the next offset to read, and a note to its successor."""

    offset: int
    note: str = ""
    """Comes back to whoever takes over the partition; tenor/bus/commit_note.py says how long it may be."""


class Progress(NamedTuple):
    """How far a group is on a partition."""

    committed: int
    """Where a successor would begin: a stage may hold on to the records of a call until the call is over."""
    reached: int
    """Where it reads on."""
    end: int
    """Where the partition ends."""

    @property
    def lag(self) -> int:
        """Records that it is not done with."""
        return self.end - self.committed

    @property
    def unread(self) -> int:
        return self.end - self.reached


AssignmentHook = Callable[[Sequence[Partition]], Awaitable[None]]


async def no_hook(_: Sequence[Partition]) -> None:
    """For consumers that keep nothing per partition."""


class Consumer(Protocol):
    """A member of a group. Use as `async with bus.consumer(...) as consumer`."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *exc: object) -> None: ...

    async def poll(self, max_records: int = 500, timeout_s: float = 0.5) -> list[Record]:
        """The next records of the partitions held, in order within each; empty after `timeout_s`.

        Hooks of a rebalance run inside `poll` (or leaving the context), never beside it."""
        ...

    async def commit(self, commits: Mapping[Partition, Commit]) -> None:
        """Note progress. Partitions no longer held are ignored: their new owner knows better."""
        ...

    async def committed(self, partition: Partition) -> Commit | None: ...

    async def seek(self, partition: Partition, offset: int) -> None:
        """Read on from another offset of a partition held."""
        ...

    def assignment(self) -> frozenset[Partition]: ...

    async def holds(self, numbers: Collection[int]) -> bool:
        """Whether these partitions of all topics are ours, as the group says: also right after we were frozen."""
        ...

    def joined(self) -> bool:
        """Whether the group has said what is ours, which may be nothing."""
        ...


class Bus(Protocol):
    """Use as `async with open_bus(...) as bus`. One per process is enough; it is safe for many tasks."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *exc: object) -> None: ...

    async def publish(self, topic: Topic, event: Event, *, holder: Consumer | None = None) -> Position:
        """Durable when it returns. Raises `Unavailable` only after the configured patience has run out.

        With `holder`, a member of a group, only while it holds the partition of the event's call; otherwise
        `PartitionLost`. A call's partition has the same number on every topic."""
        ...

    async def publish_many(
        self, topic: Topic, events: Iterable[Event], *, holder: Consumer | None = None
    ) -> list[Position]:
        """As `publish`, in order, in one go: what bulk work uses. With `holder`, it has to hold them all."""
        ...

    def consumer(
        self,
        topics: Iterable[Topic],
        group: str,
        *,
        on_assigned: AssignmentHook = no_hook,
        on_revoked: AssignmentHook = no_hook,
    ) -> Consumer:
        """Join a group. Without a committed offset it starts at the oldest record kept.

        `on_revoked` runs while the partitions are still ours: finish and commit there."""
        ...

    def follower(self, topics: Iterable[Topic], *, from_start: bool = False) -> Consumer:
        """Read all partitions for oneself, without a group or commits: live views, one-shot commands."""
        ...

    async def fetch(self, partition: Partition, offset: int, max_records: int = 500) -> list[Record]:
        """Records of a partition from `offset` (or the oldest kept, if that is later) to the end, at most
        `max_records`, without a group and without waiting. Empty: there is nothing after `offset` yet."""
        ...

    async def bounds(self, partition: Partition) -> tuple[int, int]:
        """Oldest offset kept, and the offset the next record will get."""
        ...

    async def partitions(self, topic: Topic) -> int:
        """How many a topic has; it is made, if it is missing."""
        ...

    async def existing(self, topics: Iterable[Topic]) -> list[Topic]:
        """Those of them that were made; nothing is made by asking."""
        ...

    async def progress(self, topics: Iterable[Topic], group: str) -> dict[Partition, Progress]: ...

    async def members(self, group: str) -> int:
        """How many consumers of a group are alive. One that was killed counts until its lease has run out."""
        ...

    async def forget(self, call: str) -> int:
        """Delete the records of a call that is over, from the disk too, and say how many there were. On Kafka
        there is no such thing: 0, and they go when the topics' retention ends."""
        ...


async def lag(bus: Bus, topics: Iterable[Topic], group: str) -> int:
    """How many records on the topics the group is not done with."""
    return sum(at.lag for at in (await bus.progress(topics, group)).values())
