"""Consumers of the embedded bus: a follower reads everything for itself, a member shares with its group."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import uuid
from collections.abc import Collection, Iterable, Mapping
from typing import Self

import structlog

from tenor.bus import AssignmentHook, Commit, Partition, Record
from tenor.bus.commit_note import checked_note
from tenor.bus.embedded import leases, records
from tenor.bus.embedded.bus_file import BusChanges, BusFile
from tenor.bus.embedded.leases import Member
from tenor.bus.embedded.schema import partition_in, slot_of, topic_of
from tenor.errors import TenorError
from tenor.events import Topic

log = structlog.get_logger(__name__)

SILENT_S = 300.0
"""A member that has not polled for this long is stuck: it stops renewing its lease."""


class EmbeddedFollower:
    """All partitions, without a group."""

    def __init__(self, file: BusFile, topics: Iterable[Topic], *, from_start: bool) -> None:
        self._file = file
        self._subscribed = tuple(topics)
        self._topics: dict[int, str] = {}
        self._ids: dict[str, int] = {}
        self._from_start = from_start
        self._positions: dict[int, int] = {}
        self._woken = asyncio.Event()
        self._turn = 0

    async def __aenter__(self) -> Self:
        await self._name_topics()
        slots = [slot_of(topic, number) for topic in self._topics for number in range(self._file.partitions)]
        if not self._from_start:
            self._positions = await self._file.read(lambda db: {slot: records.head(db, slot) for slot in slots})
        else:
            self._positions = dict.fromkeys(slots, 0)
        self._file.listen(self._wake)
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._file.unlisten(self._wake)

    async def poll(self, max_records: int = 500, timeout_s: float = 0.5) -> list[Record]:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_s
        await self._file.look()
        while True:
            self._woken.clear()
            await self._settle()
            found = await self._read(max_records)
            if found:
                return found
            if found is None:
                continue
            try:
                async with asyncio.timeout_at(deadline):
                    await self._woken.wait()
            except TimeoutError:
                return []

    async def commit(self, commits: Mapping[Partition, Commit]) -> None:
        """A follower keeps no progress."""

    async def committed(self, partition: Partition) -> Commit | None:
        return None

    async def seek(self, partition: Partition, offset: int) -> None:
        slot = self._slot(partition)
        if slot in self._positions:
            self._positions[slot] = offset
            self._woken.set()

    def assignment(self) -> frozenset[Partition]:
        return frozenset(self._partitions(self._positions))

    async def holds(self, numbers: Collection[int]) -> bool:
        return True

    def joined(self) -> bool:
        return True

    async def _name_topics(self) -> None:
        self._topics = {await self._file.topic(topic): topic.name for topic in self._subscribed}
        self._ids = {name: number for number, name in self._topics.items()}

    async def _settle(self) -> None:
        """A follower's partitions never change."""

    def _generation_in(self, db: sqlite3.Connection) -> bool:
        """Whether what we hold is still ours, in the snapshot that is being read."""
        return True

    async def _read(self, max_records: int) -> list[Record] | None:
        """Records after our positions; None when the group changed meanwhile."""
        heads = self._file.heads
        wants = [
            records.ReadRequest(slot, position)
            for slot, position in self._positions.items()
            if heads.get(slot, 0) > position
        ]
        if not wants:
            return []
        self._turn = (self._turn + 1) % len(wants)
        wants = wants[self._turn :] + wants[: self._turn]
        found = await self._file.read(
            lambda db: records.read(db, wants, max_records) if self._generation_in(db) else None
        )
        if found is None:
            return None
        result = []
        # Only now that nothing can cancel us; and not where a seek came in between.
        for (slot, position), (_, rows, following) in zip(wants, found, strict=False):
            if self._positions.get(slot) == position:
                self._positions[slot] = following
                name, number = self._partition(slot)
                result += [Record(name, number, row.offset, row.key, row.value, row.at) for row in rows]
        return result

    def _wake(self, seen: BusChanges) -> None:
        if not seen.topics.isdisjoint(self._topics):
            self._woken.set()

    def _partition(self, slot: int) -> Partition:
        return Partition(self._topics[topic_of(slot)], partition_in(slot))

    def _partitions(self, slots: Collection[int]) -> list[Partition]:
        return [self._partition(slot) for slot in sorted(slots)]

    def _slot(self, partition: Partition) -> int:
        return slot_of(self._ids.get(partition.topic, -1), partition.number)


class EmbeddedMember(EmbeddedFollower):
    """A member of a group; see tenor/bus/embedded/leases.py for how the group shares."""

    def __init__(
        self,
        file: BusFile,
        topics: Iterable[Topic],
        group: str,
        lease_s: float,
        on_assigned: AssignmentHook,
        on_revoked: AssignmentHook,
    ) -> None:
        super().__init__(file, topics, from_start=True)
        self._group, self._lease_s = group, lease_s
        self._on_assigned, self._on_revoked = on_assigned, on_revoked
        self._generation = -1
        self._polled_at = 0.0

    async def __aenter__(self) -> Self:
        await self._name_topics()
        self._me = Member(self._group, uuid.uuid4().hex, tuple(self._topics), self._lease_s)
        self._file.listen(self._wake)
        self._polled_at = asyncio.get_running_loop().time()
        await self._join()
        self._beats = asyncio.create_task(self._beat_forever())
        return self

    async def __aexit__(self, *exc: object) -> None:
        try:
            if self._positions:
                await self._on_revoked(self._partitions(self._positions))
        finally:
            self._positions.clear()
            self._beats.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._beats
            self._file.unlisten(self._wake)
            self._change(await self._file.write(lambda db: leases.leave(db, self._me, self._file.partitions)))

    async def poll(self, max_records: int = 500, timeout_s: float = 0.5) -> list[Record]:
        self._polled_at = asyncio.get_running_loop().time()
        return await super().poll(max_records, timeout_s)

    async def commit(self, commits: Mapping[Partition, Commit]) -> None:
        ours = {
            self._slot(partition): Commit(commit.offset, checked_note(commit.note))
            for partition, commit in commits.items()
            if partition.topic in self._ids
        }
        if ours:
            await self._file.write(lambda db: leases.commit(db, self._me, ours))

    async def committed(self, partition: Partition) -> Commit | None:
        slot = self._slot(partition)
        return await self._file.read(lambda db: leases.committed(db, self._group, slot))

    def joined(self) -> bool:
        return self._generation >= 0

    async def holds(self, numbers: Collection[int]) -> bool:
        return await self._file.read(lambda db: self.holds_in(db, numbers))

    def holds_in(self, db: sqlite3.Connection, numbers: Collection[int]) -> bool:
        """Whether these partitions of all our topics are ours, as the file says now."""
        slots = {slot_of(topic, number) for topic in self._topics for number in numbers}
        return slots <= leases.share(db, self._me).owned

    async def _settle(self) -> None:
        """Bring what we hold in line with the group's plan, hooks included. Cancelled anywhere, it starts over."""
        while self._file.generations.get(self._group, 0) != self._generation:
            share = await self._file.read(lambda db: leases.share(db, self._me))
            if not share.alive:
                await self._revoke(set(self._positions))
                await self._join()
                continue
            keep = share.owned & share.wanted
            await self._revoke(set(self._positions) - keep)
            if going := share.owned - share.wanted:
                await self._release(going)
            if share.free or not keep <= self._positions.keys():
                await self._assign(await self._file.write(lambda db: leases.take(db, self._me)))
            self._generation = share.generation

    async def _release(self, slots: Collection[int]) -> None:
        self._change(await self._file.write(lambda db: leases.release(db, self._me, slots)))

    async def _join(self) -> None:
        self._change(await self._file.write(lambda db: leases.join(db, self._me, self._file.partitions)))

    async def _revoke(self, slots: Collection[int]) -> None:
        if slots:
            await self._on_revoked(self._partitions(slots))
            for slot in slots:
                del self._positions[slot]

    async def _assign(self, commits: Mapping[int, Commit | None]) -> None:
        new = {slot: commit for slot, commit in commits.items() if slot not in self._positions}
        for slot, commit in new.items():
            self._positions[slot] = commit.offset if commit else 0
        if new:
            await self._on_assigned(self._partitions(new))

    def _generation_in(self, db: sqlite3.Connection) -> bool:
        generation = leases.generation(db, self._group)
        self._file.saw((), [(self._group, generation)])
        return generation == self._generation

    def _change(self, generation: int) -> None:
        """The group is at a new generation: tell the members in this process at once."""
        self._file.tell(self._file.saw((), [(self._group, generation)]))

    def _wake(self, seen: BusChanges) -> None:
        super()._wake(seen)
        if self._group in seen.groups:
            self._woken.set()

    async def _beat_forever(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(min(self._lease_s / 3, 1.0))
            if loop.time() - self._polled_at > SILENT_S:
                continue
            try:
                generation = await self._file.write(lambda db: leases.beat(db, self._me, self._file.partitions))
            except TenorError as error:
                log.warning("cannot renew the lease", group=self._group, reason=error.message)
            else:
                if generation is not None:
                    self._change(generation)
