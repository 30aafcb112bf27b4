"""The embedded bus: one SQLite file that several processes of one machine share."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Self, cast

import structlog

from tenor.bus import AssignmentHook, Consumer, Partition, PartitionLost, Position, Progress, Record, no_hook
from tenor.bus.commit_note import progress
from tenor.bus.embedded import leases, records
from tenor.bus.embedded.bus_file import BusFile
from tenor.bus.embedded.consumer import EmbeddedFollower, EmbeddedMember
from tenor.bus.embedded.records import NewRecord, ReadRequest
from tenor.bus.embedded.schema import partition_in, slot_of, topic_number
from tenor.bus.partitioning import checked_size, partition_of
from tenor.errors import TenorError
from tenor.events import Event, Topic
from tenor.settings import BusSettings

log = structlog.get_logger(__name__)

JOB_RECORDS, JOB_BYTES = 1000, 4 * 1024 * 1024
"""Bulk work is written in pieces of this size, so that live events get in between."""
SWEEP_S = 60.0
BREATH_S = 0.01
"""Between two steps of clearing out, so that other processes get to write."""


class EmbeddedBus:
    def __init__(self, path: Path, settings: BusSettings) -> None:
        self._file = BusFile(path, settings.partitions, settings.patience_s)
        self._lease_s = settings.lease_s

    async def __aenter__(self) -> Self:
        await self._file.open()
        self._sweeping = asyncio.create_task(self._sweep_forever())
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._sweeping.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._sweeping
        await self._file.close()

    async def publish(self, topic: Topic, event: Event, *, holder: Consumer | None = None) -> Position:
        return (await self._append([await self._new(topic, event)], holder))[0]

    async def publish_many(
        self, topic: Topic, events: Iterable[Event], *, holder: Consumer | None = None
    ) -> list[Position]:
        positions: list[Position] = []
        piece: list[NewRecord] = []
        size = 0
        for event in events:
            piece.append(await self._new(topic, event))
            size += len(piece[-1].value)
            if len(piece) == JOB_RECORDS or size >= JOB_BYTES:
                positions += await self._append(piece, holder)
                piece, size = [], 0
        return positions + await self._append(piece, holder) if piece else positions

    def consumer(
        self,
        topics: Iterable[Topic],
        group: str,
        *,
        on_assigned: AssignmentHook = no_hook,
        on_revoked: AssignmentHook = no_hook,
    ) -> Consumer:
        return EmbeddedMember(self._file, topics, group, self._lease_s, on_assigned, on_revoked)

    def follower(self, topics: Iterable[Topic], *, from_start: bool = False) -> Consumer:
        return EmbeddedFollower(self._file, topics, from_start=from_start)

    async def fetch(self, partition: Partition, offset: int, max_records: int = 500) -> list[Record]:
        name, number = partition

        def job(db: sqlite3.Connection) -> list[Record]:
            wants = [ReadRequest(slot_of(topic_number(db, name), number), max(offset, 0))]
            rows = records.read(db, wants, max_records)[0].rows
            return [Record(name, number, row.offset, row.key, row.value, row.at) for row in rows]

        return await self._file.read(job)

    async def bounds(self, partition: Partition) -> tuple[int, int]:
        name, number = partition
        return await self._file.read(lambda db: records.bounds(db, slot_of(topic_number(db, name), number)))

    async def partitions(self, topic: Topic) -> int:
        return self._file.partitions

    async def existing(self, topics: Iterable[Topic]) -> list[Topic]:
        return list(topics)

    async def progress(self, topics: Iterable[Topic], group: str) -> dict[Partition, Progress]:
        wanted = [Partition(topic.name, number) for topic in topics for number in range(self._file.partitions)]

        def job(db: sqlite3.Connection) -> dict[Partition, Progress]:
            slots = {part: slot_of(topic_number(db, part.topic), part.number) for part in wanted}
            return {
                part: progress(leases.committed(db, group, slot), *records.bounds(db, slot))
                for part, slot in slots.items()
            }

        return await self._file.read(job)

    async def members(self, group: str) -> int:
        return await self._file.read(lambda db: len(leases.alive(db, group)))

    async def forget(self, call: str) -> int:
        number = partition_of(call, self._file.partitions)
        forgotten = 0
        while some := await self._file.write(partial(records.erase, key=call, partition=number)):
            forgotten += some
            await asyncio.sleep(BREATH_S)
        await self._file.empty_log()
        return forgotten

    async def _new(self, topic: Topic, event: Event) -> NewRecord:
        value = checked_size(topic.name, topic.encode(event))
        number = partition_of(event.call, self._file.partitions)
        return NewRecord(slot_of(await self._file.topic(topic), number), event.call, value)

    async def _append(self, new: list[NewRecord], holder: Consumer | None) -> list[Position]:
        def job(db: sqlite3.Connection) -> tuple[list[int], dict[int, int]]:
            numbers = {partition_in(slot) for slot, _, _ in new}
            # In the transaction that writes: whoever took the partition over did so before it, or will after it.
            if holder is not None and not cast(EmbeddedMember, holder).holds_in(db, numbers):
                raise PartitionLost("another worker has taken the call over")
            return records.append(db, new)

        offsets, heads = await self._file.write(job)
        self._file.tell(self._file.saw(heads.items()))
        return [Position(partition_in(slot), offset) for (slot, _, _), offset in zip(new, offsets, strict=True)]

    async def _sweep_forever(self) -> None:
        """Forget what is older than its topic keeps, a little at a time, and give the space back."""
        waited = 0.0
        while True:
            await asyncio.sleep(1)
            waited += 1
            if waited < min(SWEEP_S, self._file.shortest_retention() / 10):
                continue
            waited = 0
            try:
                while ranges := await self._file.read(lambda db: records.expired(db, self._file.partitions)):
                    await self._file.write(partial(records.forget, ranges=ranges))
                    await asyncio.sleep(BREATH_S)
                while await self._file.read(records.spare_pages) > 0:
                    await self._file.write(records.give_back)
                    await asyncio.sleep(BREATH_S)
            except TenorError as error:
                log.warning("cannot clear out the bus", reason=error.message)
