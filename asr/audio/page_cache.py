"""Pages of a partition that are being read again. Channels that fell behind together read the same ones once."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

import structlog

from tenor.bounded_dict import BoundedDict
from tenor.bus import Bus, Partition, Record

log = structlog.get_logger(__name__)

PAGE_SIZE = 64
"""Records; of 8 kHz audio about 100 kB."""
MAX_PAGES = 4
PATIENCE_S = 0.2


class RecordPage(NamedTuple):
    records: list[Record]
    next: int
    """Where to read on."""


class PageCache:
    def __init__(self, bus: Bus, partition: Partition) -> None:
        self._bus = bus
        self._partition = partition
        self._kept: BoundedDict[int, list[Record]] = BoundedDict(MAX_PAGES)
        self._reading = asyncio.Lock()

    async def read(self, offset: int, end: int) -> RecordPage:
        """Records from `offset` on, some of them, none from `end` on. Records that are gone are passed over."""
        # Pages end at multiples of their size, so that channels read the same ones wherever they began.
        count = PAGE_SIZE - offset % PAGE_SIZE
        async with self._reading:
            records = self._kept.get(offset)
            if records is None:
                records = await self._bus.fetch(self._partition, offset, count)
                if len(records) == count:
                    self._kept[offset] = records
        if wanted := [record for record in records if record.offset < end]:
            return RecordPage(wanted, wanted[-1].offset + 1)
        if records:
            return RecordPage([], end)
        oldest, _ = await self._bus.bounds(self._partition)
        if oldest > offset:
            log.error("audio was lost: the topic did not keep it long enough", partition=self._partition.number)
        else:
            # A broker that has just come back may not know yet what it has told us before.
            await asyncio.sleep(PATIENCE_S)
        return RecordPage([], min(end, max(oldest, offset)))
