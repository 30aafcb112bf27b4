"""The embedded bus against a model of it: random publishing, joining, leaving, reading, committing, reopening."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from tenor.bus import Commit, Consumer, Partition
from tenor.bus.embedded.bus import EmbeddedBus
from tenor.settings import BusSettings
from tests.tenor.bus.processes import note
from tests.tenor.bus.reading import fresh_topic

T = TypeVar("T")

PARTITIONS = 3
CALLS = st.sampled_from([f"call-{number}" for number in range(8)])
GROUPS = st.sampled_from(["one", "two"])
PICK = st.integers(0, 99)


class Reader:
    """A member and where the model says it is."""

    def __init__(self, group: str) -> None:
        self.group = group
        self.consumer: Consumer
        self.positions: dict[Partition, int] = {}


class BusModel(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = Path(tempfile.mkdtemp())
        self.topic = fresh_topic()
        self.log: dict[Partition, list[str]] = defaultdict(list)
        self.commits: dict[tuple[str, Partition], Commit] = {}
        self.readers: list[Reader] = []
        self.count = 0
        self.open()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def open(self) -> None:
        async def work() -> EmbeddedBus:
            bus = EmbeddedBus(self.folder / "bus.db", BusSettings(partitions=PARTITIONS, lease_s=60))
            return await bus.__aenter__()

        self.bus = self.run(work())

    def teardown(self) -> None:
        try:
            self.everything_is_read_in_the_end()
            self.reopen()
            self.run(self.bus.__aexit__())
        finally:
            self.runner.close()
            shutil.rmtree(self.folder)

    @rule(calls=st.lists(CALLS, min_size=1, max_size=10), bulk=st.booleans())
    def publish(self, calls: list[str], bulk: bool) -> None:
        notes = [note(call, str(self.count + number)) for number, call in enumerate(calls)]
        self.count += len(calls)
        if bulk:
            positions = self.run(self.bus.publish_many(self.topic, notes))
        else:
            positions = [self.run(self.bus.publish(self.topic, each)) for each in notes]
        for position, each in zip(positions, notes, strict=True):
            log = self.log[Partition(self.topic.name, position.partition)]
            assert position.offset == len(log)
            log.append(each.text)

    @precondition(lambda self: len(self.readers) < 5)
    @rule(group=GROUPS)
    def join(self, group: str) -> None:
        reader = Reader(group)

        async def assigned(partitions: Sequence[Partition]) -> None:
            for partition in partitions:
                commit = self.commits.get((group, partition))
                assert await reader.consumer.committed(partition) == commit
                reader.positions[partition] = commit.offset if commit else 0

        async def revoked(partitions: Sequence[Partition]) -> None:
            for partition in partitions:
                del reader.positions[partition]

        reader.consumer = self.bus.consumer([self.topic], group, on_assigned=assigned, on_revoked=revoked)
        self.run(reader.consumer.__aenter__())
        self.readers.append(reader)

    @precondition(lambda self: self.readers)
    @rule(pick=PICK)
    def leave(self, pick: int) -> None:
        reader = self.readers.pop(pick % len(self.readers))
        self.run(reader.consumer.__aexit__())
        assert not reader.positions

    @precondition(lambda self: self.readers)
    @rule(pick=PICK, most=st.integers(1, 12))
    def poll(self, pick: int, most: int) -> None:
        self.read(self.readers[pick % len(self.readers)], most)

    def read(self, reader: Reader, most: int) -> int:
        records = self.run(reader.consumer.poll(max_records=most, timeout_s=0))
        assert len(records) <= most
        for record in records:
            partition = Partition(record.topic, record.partition)
            assert record.offset == reader.positions[partition]
            assert self.topic.decode(record.value).text == self.log[partition][record.offset]
            reader.positions[partition] += 1
        return len(records)

    @precondition(lambda self: self.readers)
    @rule(pick=PICK, text=st.text(max_size=20))
    def commit(self, pick: int, text: str) -> None:
        """Everything, but only what is held counts."""
        reader = self.readers[pick % len(self.readers)]
        claimed = {Partition(self.topic.name, number): Commit(0, "not mine") for number in range(PARTITIONS)}
        ours = {partition: Commit(offset, text) for partition, offset in reader.positions.items()}
        self.run(reader.consumer.commit(claimed | ours))
        self.commits |= {(reader.group, partition): commit for partition, commit in ours.items()}

    @precondition(lambda self: any(reader.positions for reader in self.readers))
    @rule(pick=PICK, where=PICK)
    def seek(self, pick: int, where: int) -> None:
        readers = [reader for reader in self.readers if reader.positions]
        reader = readers[pick % len(readers)]
        partition = sorted(reader.positions)[where % len(reader.positions)]
        reader.positions[partition] = where % (len(self.log[partition]) + 1)
        self.run(reader.consumer.seek(partition, reader.positions[partition]))

    @rule()
    def reopen(self) -> None:
        while self.readers:
            self.leave(0)
        self.run(self.bus.__aexit__())
        self.open()

    @invariant()
    def a_partition_has_one_reader_in_a_group(self) -> None:
        held = [(reader.group, partition) for reader in self.readers for partition in reader.positions]
        assert len(held) == len(set(held))
        for reader in self.readers:
            assert reader.consumer.assignment() == reader.positions.keys()

    def everything_is_read_in_the_end(self) -> None:
        for _ in range(3):  # give up, take, and once more for what was given up last
            for reader in self.readers:
                while self.read(reader, 100):
                    pass
        self.a_partition_has_one_reader_in_a_group()
        for group in {reader.group for reader in self.readers}:
            held = [p for reader in self.readers if reader.group == group for p in reader.positions]
            assert len(held) == PARTITIONS
        for reader in self.readers:
            for partition, position in reader.positions.items():
                assert position == len(self.log[partition])


@pytest.mark.slow
def test_the_bus_does_what_the_model_says() -> None:
    run_state_machine_as_test(
        BusModel,
        settings=settings(max_examples=25, stateful_step_count=30, suppress_health_check=list(HealthCheck)),
    )
