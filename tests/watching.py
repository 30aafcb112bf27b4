"""What a test sees of a bus, and how it waits for something to happen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from tenor.bus import Bus, Partition
from tenor.events import Topic


async def events(bus: Bus, topic: Topic, call: str = "") -> list[Any]:
    """Everything on a topic, or what is there of one call."""
    found: list[Any] = []
    for number in range(await bus.partitions(topic)):
        partition, offset = Partition(topic.name, number), 0
        while records := await bus.fetch(partition, offset):
            offset = records[-1].offset + 1
            found += [topic.decode(record.value) for record in records if call in ("", record.key)]
    return found


async def until(happened: Callable[[], Any], *tasks: asyncio.Task[None] | None, timeout_s: float = 60.0) -> None:
    """Wait for it; what one of the tasks dies of meanwhile is raised."""
    async with asyncio.timeout(timeout_s):
        while True:
            for task in tasks:
                if task and task.done() and not task.cancelled():
                    task.result()
            result = happened()
            if asyncio.iscoroutine(result):
                result = await result
            if result:
                return
            await asyncio.sleep(0.02)
