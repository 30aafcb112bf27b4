"""The bus on Apache Kafka, through aiokafka."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import islice
from typing import Self

from aiokafka import AIOKafkaProducer, TopicPartition, errors
from aiokafka.admin import AIOKafkaAdminClient

from tenor.bus import AssignmentHook, Consumer, Partition, PartitionLost, Position, Progress, Record, no_hook
from tenor.bus.commit_note import progress
from tenor.bus.kafka.bulk import BulkPublisher, producer_options
from tenor.bus.kafka.connection import CONNECT_S, KafkaConnection
from tenor.bus.kafka.consumer import KafkaFollower, KafkaMember, commits_of, records_of, start_consumer, stop_consumer
from tenor.bus.kafka.outage import OutageWatch
from tenor.bus.kafka.topics import KafkaTopics
from tenor.bus.partitioning import checked_size, partition_of
from tenor.events import Event, Topic
from tenor.settings import BusSettings

PIECE = 5000
"""Events of a bulk that wait for their acknowledgement together."""
ASK_MS = 10_000


class KafkaBus:
    def __init__(self, servers: list[str], settings: BusSettings) -> None:
        self._connection = KafkaConnection(servers, settings)
        self._patience_s = settings.patience_s
        self._reading = asyncio.Lock()
        self._there: set[str] = set()
        self._turns: defaultdict[tuple[str, int], asyncio.Lock] = defaultdict(asyncio.Lock)
        """aiokafka lets an event overtake one that waits for room in its partition's batch."""

    async def __aenter__(self) -> Self:
        connection, open_s = self._connection, min(CONNECT_S, self._patience_s)
        async with AsyncExitStack() as stack:
            self._admin = await connection.started(self._make_admin, AIOKafkaAdminClient.close, open_s)
            stack.push_async_callback(self._admin.close)
            self._producer = await connection.started(self._make_producer, AIOKafkaProducer.stop, open_s)
            stack.push_async_callback(self._stop_producer)
            # Reads what no group reads: `fetch`, `bounds`, `progress`.
            self._reader = await start_consumer(connection)
            stack.push_async_callback(stop_consumer, self._reader)
            watch = OutageWatch(connection.where, self._patience_s, lambda: self._admin.list_topics())
            connection.outage = await stack.enter_async_context(watch)
            self._closing = stack.pop_all()
        self._topics = KafkaTopics(self._admin, self._producer, connection)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._closing.aclose()

    async def publish(self, topic: Topic, event: Event, *, holder: Consumer | None = None) -> Position:
        count = await self._topics.ensure(topic)
        value = checked_size(topic.name, topic.encode(event))
        number = partition_of(event.call, count)
        async with self._patience():
            async with self._turns[topic.name, number]:
                await _check(holder, {number})
                sending = await self._producer.send(topic.name, value, event.call.encode(), number)
            sent = await sending
        return Position(sent.partition, sent.offset)

    async def publish_many(
        self, topic: Topic, events: Iterable[Event], *, holder: Consumer | None = None
    ) -> list[Position]:
        count = await self._topics.ensure(topic)
        positions: list[Position] = []
        remaining = iter(events)
        while piece := list(islice(remaining, PIECE)):
            async with self._patience():
                await _check(holder, {partition_of(event.call, count) for event in piece})
                positions += await BulkPublisher(self._producer, topic, count, self._turns).publish(piece)
        return positions

    def consumer(
        self,
        topics: Iterable[Topic],
        group: str,
        *,
        on_assigned: AssignmentHook = no_hook,
        on_revoked: AssignmentHook = no_hook,
    ) -> Consumer:
        return KafkaMember(self._connection, self._topics, topics, self._admin, group, on_assigned, on_revoked)

    def follower(self, topics: Iterable[Topic], *, from_start: bool = False) -> Consumer:
        return KafkaFollower(self._connection, self._topics, topics, from_start=from_start)

    async def fetch(self, partition: Partition, offset: int, max_records: int = 500) -> list[Record]:
        tp = TopicPartition(*partition)

        async def attempt() -> list[Record]:
            oldest, end = await self._bounds(tp)
            position = max(offset, oldest)
            found: list[Record] = []
            if position >= end:
                return []
            self._reader.assign([tp])
            try:
                self._reader.seek(tp, position)
                while position < end and len(found) < max_records:
                    got = await self._reader.getmany(tp, timeout_ms=1000, max_records=max_records - len(found))
                    found += records_of(tp, got.get(tp, ()))
                    position = found[-1].offset + 1 if found else position
            finally:
                self._reader.unsubscribe()  # or it would go on fetching in the background
            return found

        async with self._reading:
            return await self._connection.patiently(attempt)

    async def bounds(self, partition: Partition) -> tuple[int, int]:
        return await self._connection.patiently(lambda: self._bounds(TopicPartition(*partition)))

    async def partitions(self, topic: Topic) -> int:
        return await self._topics.ensure(topic)

    async def existing(self, topics: Iterable[Topic]) -> list[Topic]:
        there = await self._topics.names()
        return [topic for topic in topics if topic.name in there]

    async def progress(self, topics: Iterable[Topic], group: str) -> dict[Partition, Progress]:
        wanted = [Partition(topic.name, n) for topic in topics for n in range(await self._topics.ensure(topic))]
        tps = [TopicPartition(*partition) for partition in wanted]

        async def attempt() -> dict[Partition, Progress]:
            commits = await commits_of(self._admin, group, wanted)
            oldest, ends = await self._reader.beginning_offsets(tps), await self._reader.end_offsets(tps)
            return {
                partition: progress(commits.get(partition), oldest[tp], ends[tp])
                for partition, tp in zip(wanted, tps, strict=True)
            }

        return await self._connection.patiently(attempt)

    async def members(self, group: str) -> int:
        async def attempt() -> int:
            [answer] = await self._admin.describe_consumer_groups([group])
            return sum(len(described["members"]) for described in answer.to_object()["groups"])

        return await self._connection.patiently(attempt)

    async def forget(self, call: str) -> int:
        return 0  # Kafka deletes whole segments, when their time has come

    def _make_admin(self) -> AIOKafkaAdminClient:
        return AIOKafkaAdminClient(**self._connection.options(), request_timeout_ms=ASK_MS)

    def _make_producer(self) -> AIOKafkaProducer:
        return AIOKafkaProducer(**self._connection.options(), **producer_options(self._patience_s))

    async def _stop_producer(self) -> None:
        stopping = asyncio.ensure_future(self._producer.stop())
        done, _ = await asyncio.wait([stopping], timeout=CONNECT_S)
        if not done:
            # Kafka is away and aiokafka would wait for it, with what was already said to be unpublished.
            self._producer._message_accumulator.fail_all(errors.KafkaConnectionError("the bus was closed"))
        await stopping

    @asynccontextmanager
    async def _patience(self) -> AsyncIterator[None]:
        """The producer tries again by itself, for ever; this is where it ends."""
        self._connection.check()
        try:
            async with asyncio.timeout(self._patience_s):
                yield
        except TimeoutError:
            raise self._connection.away() from None
        except errors.KafkaError as error:
            raise self._connection.explained(error) from error

    async def _bounds(self, tp: TopicPartition) -> tuple[int, int]:
        if tp.topic not in self._there:
            self._there.update(await self._admin.list_topics())
            if tp.topic not in self._there:  # asking for its offsets would wait until it is made
                return 0, 0
        oldest, end = await self._reader.beginning_offsets([tp]), await self._reader.end_offsets([tp])
        return oldest[tp], end[tp]


async def _check(holder: Consumer | None, numbers: set[int]) -> None:
    if holder is not None and not await holder.holds(numbers):
        raise PartitionLost("another worker has taken the call over")
