"""How far stages are behind, on each bus."""

from __future__ import annotations

import asyncio
from collections import deque

import pytest

from dashboard.lag import LagWatch, condition
from tenor.bus import Bus, Commit, Partition
from tenor.events import AUDIO, CALLS, CallEnded, CallState
from tenor.settings import Settings
from tenor.stage import READS


async def test_what_waits_is_what_was_not_committed(bus: Bus, bus_settings: Settings) -> None:
    watch = LagWatch(bus_settings)
    assert {lag.stage: lag.waiting for lag in await asyncio.to_thread(watch.look)} == dict.fromkeys(READS, 0)
    position = await bus.publish(CALLS, CallState(call="c", state="live", at=0))
    await bus.publish(AUDIO, CallEnded(call="c", reason="hangup", at=0))
    async with bus.consumer(READS["webhooks"], "webhooks") as consumer:
        while not await consumer.poll():
            pass
        await consumer.commit({Partition(CALLS.name, position.partition): Commit(position.offset + 1)})
    await asyncio.sleep(1.1)  # it is not measured more often than once a second
    found = {lag.stage: lag for lag in await asyncio.to_thread(watch.look)}
    waiting = {stage: lag.waiting for stage, lag in found.items()}
    assert waiting == {"asr": 1, "language": 1, "storage": 1, "recordings": 2, "webhooks": 0}
    assert found["storage"].condition == "working"
    assert found["webhooks"].condition == "up to date"
    assert len(found["asr"].past) == 2


@pytest.mark.parametrize(
    ("waited", "expected"),
    [
        ([], "not known"),
        ([5, 0], "up to date"),
        ([0, 5], "working"),
        ([9] * 40, "stuck"),
        ([9] * 20, "working"),
        ([*range(50, 10, -1)], "working"),
        ([*range(10, 50)], "stuck"),
    ],
)
def test_conditions(waited: list[int], expected: str) -> None:
    assert condition(deque((float(second), count) for second, count in enumerate(waited))) == expected
