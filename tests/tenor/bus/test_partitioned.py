"""The loop that every stage runs on, held to its promises on both buses."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from tenor.bus import Bus, Commit, Consumer, Partition, Record
from tenor.bus.opening import open_bus
from tenor.bus.partitioned import PartitionLoop, ReadPartition, Takeover
from tenor.events import DEAD, Topic
from tenor.settings import Settings
from tests.tenor.bus.processes import Process, note
from tests.tenor.bus.reading import fresh_topic, holding
from tests.watching import events, until


class Stage:
    """Keeps the records of a partition, and what happened to it; commits half of what it has read."""

    def __init__(self, bus: Bus, topics: Sequence[Topic], commit_s: float = 0.05) -> None:
        self.read: list[Record] = []
        self.history: list[tuple[str, int]] = []
        self.steps = 0
        self.topics = topics
        self.loop = PartitionLoop(bus, "stage", topics, self.open, self.step, commit_s=commit_s)

    async def open(self, taken: Takeover) -> Half:
        self.history.append(("open", taken.number))
        return Half(self, taken)

    async def step(self, records: Sequence[Record]) -> None:
        self.steps += 1
        for record in records:
            self.loop.partitions[record.partition].take(record)
            if b"poison" in record.value:
                raise ValueError("poison")
            self.read.append(record)


class Half:
    def __init__(self, stage: Stage, taken: Takeover) -> None:
        self.taken, self._stage = taken, stage
        self._read = dict(taken.positions)
        self.closed = False

    def take(self, record: Record) -> None:
        assert not self.closed
        assert record.offset == self._read[record.topic]
        self._read[record.topic] = record.offset + 1

    def commits(self) -> dict[Partition, Commit]:
        halves = {topic: (first + self._read[topic]) // 2 for topic, first in self.taken.positions.items()}
        number = self.taken.number
        return {Partition(topic, number): Commit(half, f"half of {topic}") for topic, half in halves.items()}

    async def close(self) -> None:
        self.closed = True
        self._stage.history.append(("close", self.taken.number))


@asynccontextmanager
async def running(stage: Stage) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(stage.loop.run())
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, ValueError):
            await task


async def publish(bus: Bus, topic: Topic, *texts: str, calls: int = 8) -> None:
    await bus.publish_many(topic, [note(f"call-{call}", text) for text in texts for call in range(calls)])


async def test_a_partition_is_opened_before_its_records_come_and_goes_on_at_what_was_committed(bus: Bus) -> None:
    topics = fresh_topic(), fresh_topic()
    for topic in topics:
        await publish(bus, topic, "one", "two")
    first = Stage(bus, topics)
    async with running(first) as task:
        await until(lambda: len(first.read) == 32, task)
    assert first.history[-1][0] == "close"
    second = Stage(bus, topics)
    async with running(second) as task:
        await until(lambda: sum(second.loop.partitions[r.partition] is not None for r in second.read) >= 16, task)
        for number, partition in second.loop.partitions.items():
            for topic in topics:
                mine = [r.offset for r in first.read if (r.topic, r.partition) == (topic.name, number)]
                assert partition.taken.positions[topic.name] == len(mine) // 2
                assert partition.taken.notes[topic.name] == f"half of {topic.name}"


async def test_a_quiet_stage_gets_its_turn_too(bus: Bus) -> None:
    stage = Stage(bus, [fresh_topic()])
    async with running(stage) as task:
        await until(lambda: stage.steps >= 3, task)


async def test_only_what_has_changed_is_committed(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    topic = fresh_topic()
    commits: list[tuple[Partition, Commit]] = []
    consuming = bus.consumer

    def consumer(*args: Any, **hooks: Any) -> Consumer:
        member = consuming(*args, **hooks)
        committing = member.commit

        async def commit(changed: Mapping[Partition, Commit]) -> None:
            commits.extend(changed.items())
            await committing(changed)

        monkeypatch.setattr(member, "commit", commit)
        return member

    monkeypatch.setattr(bus, "consumer", consumer)
    for _ in range(2):
        await _read_and_stop(bus, topic)
    assert len(commits) > await bus.partitions(topic)
    assert len(commits) == len(set(commits))


async def _read_and_stop(bus: Bus, topic: Topic) -> None:
    stage = Stage(bus, [topic])
    async with running(stage) as task:
        await publish(bus, topic, "one", "two", "three", "four", calls=1)
        await until(lambda: len(stage.read) >= 4, task)
        enough = stage.steps + 3
        await until(lambda: stage.steps >= enough, task)


async def test_a_step_that_fails_ends_the_loop_with_its_error_and_what_was_done_is_committed(bus: Bus) -> None:
    topic = fresh_topic()
    stage = Stage(bus, [topic])
    async with running(stage) as task:
        await publish(bus, topic, "one", "two", "three", "four", calls=1)
        await until(lambda: len(stage.read) == 4, task)
        await publish(bus, topic, "poison", calls=1)
        with pytest.raises(ValueError, match="poison"):
            await until(lambda: False, task)
    assert [what for what, _ in stage.history].count("close") == [what for what, _ in stage.history].count("open")
    progress = await bus.progress([topic], "stage")
    assert sum(at.committed for at in progress.values()) == 2  # half of what was read; the poison comes again


async def test_nothing_is_lost_when_one_topic_of_a_partition_comes_late(embedded_settings: Settings) -> None:
    """Another member of the group, which reads one of the topics only, holds some partitions of that one. On Kafka
    a rebalance takes everything from everybody, so that a partition never loses one topic alone."""
    topics = fresh_topic(), fresh_topic()
    async with open_bus(embedded_settings) as bus, bus.consumer([topics[1]], "stage") as other:
        await holding(other, await bus.partitions(topics[1]))
        stage = Stage(bus, topics)
        async with running(stage) as task:
            for topic in topics:
                await publish(bus, topic, "one")

            async def shared() -> bool:
                await other.poll(timeout_s=0.05)
                return bool(stage.loop.partitions)

            await until(shared, task)
            assert len(stage.loop.partitions) < await bus.partitions(topics[0])  # the rest is the other's
            await other.__aexit__(None, None, None)
            await until(lambda: len(stage.read) == 16, task)
            assert len(stage.loop.partitions) == await bus.partitions(topics[0])
            await other.__aenter__()


async def test_a_record_that_cannot_be_handled_lies_in_the_dead_letters_once(bus: Bus) -> None:
    topic = fresh_topic()
    stage = Stage(bus, [topic])
    await publish(bus, topic, "one", calls=1)
    async with running(stage) as task:
        await until(lambda: stage.read, task)
        await stage.loop.bury(stage.read[0], "it cannot be read")
    [letter] = [letter for letter in await events(bus, DEAD) if letter.topic == topic.name]
    assert (letter.stage, letter.reason, letter.offset) == ("stage", "it cannot be read", stage.read[0].offset)
    before = len(await events(bus, DEAD))
    await stage.loop.bury(Record(DEAD.name, 0, 0, "call", b"?", 0.0), "nor can this")
    assert len(await events(bus, DEAD)) == before  # it would go round for ever


async def test_a_stage_that_keeps_nothing_commits_what_it_has_done(bus: Bus) -> None:
    topic = fresh_topic()

    async def open_partition(taken: Takeover) -> ReadPartition:
        return ReadPartition(taken)

    async def step(records: Sequence[Record]) -> None:
        for record in records:
            loop.partitions[record.partition].done(record)

    loop = PartitionLoop(bus, "plain", [topic], open_partition, step, commit_s=0)
    await publish(bus, topic, "one", "two")
    task = asyncio.create_task(loop.run())

    async def nothing_left() -> bool:
        return sum(at.lag for at in (await bus.progress([topic], "plain")).values()) == 0

    await until(nothing_left, task)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


@pytest.mark.slow
async def test_partitions_move_between_processes_and_a_killed_one_is_succeeded(
    bus: Bus, bus_settings: Settings
) -> None:
    """Every record is worked on, in order; again where a killed owner had not committed."""
    topic, out = fresh_topic(), fresh_topic()
    numbers = range(300)
    roles = {"group": "stage", "out": out.name}
    async with Process("loop", bus_settings, topic, **roles) as first:
        await first.hear("open")
        publishing = asyncio.create_task(_publish_slowly(bus, topic, numbers))
        async with Process("loop", bus_settings, topic, **roles) as second:
            await second.hear("open", within_s=60)
            await asyncio.sleep(0.5)
            first.signal(signal.SIGKILL)
            await publishing

            async def all_done() -> bool:
                done = {(event.call, event.text) for event in await events(bus, out)}
                left = sum(at.lag for at in (await bus.progress([topic], "stage")).values())
                return len(done) == 4 * len(numbers) and not left  # what came twice is worked on to its end, too

            await until(all_done, timeout_s=120)
            second.signal(signal.SIGTERM)
            assert await second.ended() == 0
    for call in range(4):
        done = [int(event.text) for event in await events(bus, out, f"call-{call}")]
        for index, number in enumerate(done):  # some come twice, none is passed over
            assert number <= max(done[:index], default=-1) + 1


async def _publish_slowly(bus: Bus, topic: Topic, numbers: range) -> None:
    for number in numbers:
        await bus.publish_many(topic, [note(f"call-{call}", str(number)) for call in range(4)])
        await asyncio.sleep(0.005)
