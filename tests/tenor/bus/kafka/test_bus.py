"""The bus on Kafka where it is not like the embedded one: brokers that go away, and topics that are already there."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from deploy.kafka.broker import Broker
from tenor.bus import Bus, Commit, Partition, Record
from tenor.bus.opening import open_bus
from tenor.errors import BadInput, Unavailable
from tenor.events import AUDIO, SENTENCES, TRANSCRIPTS, Topic
from tenor.settings import Settings
from tests.tenor.bus.processes import note
from tests.tenor.bus.reading import drained, fresh_topic

pytestmark = pytest.mark.kafka

CALLS = [f"call-{number}" for number in range(6)]


async def make_topics(broker: Broker, **partitions: int) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=broker.address)
    await admin.start()
    await admin.create_topics([NewTopic(name.replace("_", "."), count, 1) for name, count in partitions.items()])
    while len(await admin.list_topics()) < len(partitions):
        await asyncio.sleep(0.05)
    await admin.close()


@pytest.mark.parametrize("end", [Broker.stop, Broker.kill], ids=["stopped", "killed"])
async def test_nothing_is_lost_or_reordered_when_the_broker_restarts_and_only_the_hasty_complain(
    kafka_broker: Broker, kafka_settings: Settings, end: Callable[[Broker], None]
) -> None:
    topic = fresh_topic()
    stop = asyncio.Event()
    published: dict[str, int] = dict.fromkeys(CALLS, 0)
    read: list[Record] = []

    async def publisher(bus: Bus, call: str) -> None:
        while not stop.is_set():
            await bus.publish(topic, note(call, str(published[call])))
            published[call] += 1
            await asyncio.sleep(0.005)

    async def reader(bus: Bus) -> None:
        async with bus.consumer([topic], "readers") as consumer:
            while not stop.is_set() or len({(r.partition, r.offset) for r in read}) < sum(published.values()):
                records = await consumer.poll(timeout_s=0.2)
                read.extend(records)
                await consumer.commit({Partition(r.topic, r.partition): Commit(r.offset + 1) for r in records})

    impatient = kafka_settings.model_copy(update={"bus": kafka_settings.bus.model_copy(update={"patience_s": 1.0})})
    async with open_bus(kafka_settings) as bus, open_bus(impatient) as hasty:
        other = fresh_topic()
        await hasty.publish(other, note("call", "before"))
        async with asyncio.timeout(90), asyncio.TaskGroup() as tasks:
            for call in CALLS:
                tasks.create_task(publisher(bus, call))
            tasks.create_task(reader(bus))
            while min(published.values()) < 20:
                await asyncio.sleep(0.05)
            await asyncio.to_thread(end, kafka_broker)
            started = time.monotonic()
            for asking in (hasty.publish(other, note("call")), hasty.bounds(Partition(other.name, 0))):
                with pytest.raises(Unavailable, match=f"no Kafka at {kafka_broker.address}"):
                    await asking
            assert 1 < time.monotonic() - started < 10
            await asyncio.to_thread(kafka_broker.start)
            before = dict(published)
            while any(published[call] < before[call] + 20 for call in CALLS):
                await asyncio.sleep(0.05)
            stop.set()
        assert (await hasty.bounds(Partition(other.name, 0))) is not None
        async with bus.follower([topic], from_start=True) as follower:
            records = await drained(follower, sum(published.values()))
    for call in CALLS:
        texts = [topic.decode(record.value).text for record in records if record.key == call]
        assert texts == [str(number) for number in range(published[call])]


async def test_topics_with_unequal_partitions_are_named(kafka_broker: Broker, kafka_settings: Settings) -> None:
    await make_topics(kafka_broker, tenor_audio=3, tenor_transcripts=5)
    async with open_bus(kafka_settings) as bus:
        with pytest.raises(BadInput, match=r"tenor\.audio 3, tenor\.transcripts 5"):
            await bus.partitions(SENTENCES)


async def test_new_topics_get_as_many_partitions_as_the_others_have(
    kafka_broker: Broker, kafka_settings: Settings
) -> None:
    await make_topics(kafka_broker, tenor_audio=6)
    async with open_bus(kafka_settings) as bus:
        assert await bus.partitions(TRANSCRIPTS) == 6
        assert await bus.partitions(AUDIO) == 6


async def test_more_copies_than_brokers_is_refused(kafka_settings: Settings) -> None:
    three = kafka_settings.model_copy(update={"bus": kafka_settings.bus.model_copy(update={"replication": 3})})
    async with open_bus(three) as bus:
        with pytest.raises(BadInput, match="3 copies") as caught:
            await bus.partitions(fresh_topic())
    assert "bus.replication" in caught.value.hint


async def test_a_topic_name_kafka_does_not_take_is_an_error_not_a_wait(kafka_settings: Settings) -> None:
    async with open_bus(kafka_settings) as bus:
        with pytest.raises(Unavailable, match="nvalid"):
            await bus.partitions(Topic("no spaces please", None, 60))


async def test_what_fails_right_after_opening_says_why(kafka_settings: Settings) -> None:
    """And does not look like an interruption."""

    async def use() -> None:
        async with open_bus(kafka_settings):
            raise BadInput("the flows are wrong")

    with pytest.raises(BadInput, match="flows"):
        await asyncio.create_task(use())
