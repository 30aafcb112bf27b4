"""Reading in tests: until so many records are there, never for ever."""

from __future__ import annotations

import asyncio
import itertools
import os

import pytest

from tenor.bus import Consumer, Record
from tenor.events import AudioChunk, Note, Topic

_numbers = itertools.count()


def fresh_topic(retention_s: int = 3600) -> Topic:
    """A topic no other test knows."""
    return Topic(f"test.{os.getpid()}.{next(_numbers)}", Note | AudioChunk, retention_s, codec="msgpack")


async def drained(consumer: Consumer, count: int, within_s: float = 30.0) -> list[Record]:
    """The next `count` records, and no more than that."""
    records: list[Record] = []
    try:
        async with asyncio.timeout(within_s):
            while len(records) < count:
                records += await consumer.poll(timeout_s=0.2)
    except TimeoutError:
        pytest.fail(f"only {len(records)} of {count} records came within {within_s} s")
    assert len(records) == count
    return records


async def holding(consumer: Consumer, count: int, *others: Consumer, within_s: float = 30.0) -> None:
    """Poll until `consumer` holds `count` partitions."""
    try:
        async with asyncio.timeout(within_s):
            while len(consumer.assignment()) != count:
                await asyncio.gather(*(each.poll(timeout_s=0.05) for each in (consumer, *others)))
    except TimeoutError:
        pytest.fail(f"holds {len(consumer.assignment())} partitions instead of {count} after {within_s} s")
