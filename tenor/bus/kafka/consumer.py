"""Consumers on Kafka: a follower reads everything for itself, a member shares with its group.

aiokafka rebalances in a task of its own. Here that task only leaves word; the hooks run in `poll`:

    aiokafka   revoked ------waits-------. join .... assigned
    poll              on_revoked, commit '                   on_assigned, then records

It revokes everything at each rebalance (its assignors are eager) and reads on from what was committed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Self

import structlog
from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, OffsetAndMetadata, TopicPartition, errors
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.coordinator.assignors.range import RangePartitionAssignor

from tenor.bus import AssignmentHook, Commit, Partition, Record
from tenor.bus.commit_note import checked_note
from tenor.bus.kafka.connection import RETRY_S, KafkaConnection
from tenor.bus.kafka.topics import KafkaTopics
from tenor.events import Topic

log = structlog.get_logger(__name__)

REBALANCE_LEASES = 3
"""How long a group waits for a member that lives but does not poll, before it goes on without it, in leases."""


_new = tuple.__new__
"""Makes a named tuple without a Python call, since this is done for every record."""


def records_of(partition: tuple[str, int], messages: Iterable[Any]) -> list[Record]:
    name, number = partition
    return [
        _new(Record, (name, number, m.offset, m.key.decode() if m.key else "", m.value or b"", m.timestamp / 1000))
        for m in messages
    ]


async def commits_of(
    admin: AIOKafkaAdminClient, group: str, partitions: Iterable[Partition]
) -> dict[Partition, Commit]:
    """What the group committed; partitions without a commit are left out."""
    wanted = [TopicPartition(*partition) for partition in partitions]
    found = await admin.list_consumer_group_offsets(group, partitions=wanted)
    return {Partition(*tp): Commit(at.offset, at.metadata or "") for tp, at in found.items() if at.offset >= 0}


async def start_consumer(connection: KafkaConnection, **options: Any) -> AIOKafkaConsumer:
    def make() -> AIOKafkaConsumer:
        return AIOKafkaConsumer(
            **connection.options(), **options, enable_auto_commit=False, auto_offset_reset="earliest"
        )

    return await connection.started(make, AIOKafkaConsumer.stop)


async def stop_consumer(kafka: AIOKafkaConsumer) -> None:
    """While Kafka is away, aiokafka lets the cancellation of its own fetches out of `stop`, and would end its caller
    as if that had been cancelled, with connections still open."""
    stopping = asyncio.ensure_future(kafka.stop())
    await asyncio.wait([stopping])
    if stopping.cancelled():
        await kafka._client.close()
    else:
        stopping.result()


class KafkaFollower:
    """All partitions, without a group."""

    def __init__(
        self, connection: KafkaConnection, topics: KafkaTopics, subscribed: Iterable[Topic], *, from_start: bool
    ) -> None:
        self._connection = connection
        self._topics = topics
        self._subscribed = tuple(subscribed)
        self._from_start = from_start
        self._held: set[Partition] = set()

    async def __aenter__(self) -> Self:
        self._kafka = await start_consumer(self._connection)
        self._held = {
            Partition(topic.name, number)
            for topic in self._subscribed
            for number in range(await self._topics.ensure(topic))
        }
        tps = [TopicPartition(*partition) for partition in self._held]
        self._kafka.assign(tps)
        offsets = self._kafka.beginning_offsets if self._from_start else self._kafka.end_offsets
        for tp, offset in (await self._connection.patiently(lambda: offsets(tps))).items():
            self._kafka.seek(tp, offset)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await stop_consumer(self._kafka)

    async def poll(self, max_records: int = 500, timeout_s: float = 0.5) -> list[Record]:
        self._connection.check()
        return self._records(
            await self._asked(self._kafka.getmany(timeout_ms=int(timeout_s * 1000), max_records=max_records))
        )

    async def commit(self, commits: Mapping[Partition, Commit]) -> None:
        """A follower keeps no progress."""

    async def committed(self, partition: Partition) -> Commit | None:
        return None

    async def seek(self, partition: Partition, offset: int) -> None:
        if partition in self._held:
            self._kafka.seek(TopicPartition(*partition), offset)

    def assignment(self) -> frozenset[Partition]:
        return frozenset(self._held)

    async def holds(self, numbers: Collection[int]) -> bool:
        return True

    def joined(self) -> bool:
        return True

    async def _asked(self, getting: Any) -> Any:
        try:
            return await getting
        except errors.KafkaError as error:
            if error.retriable:
                return {}
            raise self._connection.explained(error) from error

    @staticmethod
    def _records(found: Mapping[TopicPartition, list[Any]]) -> list[Record]:
        return [record for tp, messages in found.items() for record in records_of(tp, messages)]


class KafkaMember(KafkaFollower):
    """A member of a group."""

    def __init__(
        self,
        connection: KafkaConnection,
        topics: KafkaTopics,
        subscribed: Iterable[Topic],
        admin: AIOKafkaAdminClient,
        group: str,
        on_assigned: AssignmentHook,
        on_revoked: AssignmentHook,
    ) -> None:
        super().__init__(connection, topics, subscribed, from_start=True)
        self._admin, self._group = admin, group
        self._names = [topic.name for topic in self._subscribed]
        self._on_assigned, self._on_revoked = on_assigned, on_revoked
        self._commits: dict[Partition, Commit] = {}
        self._word = asyncio.Event()
        """Set when aiokafka's task left word."""
        self._waiting: asyncio.Timeout | None = None
        """Where `poll` waits for records; ended early when there is word."""
        self._going: asyncio.Future[None] | None = None
        """aiokafka waits for this: what is held must be given up."""
        self._coming: set[Partition] | None = None
        """What was assigned since."""
        self._leaving = False
        self._joined = False
        self._confirming = asyncio.Lock()
        self._confirmed_at = float("-inf")
        """When we last asked the group whether we are a member, and were."""

    async def __aenter__(self) -> Self:
        for topic in self._subscribed:
            await self._topics.ensure(topic)
        lease_ms = int(self._connection.settings.lease_s * 1000)
        self._kafka = await start_consumer(
            self._connection,
            group_id=self._group,
            session_timeout_ms=lease_ms,
            heartbeat_interval_ms=min(lease_ms // 3, 1000),
            rebalance_timeout_ms=REBALANCE_LEASES * lease_ms,
            # Topics have the same number of partitions, so this gives a call's events to one member.
            partition_assignment_strategy=(RangePartitionAssignor,),
        )
        self._kafka.subscribe(self._names, listener=_Listener(self))
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._leaving = True
        try:
            await self._give_up()
        finally:
            await stop_consumer(self._kafka)

    async def poll(self, max_records: int = 500, timeout_s: float = 0.5) -> list[Record]:
        self._connection.check()
        deadline = asyncio.get_running_loop().time() + timeout_s
        while True:
            self._word.clear()
            if self._going:
                await self._give_up()
            if self._coming is not None:
                await self._take()
                continue  # the hook may have taken long: is it still ours?
            # Between giving up and being assigned aiokafka would make us wait past our time.
            if self._held:
                found = await self._asked(self._kafka.getmany(max_records=max_records))
                found = found or await self._wait_for_records(max_records, deadline)
                if found:
                    return self._records(found)
            else:
                await self._wait_for_word(deadline)
            if asyncio.get_running_loop().time() >= deadline and not self._word.is_set():
                return []

    async def commit(self, commits: Mapping[Partition, Commit]) -> None:
        ours = {
            TopicPartition(*partition): OffsetAndMetadata(commit.offset, checked_note(commit.note))
            for partition, commit in commits.items()
            if partition in self._held
        }
        if not ours:
            return
        self._connection.check()
        try:
            async with asyncio.timeout(self._connection.settings.patience_s):  # aiokafka tries again by itself
                await self._kafka.commit(ours)
        except (errors.CommitFailedError, errors.IllegalStateError):
            log.info("partitions went to another member before their commit", group=self._group)
        except TimeoutError:
            raise self._connection.away() from None
        except errors.KafkaError as error:
            raise self._connection.explained(error) from error
        else:
            self._commits |= {partition: commits[partition] for partition in map(_partition, ours)}

    async def committed(self, partition: Partition) -> Commit | None:
        if partition in self._held:
            return self._commits.get(partition)
        found = await self._connection.patiently(lambda: commits_of(self._admin, self._group, [partition]))
        return found.get(partition)

    def joined(self) -> bool:
        return self._joined

    async def holds(self, numbers: Collection[int]) -> bool:
        """Whether these partitions are ours, as the group's coordinator said within half a lease, which also passes
        while we are frozen; asked again when that was longer ago."""
        async with self._confirming:
            while self._held.issuperset(Partition(name, number) for name in self._names for number in numbers):
                asked_at = asyncio.get_running_loop().time()
                if asked_at - self._confirmed_at < self._connection.settings.lease_s / 2:
                    return True
                if await self._kafka._coordinator._do_heartbeat():
                    self._confirmed_at = asked_at
                elif self._kafka._coordinator.generation < 0:  # the others gave us up
                    return False
                else:  # nobody answers
                    await asyncio.sleep(RETRY_S)
        return False

    # What aiokafka's task leaves word of

    async def revoked(self) -> None:
        self._coming = None
        if self._held and not self._leaving:
            self._going = asyncio.get_running_loop().create_future()
            self._leave_word()
            await self._going

    def assigned(self, partitions: Collection[TopicPartition]) -> None:
        self._coming = set(map(_partition, partitions))
        self._leave_word()

    def _leave_word(self) -> None:
        self._word.set()
        if self._waiting is not None:
            self._waiting.reschedule(asyncio.get_running_loop().time())

    # What poll does about it

    async def _give_up(self) -> None:
        if self._held:
            await self._on_revoked(sorted(self._held))
        self._held = set()
        if self._going and not self._going.done():
            self._going.set_result(None)
        self._going = None

    async def _take(self) -> None:
        coming = self._coming or set()
        if coming:
            self._commits = await self._connection.patiently(lambda: commits_of(self._admin, self._group, coming))
        if self._coming is coming:  # else another rebalance came in between
            self._coming = None
            self._held = coming
            if coming:
                await self._on_assigned(sorted(coming))
            self._joined = True

    async def _wait_for_records(self, max_records: int, deadline: float) -> Any:
        """Records, or nothing when time is up or aiokafka's task left word."""
        left = deadline - asyncio.get_running_loop().time()
        if left <= 0 or self._word.is_set():
            return {}
        # Not in a task of its own: cancelled here, aiokafka has not taken anything from its buffer yet.
        try:
            async with asyncio.timeout(None) as self._waiting:
                return await self._asked(
                    self._kafka.getmany(timeout_ms=max(1, int(left * 1000)), max_records=max_records)
                )
        except TimeoutError:
            return {}
        finally:
            self._waiting = None

    async def _wait_for_word(self, deadline: float) -> None:
        try:
            async with asyncio.timeout_at(deadline):
                await self._word.wait()
        except TimeoutError:
            pass


def _partition(tp: TopicPartition) -> Partition:
    return Partition(tp.topic, tp.partition)


class _Listener(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self, member: KafkaMember) -> None:
        self._member = member

    async def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        await self._member.revoked()

    async def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        self._member.assigned(assigned)
