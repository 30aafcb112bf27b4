"""Reading a partition again: by many at once, with records missing."""

from __future__ import annotations

import asyncio

from asr.audio.page_cache import PAGE_SIZE, PageCache
from tenor.bus import Partition, Record


class Shelf:
    """As much of a bus as pages need."""

    def __init__(self, offsets: range) -> None:
        self.offsets = offsets
        self.fetched = 0

    async def fetch(self, partition: Partition, offset: int, max_records: int = 500) -> list[Record]:
        self.fetched += 1
        found = [place for place in self.offsets if place >= offset][:max_records]
        return [Record(partition.topic, partition.number, place, "c", b"", 0.0) for place in found]

    async def bounds(self, partition: Partition) -> tuple[int, int]:
        return self.offsets.start, self.offsets.stop


async def _read(pages: PageCache, offset: int, end: int) -> list[int]:
    found: list[int] = []
    while offset < end:
        page = await pages.read(offset, end)
        found += [record.offset for record in page.records]
        offset = page.next
        await asyncio.sleep(0)
    return found


def _pages(shelf: Shelf) -> PageCache:
    return PageCache(shelf, Partition("tenor.audio", 0))  # type: ignore[arg-type]


async def test_everything_is_read_and_nothing_beyond_the_end() -> None:
    assert await _read(_pages(Shelf(range(1000))), 7, 901) == list(range(7, 901))


async def test_channels_that_fell_behind_together_read_once() -> None:
    shelf = Shelf(range(1000))
    pages = _pages(shelf)
    read = await asyncio.gather(*(_read(pages, start, 1000) for start in (3, 9, 30, 60)))
    assert [len(found) for found in read] == [997, 991, 970, 940]
    assert shelf.fetched <= 1000 // PAGE_SIZE + 2 * 4  # the first and the last page of each are its own


async def test_what_retention_took_is_passed_over() -> None:
    assert await _read(_pages(Shelf(range(500, 600))), 10, 600) == list(range(500, 600))
    assert await _read(_pages(Shelf(range(500, 600))), 10, 400) == []


async def test_a_broker_that_does_not_know_its_end_yet_is_waited_for() -> None:
    shelf = Shelf(range(50))
    reading = asyncio.create_task(_read(_pages(shelf), 0, 100))
    await asyncio.sleep(0.3)
    assert not reading.done()
    shelf.offsets = range(100)
    assert await reading == list(range(100))
