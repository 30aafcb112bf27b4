"""A partition of the audio topic as the channels on it read it: how far the worker is, and what lies before that."""

from __future__ import annotations

from asr.audio.page_cache import PageCache, RecordPage
from tenor.bus import Bus, Partition


class AudioSource:
    """One for each partition: its AudioPartition moves it on, its channels read from it."""

    def __init__(self, bus: Bus, partition: Partition, next_offset: int) -> None:
        self.partition = partition
        self.next_offset = next_offset
        """Of the record that the worker reads next."""
        self._bus = bus
        self._pages = PageCache(bus, partition)

    async def read(self, offset: int) -> RecordPage:
        """Records from `offset` on that the worker has read, some of them."""
        return await self._pages.read(offset, self.next_offset)

    async def exhausted(self) -> bool:
        """Whether the worker has read everything on the partition."""
        _, end = await self._bus.bounds(self.partition)
        return end <= self.next_offset
