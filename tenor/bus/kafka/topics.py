"""Topics on Kafka: made when missing, and all with the same number of partitions."""

from __future__ import annotations

from typing import Any

import structlog
from aiokafka import AIOKafkaProducer, errors
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from tenor.bus.kafka.connection import KafkaConnection
from tenor.bus.once import Once
from tenor.bus.partitioning import MAX_EVENT_BYTES
from tenor.errors import BadInput
from tenor.events import TOPICS, Topic

log = structlog.get_logger(__name__)


class KafkaTopics:
    def __init__(self, admin: AIOKafkaAdminClient, producer: AIOKafkaProducer, connection: KafkaConnection) -> None:
        self._admin = admin
        self._producer = producer
        self._connection = connection
        self._counts: Once[Topic, int] = Once(lambda topic: connection.patiently(lambda: self._find_or_make(topic)))

    async def ensure(self, topic: Topic) -> int:
        """The number of partitions of `topic`, which is made if it is missing."""
        return await self._counts.get(topic)

    async def names(self) -> frozenset[str]:
        """Of all topics of this Kafka."""
        return frozenset(await self._connection.patiently(self._found))

    async def _find_or_make(self, topic: Topic) -> int:
        found = await self._found()
        ours = {known.name for known in (*TOPICS, *self._counts.known, topic)}
        counts = {name: len(partitions) for name, partitions in found.items() if name in ours}
        if len(set(counts.values())) > 1:
            listed = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
            raise BadInput(
                f"topics of the bus must have the same number of partitions, but have: {listed}",
                "delete the odd ones (Tenor makes them again), or add partitions while no call is running",
            )
        wanted = next(iter(counts.values()), self._connection.settings.partitions)
        if topic.name not in found:
            await self._make(topic, wanted)
            found = await self._found()
        if not _ready(found.get(topic.name, []), wanted):
            raise errors.LeaderNotAvailableError(topic.name)  # just made: soon
        # Before the first event, or it would wait for this while later ones do not.
        await self._producer.partitions_for(topic.name)
        return wanted

    async def _found(self) -> dict[str, list[dict[str, Any]]]:
        """Partitions by topic. Asks for all, since asking for one by name might make it, with other settings."""
        return {topic["topic"]: topic["partitions"] for topic in await self._admin.describe_topics()}

    async def _make(self, topic: Topic, partitions: int) -> None:
        retention_ms = topic.retention_s * 1000
        settings = {
            "retention.ms": str(retention_ms),
            # Kafka forgets by whole segments: without this, raw audio would stay for a week.
            "segment.ms": str(max(1, retention_ms // 4)),
            "message.timestamp.type": "LogAppendTime",
            "max.message.bytes": str(MAX_EVENT_BYTES + 65536),
        }
        new = NewTopic(topic.name, partitions, self._connection.settings.replication, topic_configs=settings)
        try:
            response = await self._admin.create_topics([new], timeout_ms=10_000)
        except AttributeError:  # aiokafka's admin does not know the controller while brokers restart
            raise errors.NodeNotReadyError("no controller yet") from None
        for _, code, *message in response.topic_errors:
            error = errors.for_code(code)
            if error is errors.InvalidReplicationFactorError:
                raise BadInput(
                    f"Kafka has too few brokers for {self._connection.settings.replication} copies of {topic.name}",
                    "lower bus.replication",
                )
            if error not in (errors.NoError, errors.TopicAlreadyExistsError):
                raise error(*message)
        log.info("topic made", topic=topic.name, partitions=partitions)


def _ready(partitions: list[dict[str, Any]], wanted: int) -> bool:
    return len(partitions) == wanted and all(partition["leader"] >= 0 for partition in partitions)
