"""A call that was erased is taken off the bus too, and nobody else notices."""

from __future__ import annotations

from pathlib import Path

from tenor.bus import Commit, Partition, lag
from tenor.bus.opening import open_bus
from tenor.bus.partitioning import partition_of
from tenor.settings import Settings
from tests.tenor.bus.processes import note
from tests.tenor.bus.reading import drained, fresh_topic

PARTITIONS = 4


def neighbours() -> tuple[str, str]:
    """Two calls of one partition."""
    first = "call-0"
    number = partition_of(first, PARTITIONS)
    return first, next(f"call-{n}" for n in range(1, 100) if partition_of(f"call-{n}", PARTITIONS) == number)


async def test_its_bytes_are_gone_from_the_disk_and_the_others_stay_where_they_were(
    embedded_settings: Settings,
) -> None:
    topic, (gone, kept) = fresh_topic(), neighbours()
    partition = Partition(topic.name, partition_of(gone, PARTITIONS))
    async with open_bus(embedded_settings) as bus:
        for number in range(30):
            await bus.publish(topic, note(gone, f"a secret {number}"))
            await bus.publish(topic, note(kept, f"something else {number}"))
        before = [record for record in await bus.fetch(partition, 0) if record.key == kept]
        assert _found(embedded_settings.home, b"a secret")

        assert await bus.forget(gone) == 30
        assert await bus.fetch(partition, 0) == before
        assert await bus.forget(gone) == 0
        assert not _found(embedded_settings.home, b"a secret")
        assert _found(embedded_settings.home, b"something else")
        position = await bus.publish(topic, note(kept, "and on"))
    assert position.offset == before[-1].offset + 1


async def test_many_records_go_in_pieces(embedded_settings: Settings) -> None:
    topic = fresh_topic()
    async with open_bus(embedded_settings) as bus:
        await bus.publish_many(topic, [note("call-0", str(number)) for number in range(2500)])
        assert await bus.forget("call-0") == 2500


async def test_a_group_that_had_only_those_left_to_read_has_no_lag(embedded_settings: Settings) -> None:
    topic, (gone, kept) = fresh_topic(), neighbours()
    async with open_bus(embedded_settings) as bus:
        await bus.publish(topic, note(kept, "read"))
        async with bus.consumer([topic], "readers") as consumer:
            (record,) = await drained(consumer, 1)
            partition = Partition(record.topic, record.partition)
            await consumer.commit({partition: Commit(record.offset + 1, "so far")})
        await bus.publish_many(topic, [note(gone, str(number)) for number in range(5)])
        assert await lag(bus, [topic], "readers") == 5
        await bus.forget(gone)
        assert await lag(bus, [topic], "readers") == 0
        await bus.publish(topic, note(kept, "next"))
        async with bus.consumer([topic], "readers") as consumer:
            (record,) = await drained(consumer, 1)
            assert topic.decode(record.value).text == "next"


async def test_a_group_that_waits_where_nothing_ever_came_is_no_hindrance(embedded_settings: Settings) -> None:
    silent, topic = fresh_topic(), fresh_topic()
    async with open_bus(embedded_settings) as bus:
        async with bus.consumer([silent], "readers") as consumer:
            assert await consumer.poll(1, 0.5) == []
            assert len(consumer.assignment()) == PARTITIONS
            await consumer.commit({partition: Commit(0, "") for partition in consumer.assignment()})
        await bus.publish(topic, note("call-0", "a secret"))
        assert await bus.forget("call-0") == 1
        assert await lag(bus, [silent], "readers") == 0


def _found(folder: Path, words: bytes) -> bool:
    return any(words in path.read_bytes() for path in folder.glob("bus.db*"))
