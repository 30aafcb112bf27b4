"""What a bus promises, asked of both."""

from __future__ import annotations

import asyncio
import random
import signal
import time
from collections import defaultdict
from collections.abc import Sequence

import pytest

from tenor.bus import Bus, Commit, Consumer, Partition, PartitionLost, Record, lag
from tenor.bus.commit_note import MAX_BYTES
from tenor.bus.opening import open_bus
from tenor.bus.partitioning import partition_of
from tenor.errors import BadInput
from tenor.events import AudioChunk
from tenor.settings import Settings
from tests.tenor.bus.processes import Process, note
from tests.tenor.bus.reading import drained, fresh_topic, holding
from tests.watching import events

PARTITIONS = 4


def texts(records: Sequence[Record]) -> dict[str, list[str]]:
    topic = fresh_topic()
    by_call = defaultdict(list)
    for record in records:
        by_call[record.key].append(topic.decode(record.value).text)
    return by_call


def ends(records: Sequence[Record], note: str = "") -> dict[Partition, Commit]:
    """Where a reader of `records` has come to."""
    return {Partition(record.topic, record.partition): Commit(record.offset + 1, note) for record in records}


def spread_calls() -> list[str]:
    """A call for each partition."""
    calls: dict[int, str] = {}
    for number in range(1000):
        calls.setdefault(partition_of(f"call-{number}", PARTITIONS), f"call-{number}")
    return [calls[number] for number in range(PARTITIONS)]


async def test_events_of_a_call_come_in_the_order_they_were_published(bus: Bus) -> None:
    topic = fresh_topic()
    for number in range(20):
        for call in ("a", "b", "c", "d", "e"):
            await bus.publish(topic, note(call, str(number)))
    async with bus.consumer([topic], "readers") as consumer:
        records = await drained(consumer, 100)
    assert texts(records) == {call: [str(number) for number in range(20)] for call in "abcde"}
    assert all(abs(time.time() - record.at) < 60 for record in records)


async def test_positions_are_where_records_lie(bus: Bus) -> None:
    topic = fresh_topic()
    single = [await bus.publish(topic, note("call", str(number))) for number in range(3)]
    many = await bus.publish_many(topic, (note("call", str(number)) for number in range(3, 6)))
    partition = partition_of("call", PARTITIONS)
    assert [*single, *many] == [(partition, offset) for offset in range(6)]
    records = await bus.fetch(Partition(topic.name, partition), 0)
    assert [record.offset for record in records] == list(range(6))
    assert texts(records) == {"call": ["0", "1", "2", "3", "4", "5"]}


async def test_every_group_reads_everything(bus: Bus) -> None:
    topic = fresh_topic()
    await bus.publish_many(topic, [note(f"call-{number}") for number in range(50)])
    async with bus.consumer([topic], "one") as one, bus.consumer([topic], "two") as two:
        first, second = await asyncio.gather(drained(one, 50), drained(two, 50))
    assert {record.key for record in first} == {record.key for record in second}


async def test_partition_choice_is_the_same_on_both_buses(bus: Bus) -> None:
    topic = fresh_topic()
    chosen = {call: (await bus.publish(topic, note(call))).partition for call in ("a", "b", "c", "ätsch", "☎-7")}
    assert chosen == {"a": 3, "b": 1, "c": 3, "ätsch": 3, "☎-7": 3}
    assert await bus.partitions(topic) == PARTITIONS


async def test_keys_are_any_text(bus: Bus) -> None:
    topic = fresh_topic()
    calls = ["звонок", "通话-1", "☎️ 7", "a b/c?d=e&f", "", "\u0000null", "x" * 500]
    await bus.publish_many(topic, [note(call, call) for call in calls])
    async with bus.follower([topic], from_start=True) as follower:
        records = await drained(follower, len(calls))
    assert texts(records) == {call: [call] for call in calls}


async def test_an_event_may_be_a_megabyte(bus: Bus) -> None:
    topic = fresh_topic()
    pcm = random.Random(1).randbytes(1_000_000)
    chunks = [
        AudioChunk(call="big", channel=0, seq=seq, start_ms=0, rate=8000, pcm=pcm, captured_at=0.0) for seq in range(5)
    ]
    await bus.publish_many(topic, chunks)
    async with bus.consumer([topic], "readers") as consumer:
        records = await drained(consumer, 5)
    assert [topic.decode(record.value) for record in records] == chunks


async def test_an_event_larger_than_the_bus_carries_is_refused(bus: Bus) -> None:
    topic = fresh_topic()
    with pytest.raises(BadInput, match=r"9\.\d MB"):
        await bus.publish(topic, note("call", "x" * 9_000_000))
    assert (await bus.publish(topic, note("call"))).offset == 0


async def test_an_empty_topic_gives_nothing_and_waits(bus: Bus) -> None:
    topic = fresh_topic()
    assert await bus.bounds(Partition(topic.name, 0)) == (0, 0)
    assert await bus.fetch(Partition(topic.name, 0), 0) == []
    assert await bus.progress([topic], "readers") == {Partition(topic.name, n): (0, 0, 0) for n in range(PARTITIONS)}
    async with bus.consumer([topic], "readers") as consumer:
        await holding(consumer, PARTITIONS)
        before = time.monotonic()
        assert await consumer.poll(timeout_s=0.3) == []
        assert 0.25 < time.monotonic() - before < 3
        assert await consumer.committed(Partition(topic.name, 0)) is None


async def test_ten_thousand_events_in_bulk(bus: Bus) -> None:
    topic = fresh_topic()
    positions = await bus.publish_many(topic, (note(f"call-{n % 97}", str(n)) for n in range(10_000)))
    assert len(set(positions)) == 10_000
    async with bus.consumer([topic], "readers") as consumer:
        records = await drained(consumer, 10_000)
    for numbers in texts(records).values():
        assert [int(number) for number in numbers] == sorted(int(number) for number in numbers)
    assert len({(record.partition, record.offset) for record in records}) == 10_000


async def test_many_publishers_at_once(bus: Bus) -> None:
    topic = fresh_topic()

    async def publisher(call: str) -> None:
        for number in range(25):
            await bus.publish(topic, note(call, str(number)))

    calls = [f"call-{number}" for number in range(20)]
    await asyncio.gather(*map(publisher, calls))
    async with bus.follower([topic], from_start=True) as follower:
        records = await drained(follower, 500)
    assert texts(records) == {call: [str(number) for number in range(25)] for call in calls}


async def test_publishing_at_once_keeps_the_order_of_the_calls(bus: Bus) -> None:
    """Also on the first use of a topic, and when more waits than a batch holds."""
    topic = fresh_topic()
    text = "x" * 5000
    sent = await asyncio.gather(*(bus.publish(topic, note("call", f"{number} {text}")) for number in range(200)))
    assert [position.offset for position in sent] == list(range(200))
    records = await bus.fetch(Partition(topic.name, sent[0].partition), 0)
    assert [said.split()[0] for said in texts(records)["call"]] == [str(number) for number in range(200)]


async def test_commits_and_notes_outlive_the_bus(bus_settings: Settings) -> None:
    topic = fresh_topic()
    async with open_bus(bus_settings) as bus:
        await bus.publish_many(topic, [note("call", str(number)) for number in range(10)])
        async with bus.consumer([topic], "readers") as consumer:
            records = await drained(consumer, 10)
            await consumer.commit(ends(records[:6], "six — ☎"))
    partition = Partition(topic.name, records[0].partition)
    async with open_bus(bus_settings) as bus:
        progress = await bus.progress([topic], "readers")
        assert progress[partition] == (6, 6, 10)
        assert await lag(bus, [topic], "readers") == 4
        async with bus.consumer([topic], "readers") as consumer:
            assert texts(await drained(consumer, 4)) == {"call": ["6", "7", "8", "9"]}
            assert await consumer.committed(partition) == Commit(6, "six — ☎")


async def test_members_of_a_group_are_those_that_are_alive(bus: Bus) -> None:
    topic = fresh_topic()
    group = f"readers of {topic.name}"
    assert await bus.members(group) == 0
    await bus.publish(topic, note("call"))
    async with bus.consumer([topic], group) as consumer, bus.follower([topic]):
        await drained(consumer, 1)
        assert await bus.members(group) == 1
    assert await bus.members(group) == 0


async def test_a_note_of_the_length_that_is_promised_is_carried_and_a_longer_one_refused(bus: Bus) -> None:
    topic = fresh_topic()
    await bus.publish(topic, note("call"))
    async with bus.consumer([topic], "readers") as consumer:
        records = await drained(consumer, 1)
        await consumer.commit(ends(records, "n" * MAX_BYTES))
        with pytest.raises(BadInput, match=f"{MAX_BYTES + 1} bytes"):
            await consumer.commit(ends(records, "n" * (MAX_BYTES + 1)))


async def test_fetch_bounds_and_lag_need_no_group(bus: Bus) -> None:
    topic = fresh_topic()
    position = (await bus.publish_many(topic, [note("call", str(number)) for number in range(30)]))[0]
    partition = Partition(topic.name, position.partition)
    assert await bus.bounds(partition) == (0, 30)
    assert [record.offset for record in await bus.fetch(partition, 10, 5)] == [10, 11, 12, 13, 14]
    assert [record.offset for record in await bus.fetch(partition, 28)] == [28, 29]
    assert await bus.fetch(partition, 30) == []
    assert await bus.fetch(partition, 31) == []
    assert (await bus.progress([topic], "nobody"))[partition].lag == 30
    assert await bus.fetch(Partition("test.unknown", 0), 0) == []
    assert await bus.bounds(Partition("test.unknown", 0)) == (0, 0)


async def test_a_follower_sees_what_comes_after_it(bus: Bus) -> None:
    topic, other = fresh_topic(), fresh_topic()
    await bus.publish(topic, note("call", "before"))
    async with bus.follower([topic, other]) as first, bus.follower([topic]) as second:
        await bus.publish(topic, note("call", "after"))
        await bus.publish(other, note("call", "other"))
        assert texts(await drained(first, 2))["call"] in (["after", "other"], ["other", "after"])
        assert texts(await drained(second, 1)) == {"call": ["after"]}
        assert len(first.assignment()) == 2 * PARTITIONS
        partition = Partition(topic.name, partition_of("call", PARTITIONS))
        await second.commit({partition: Commit(1)})
        assert await second.committed(partition) is None
        await second.seek(partition, 0)
        assert texts(await drained(second, 2)) == {"call": ["before", "after"]}


async def test_seek_reads_on_from_elsewhere(bus: Bus) -> None:
    topic = fresh_topic()
    await bus.publish_many(topic, [note("call", str(number)) for number in range(10)])
    partition = Partition(topic.name, partition_of("call", PARTITIONS))
    async with bus.consumer([topic], "readers") as consumer:
        await drained(consumer, 10)
        await consumer.seek(partition, 7)
        assert texts(await drained(consumer, 3)) == {"call": ["7", "8", "9"]}
        await consumer.seek(partition, 2)
        assert texts(await drained(consumer, 8))["call"][0] == "2"


async def test_seek_in_the_assignment_hook_is_where_reading_starts(bus: Bus) -> None:
    topic = fresh_topic()
    await bus.publish_many(topic, [note("call", str(number)) for number in range(10)])

    async def assigned(partitions: Sequence[Partition]) -> None:
        for partition in partitions:
            assert await consumer.committed(partition) is None
            await consumer.seek(partition, 8)

    consumer: Consumer = bus.consumer([topic], "readers", on_assigned=assigned)
    async with consumer:
        assert texts(await drained(consumer, 2)) == {"call": ["8", "9"]}


async def test_hooks_run_inside_poll_or_when_leaving(bus: Bus) -> None:
    topic = fresh_topic()
    allowed = False
    seen: list[tuple[str, bool, int]] = []

    async def assigned(partitions: Sequence[Partition]) -> None:
        seen.append(("assigned", allowed, len(partitions)))

    async def revoked(partitions: Sequence[Partition]) -> None:
        seen.append(("revoked", allowed, len(partitions)))

    consumer = bus.consumer([topic], "readers", on_assigned=assigned, on_revoked=revoked)
    async with consumer:
        await asyncio.sleep(0.3)
        assert not seen
        allowed = True
        await holding(consumer, PARTITIONS)
        allowed = False
        async with bus.consumer([topic], "readers") as other:
            for _ in range(5):
                await other.poll(timeout_s=0.05)
            assert seen == [("assigned", True, PARTITIONS)]
            assert not other.assignment(), "the first member has not given anything up yet"
            allowed = True
            await holding(other, PARTITIONS // 2, consumer)
            await holding(consumer, PARTITIONS // 2, other)
        await holding(consumer, PARTITIONS)
    assert all(inside for _, inside, _ in seen)
    assert seen[-1] == ("revoked", True, PARTITIONS)


async def test_what_is_committed_while_giving_up_is_where_the_next_goes_on(bus: Bus) -> None:
    topic = fresh_topic()
    calls = spread_calls()
    await bus.publish_many(topic, [note(call, str(number)) for number in range(5) for call in calls])
    handled: dict[Partition, Commit] = {}

    async def revoked(partitions: Sequence[Partition]) -> None:
        await first.commit({partition: handled[partition] for partition in partitions if partition in handled})

    first = bus.consumer([topic], "readers", on_revoked=revoked)
    async with first, bus.consumer([topic], "readers") as second:
        records: list[Record] = []
        while len(records) < 20:
            records += await first.poll(timeout_s=0.05)
            handled |= ends(records, "handed over")
            records += await second.poll(timeout_s=0.05)
        await holding(second, 2, first)
        await holding(first, 2, second)
    assert len(records) == 20, "nothing is read twice when it was committed in time"
    assert texts(records) == {call: ["0", "1", "2", "3", "4"] for call in calls}


async def test_a_cancelled_poll_loses_nothing(bus: Bus) -> None:
    topic = fresh_topic()
    dice = random.Random(7)
    records: list[Record] = []

    async def publish_slowly() -> None:
        for number in range(150):
            await bus.publish(topic, note(f"call-{number % 10}", str(number)))
            await asyncio.sleep(0.002)

    async with bus.consumer([topic], "readers") as consumer:
        await holding(consumer, PARTITIONS)
        publishing = asyncio.create_task(publish_slowly())
        deadline = time.monotonic() + 30
        while len(records) < 150 and time.monotonic() < deadline:
            polling = asyncio.create_task(consumer.poll(timeout_s=1))
            await asyncio.sleep(dice.uniform(0, 0.01))
            polling.cancel()
            try:
                records += await polling
            except asyncio.CancelledError:
                continue
        await publishing
    assert len({(record.partition, record.offset) for record in records}) == len(records) == 150


async def test_a_commit_on_a_partition_of_another_is_ignored(bus: Bus) -> None:
    topic = fresh_topic()
    calls = spread_calls()
    await bus.publish_many(topic, [note(call, str(number)) for number in range(10) for call in calls])
    everything = [Partition(topic.name, number) for number in range(PARTITIONS)]
    async with bus.consumer([topic], "readers") as first:
        await drained(first, 40)
        await first.commit(dict.fromkeys(everything, Commit(3, "both")))
        async with bus.consumer([topic], "readers") as second:
            await holding(second, 2, first)
            await holding(first, 2, second)
            await first.commit(dict.fromkeys(everything, Commit(9, "first")))
            assert not first.assignment() & second.assignment()
            for partition in everything:
                ours = partition in first.assignment()
                expected = Commit(9, "first") if ours else Commit(3, "both")
                assert await (first if ours else second).committed(partition) == expected
    assert await lag(bus, [topic], "readers") == 2 * 1 + 2 * 7


async def test_a_member_that_leaves_is_succeeded_at_once(bus_settings: Settings) -> None:
    patient = bus_settings.model_copy(update={"bus": bus_settings.bus.model_copy(update={"lease_s": 20.0})})
    topic = fresh_topic()
    async with open_bus(patient) as bus, bus.consumer([topic], "readers") as staying:
        async with bus.consumer([topic], "readers") as leaving:
            await holding(leaving, 2, staying)
            await holding(staying, 2, leaving)
        before = time.monotonic()
        await holding(staying, PARTITIONS)
        assert time.monotonic() - before < 5


async def test_two_topics_of_a_group_are_shared_alike(bus: Bus) -> None:
    one, two = fresh_topic(), fresh_topic()
    async with bus.consumer([one, two], "readers") as first, bus.consumer([one, two], "readers") as second:
        await holding(first, PARTITIONS, second)
        await holding(second, PARTITIONS, first)
        for consumer in (first, second):
            numbers = [{p.number for p in consumer.assignment() if p.topic == topic.name} for topic in (one, two)]
            assert numbers[0] == numbers[1]
            assert len(numbers[0]) == 2


@pytest.mark.slow
async def test_processes_share_a_group(bus: Bus, bus_settings: Settings) -> None:
    topic = fresh_topic()
    async with (
        Process("consume", bus_settings, topic, group="readers") as one,
        Process("consume", bus_settings, topic, group="readers") as two,
    ):
        held = []
        for process in (one, two):
            while len(numbers := await process.hear("holds")) != 2:
                pass
            held.append(set(numbers))
        assert held[0] | held[1] == set(range(PARTITIONS))
        await bus.publish_many(topic, [note(f"call-{number % 40}") for number in range(200)])
        async with asyncio.timeout(30):
            while await lag(bus, [topic], "readers"):
                await asyncio.sleep(0.05)
        read = []
        for process in (one, two):
            process.signal(signal.SIGTERM)
            said = [line async for line in process.lines()]
            read.append([tuple(place) for kind, records in said if kind == "read" for *place, _ in records])
            assert said[-1][0] == "left"
    for places, numbers in zip(read, held, strict=True):
        assert {partition for partition, _ in places} == numbers
    assert len({*read[0], *read[1]}) == len(read[0] + read[1]) == 200


@pytest.mark.slow
async def test_a_killed_member_is_succeeded_after_its_lease(bus: Bus, bus_settings: Settings) -> None:
    topic = fresh_topic()
    calls = spread_calls()
    await bus.publish_many(topic, [note(call, "first") for call in calls])
    async with Process("consume", bus_settings, topic, group="readers") as process:
        read = 0
        while read < PARTITIONS:
            read += len(await process.hear("read"))
        await bus.publish_many(topic, [note(call, "second") for call in calls])
        while read < 2 * PARTITIONS:
            read += len(await process.hear("read"))
        process.signal(signal.SIGKILL)
        await process.ended()
    await bus.publish_many(topic, [note(call, "third") for call in calls])
    async with bus.consumer([topic], "readers") as consumer:
        records = await drained(consumer, PARTITIONS, within_s=bus_settings.bus.lease_s + 8)
        assert texts(records) == {call: ["third"] for call in calls}
        assert await consumer.committed(Partition(topic.name, 0)) == Commit(2, "seen")


@pytest.mark.slow
async def test_what_was_not_committed_before_a_crash_is_read_again(bus: Bus, bus_settings: Settings) -> None:
    topic = fresh_topic()
    await bus.publish_many(topic, [note("call", str(number)) for number in range(10)])
    async with bus.consumer([topic], "readers") as consumer:
        await consumer.commit(ends((await drained(consumer, 10))[:5], "five"))
    async with Process("consume", bus_settings, topic, group="readers", commit=False) as process:
        await process.hear("read")
        process.signal(signal.SIGKILL)
        await process.ended()
    async with bus.consumer([topic], "readers") as consumer:
        assert texts(await drained(consumer, 5)) == {"call": ["5", "6", "7", "8", "9"]}
        assert await consumer.committed(Partition(topic.name, partition_of("call", PARTITIONS))) == Commit(5, "five")


@pytest.mark.slow
async def test_a_member_that_was_stopped_cannot_commit_over_its_successor(bus: Bus, bus_settings: Settings) -> None:
    topic = fresh_topic()
    await bus.publish_many(topic, [note("call", str(number)) for number in range(10)])
    partition = Partition(topic.name, partition_of("call", PARTITIONS))
    async with Process("stall", bus_settings, topic, group="readers") as process:
        await process.hear("stopping")
        async with bus.consumer([topic], "readers") as successor:
            records = await drained(successor, 9, within_s=bus_settings.bus.lease_s + 8)
            await successor.commit(ends(records, "successor"))
            process.signal(signal.SIGCONT)
            woke = asyncio.create_task(process.hear("woke"))
            while not woke.done():
                await successor.poll(timeout_s=0.05)
            if bus_settings.bus.url == "":
                assert woke.result() == {"hooks": ["revoked"], "read": 0}
            revoked = asyncio.create_task(process.hear("revoked"))
            while not revoked.done():
                await successor.poll(timeout_s=0.05)
        assert (await bus.progress([topic], "readers"))[partition].lag == 0
        await process.go_on()


@pytest.mark.slow
async def test_a_stage_that_was_frozen_publishes_nothing_for_what_its_successor_holds(
    bus: Bus, bus_settings: Settings
) -> None:
    topic, out = fresh_topic(), fresh_topic()
    await bus.publish(topic, note("call", "to be answered"))
    async with Process("wake", bus_settings, topic, group="stage", out=out.name) as process:
        await process.hear("stopping", within_s=120)
        async with bus.consumer([topic], "stage") as successor:
            records = await drained(successor, 1, within_s=bus_settings.bus.lease_s + 8)
            await bus.publish(out, note("call", "the successor's"), holder=successor)
            await successor.commit(ends(records, "successor"))  # or the woken one may answer when it holds it again
            process.signal(signal.SIGCONT)
            woke = asyncio.create_task(process.hear("woke"))
            while not woke.done():
                await successor.poll(timeout_s=0.05)
            assert woke.result() is None
    assert [said.text for said in await events(bus, out)] == ["before", "the successor's"]


@pytest.mark.slow
async def test_only_the_holder_of_a_calls_partition_publishes_as_such(bus: Bus) -> None:
    topic, out = fresh_topic(), fresh_topic()
    member = bus.consumer([topic], "stage")
    async with member:
        while len(member.assignment()) < PARTITIONS:
            await member.poll(timeout_s=0.1)
        await bus.publish(out, note("call", "held"), holder=member)
        await bus.publish_many(out, [note(call, "held") for call in "abc"], holder=member)
    for publishing in (
        bus.publish(out, note("call", "left"), holder=member),
        bus.publish_many(out, [note(call, "left") for call in "abc"], holder=member),
    ):
        with pytest.raises(PartitionLost):
            await publishing
    assert {said.text for said in await events(bus, out)} == {"held"}


@pytest.mark.slow
async def test_what_was_acknowledged_outlives_a_killed_writer(bus: Bus, bus_settings: Settings) -> None:
    topic = fresh_topic()
    partition = Partition(topic.name, partition_of("call", PARTITIONS))
    acknowledged = 0
    async with Process("publish", bus_settings, topic, call="call", count=100_000, at_once=20) as process:
        while acknowledged < 400:
            acknowledged += len(await process.hear("published"))
        process.signal(signal.SIGKILL)
        async for kind, positions in process.lines():
            acknowledged += len(positions) if kind == "published" else 0
    async with bus.follower([topic], from_start=True) as follower:
        oldest, end = await bus.bounds(partition)
        assert oldest == 0
        assert end >= acknowledged
        records = await drained(follower, end)
    assert texts(records) == {"call": [str(number) for number in range(end)]}


@pytest.mark.slow
async def test_processes_write_at_once(bus: Bus, bus_settings: Settings) -> None:
    topic = fresh_topic()
    calls = spread_calls()[:2]
    async with (
        Process("publish", bus_settings, topic, call=calls[0], count=150) as one,
        Process("publish", bus_settings, topic, call=calls[1], count=150) as two,
        bus.consumer([topic], "readers") as consumer,
    ):
        records = await drained(consumer, 300)
        assert await one.ended() == await two.ended() == 0
    assert texts(records) == {call: [str(number) for number in range(150)] for call in calls}


async def test_records_older_than_their_topic_keeps_are_forgotten(bus: Bus) -> None:
    topic = fresh_topic(retention_s=1)
    partition = Partition(topic.name, partition_of("call", PARTITIONS))
    async with bus.consumer([topic], "readers") as consumer:
        await bus.publish_many(topic, [note("call", str(number)) for number in range(10)])
        await consumer.commit(ends((await drained(consumer, 10))[:3]))
        async with asyncio.timeout(30):
            while await bus.bounds(partition) != (10, 10):
                await consumer.poll(timeout_s=0.1)
        assert (await bus.progress([topic], "readers"))[partition].lag == 0
        assert (await bus.publish(topic, note("call", "later"))).offset == 10
        assert texts(await drained(consumer, 1)) == {"call": ["later"]}
    assert [record.offset for record in await bus.fetch(partition, 0)] in ([10], [])
