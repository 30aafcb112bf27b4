"""The bus: what ours costs over raw aiokafka, and what the embedded one carries.

    python -m benchmarks.pipeline.bus

Raw aiokafka and our Kafka bus take turns on the same real broker, with the same producer settings, on
batches of 100 ms audio chunks; each round gives a ratio, and the median of the ratios is what counts. The
raw side is given encoded bytes, ours the events, so encoding is on our bill. Latency is from before
`publish` in one process to `poll` returning in another.
"""

from __future__ import annotations

import asyncio
import random
import socket
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, OffsetAndMetadata

from deploy.kafka.broker import Broker
from tenor.bus import Bus, Commit, Partition
from tenor.bus.kafka.bulk import producer_options
from tenor.bus.opening import open_bus
from tenor.bus.partitioning import partition_of
from tenor.events import AudioChunk, Note, Topic
from tenor.settings import BusSettings, Settings

EVENTS, BATCH, ROUNDS = 6000, 500, 9
TIMES = 4
"""Reading is so much faster that a round reads this many times what one publishes."""
PARTITIONS = 12
NOTES = 200

CHUNKS = [
    AudioChunk(
        call=f"call-{number % 40}",
        channel=0,
        seq=number // 40,
        start_ms=number // 40 * 100,
        rate=8000,
        pcm=random.Random(number).randbytes(1600),
        captured_at=0.0,
    )
    for number in range(EVENTS)
]
BATCHES = [CHUNKS[start : start + BATCH] for start in range(0, EVENTS, BATCH)]


def new_topic() -> Topic:
    return Topic(f"bench.{uuid.uuid4().hex[:8]}", AudioChunk | Note, 3600, codec="msgpack")


class Rate(NamedTuple):
    """Events a second, by the clock on the wall and by the processor time of this process."""

    wall: float
    cpu: float


async def rate(work: Awaitable[object]) -> Rate:
    started, cpu = time.perf_counter(), time.process_time()
    await work
    return Rate(EVENTS / (time.perf_counter() - started), EVENTS / (time.process_time() - cpu))


async def publish_raw(producer: AIOKafkaProducer, topic: Topic, encoded: list[list[tuple[bytes, bytes, int]]]) -> None:
    for batch in encoded:
        sent = [await producer.send(topic.name, value, key, number) for key, value, number in batch]
        await asyncio.gather(*sent)


async def publish_ours(bus: Bus, topic: Topic) -> None:
    for batch in BATCHES:
        await bus.publish_many(topic, batch)


async def read_raw(address: str, topic: Topic) -> Rate:
    consumer = AIOKafkaConsumer(
        topic.name,
        bootstrap_servers=address,
        group_id=uuid.uuid4().hex,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
    )
    await consumer.start()
    clock = Clock()
    while clock.count < EVENTS * TIMES:
        found = await consumer.getmany(timeout_ms=500, max_records=BATCH)
        if found:
            offsets = {tp: OffsetAndMetadata(messages[-1].offset + 1, "") for tp, messages in found.items()}
            await consumer.commit(offsets)
            clock.read(sum(map(len, found.values())))
    await consumer.stop()
    return clock.rate()


async def read_ours(bus: Bus, topic: Topic) -> Rate:
    clock = Clock()
    async with bus.consumer([topic], uuid.uuid4().hex) as consumer:
        while clock.count < EVENTS * TIMES:
            if records := await consumer.poll(BATCH):
                last = {r.partition: r.offset for r in records}
                await consumer.commit({Partition(topic.name, p): Commit(last[p] + 1) for p in last})
                clock.read(len(records))
    return clock.rate()


class Clock:
    """Times reading from the end of the first batch, so that joining the group is left out."""

    def __init__(self) -> None:
        self.count = 0
        self._first = 0

    def read(self, count: int) -> None:
        self._ended = time.perf_counter(), time.process_time()
        if not self._first:
            self._first, self._started = count, self._ended
        self.count += count

    def rate(self) -> Rate:
        wall, cpu = (end - start for end, start in zip(self._ended, self._started, strict=True))
        return Rate((self.count - self._first) / wall, (self.count - self._first) / cpu)


async def in_turn(
    first: Callable[[], Awaitable[Rate]], second: Callable[[], Awaitable[Rate]]
) -> tuple[list[Rate], list[Rate]]:
    """Rates of both, round by round, each leading every other time; one round to warm up."""
    rates: tuple[list[Rate], list[Rate]] = ([], [])
    for number in range(ROUNDS + 1):
        pair = [(0, first), (1, second)]
        for which, work in pair if number % 2 else reversed(pair):
            measured = await work()
            if number:
                rates[which].append(measured)
    return rates


def compared(what: str, raw: list[Rate], ours: list[Rate]) -> None:
    ratios = sorted(mine.wall / theirs.wall for mine, theirs in zip(ours, raw, strict=True))
    cpu = statistics.median(mine.cpu / theirs.cpu for mine, theirs in zip(ours, raw, strict=True))
    print(
        f"{what}: ours {statistics.median(r.wall for r in ours):,.0f}/s, "
        f"raw aiokafka {statistics.median(r.wall for r in raw):,.0f}/s, "
        f"ratio {statistics.median(ratios):.2f} ({ratios[0]:.2f}-{ratios[-1]:.2f}; target 0.80), "
        f"by processor time {cpu:.2f}"
    )


async def compare_with_raw(address: str, settings: Settings) -> None:
    encoder = new_topic()
    encoded = [
        [(c.call.encode(), encoder.encode(c), partition_of(c.call, PARTITIONS)) for c in batch] for batch in BATCHES
    ]
    producer = AIOKafkaProducer(bootstrap_servers=address, **producer_options(60))
    await producer.start()
    async with open_bus(settings) as bus:
        topic = new_topic()
        await bus.partitions(topic)
        raw, ours = await in_turn(
            lambda: rate(publish_raw(producer, topic, encoded)), lambda: rate(publish_ours(bus, topic))
        )
        compared("Kafka publish_many", raw, ours)
        topic = new_topic()
        for _ in range(TIMES):
            await publish_ours(bus, topic)
        raw, ours = await in_turn(lambda: read_raw(address, topic), lambda: read_ours(bus, topic))
        compared("Kafka poll + commit", raw, ours)
    await producer.stop()


async def carry(settings: Settings) -> None:
    async with open_bus(settings) as bus:
        topic = new_topic()
        bulk = statistics.median([(await rate(publish_ours(bus, topic))).wall for _ in range(ROUNDS)])

        async def speaker(number: int) -> None:
            for chunk in CHUNKS[number::40]:
                await bus.publish(topic, chunk)

        live = (await rate(asyncio.gather(*map(speaker, range(40))))).wall
        started = time.perf_counter()
        for chunk in CHUNKS[:300]:
            await bus.publish(topic, chunk)
        single = 300 / (time.perf_counter() - started)
        reading = new_topic()
        for _ in range(TIMES):
            await publish_ours(bus, reading)
        read = statistics.median([(await read_ours(bus, reading)).wall for _ in range(ROUNDS)])
    print(
        f"embedded: publish_many {bulk:,.0f}/s, 40 callers at once {live:,.0f}/s, "
        f"one after another {single:,.0f}/s, poll + commit {read:,.0f}/s"
    )


async def wake_up(name: str, settings: Settings) -> None:
    topic = new_topic()
    async with open_bus(settings) as bus, bus.follower([topic]) as follower:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "benchmarks.pipeline.bus", settings.bus.url, topic.name
        )
        delays: list[float] = []
        while len(delays) < NOTES:
            records = await follower.poll()
            delays += [time.time() - topic.decode(record.value).at for record in records]
        await process.wait()
    delays.sort()
    p50, p95 = delays[NOTES // 2] * 1000, delays[NOTES * 95 // 100] * 1000
    print(f"{name} publish -> poll in another process: p50 {p50:.1f} ms, p95 {p95:.1f} ms")


async def publish_notes(url: str, topic: Topic) -> None:
    """In the other process: one note now and then."""
    async with open_bus(Settings(bus=BusSettings(url=url))) as bus:
        for number in range(NOTES):
            await asyncio.sleep(random.uniform(0.01, 0.05))
            await bus.publish(topic, Note(call="call", note=str(number), author="", text="", at=time.time()))


async def measure() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        embedded = Settings(bus=BusSettings(url=f"sqlite:///{folder}/bus.db", partitions=PARTITIONS))
        await carry(embedded)
        await wake_up("embedded", embedded)
        broker = Broker(Path(folder) / "kafka", port)
        try:
            await asyncio.to_thread(broker.start)
            kafka = Settings(bus=BusSettings(url=f"kafka://{broker.address}", partitions=PARTITIONS))
            await compare_with_raw(broker.address, kafka)
            await wake_up("Kafka", kafka)
        finally:
            broker.kill()


def main() -> None:
    asyncio.run(measure())


if __name__ == "__main__":
    if len(sys.argv) == 3:
        asyncio.run(publish_notes(sys.argv[1], Topic(sys.argv[2], AudioChunk | Note, 3600, codec="msgpack")))
    else:
        main()
