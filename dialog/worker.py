"""The assistant's stage: what shoppers say in, turns out.

    transcripts --> partition --> call: inbox --> engine, actions --> turns
    calls       --'                 ^                                  |
    turns       --------------------'  (keys, a person who takes over, what a predecessor published)

Any number of workers share the partitions. Conversations go on beside each other: one that waits for a slow provider
delays no other, and the lines of one are answered in their order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

import structlog

from dialog import metrics
from dialog.call import CallContext
from dialog.flow_versions import FlowVersions
from dialog.partition import AssistantPartition
from dialog.understanding.types import UnderstanderVersions
from tenor.bus import Bus, Record
from tenor.bus.partitioned import PartitionLoop, Takeover
from tenor.stage import READS

log = structlog.get_logger(__name__)

GROUP: Final = "assistant"
BATCH: Final = 200
REFRESH_S: Final = 2.0
"""How often changed flows are looked for."""


class AssistantWorker:
    name = "assistant"

    def __init__(
        self,
        bus: Bus,
        versions: FlowVersions,
        understanders: UnderstanderVersions,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`clock` says when somebody has been silent for too long; all other times are those of records."""
        self._refreshed = 0.0
        self._loop = PartitionLoop(
            bus, GROUP, READS[GROUP], self._open, self._step, max_records=BATCH, dead_letters=metrics.DEAD_LETTERS
        )
        self._context = CallContext(bus, self._loop.publish, versions, understanders, clock)

    async def waits_for(self) -> str:
        return await self._loop.waits_for()

    async def run(self) -> None:
        try:
            await self._loop.run()
        finally:
            await self._context.versions.close()

    async def _open(self, taken: Takeover) -> AssistantPartition:
        partition = AssistantPartition(taken, self._context)
        await partition.catch_up()
        if partition.calls:
            log.info("conversations taken over", partition=taken.number, calls=len(partition.calls))
        return partition

    async def _step(self, records: Sequence[Record]) -> None:
        if time.monotonic() - self._refreshed > REFRESH_S:
            self._refreshed = time.monotonic()
            self._context.versions.refresh()
        partitions = self._loop.partitions
        for record in records:
            await partitions[record.partition].take(record)
        for partition in partitions.values():
            dead, partition.dead = partition.dead, []
            for record, reason in dead:
                await self._loop.bury(record, reason)
            partition.work(self._context.clock())
        calls = [call for partition in partitions.values() for call in partition.calls]
        self._context.understanders.release(calls)
        metrics.OPEN_CALLS.set(len(calls))
