"""How far stages are behind, on each bus."""

from __future__ import annotations

import asyncio

import pytest

from dashboard.ui.lag_monitor import LagMonitor, StageMonitor
from tenor.bus import Bus, Commit, Partition, Progress, lag
from tenor.bus.commit_note import CommitNote
from tenor.events import AUDIO, CALLS, CallEnded, CallState
from tenor.settings import LanguageSettings, Settings
from tenor.stage import READS

HERE, THERE = Partition(AUDIO.name, 0), Partition(AUDIO.name, 1)


async def test_what_waits_is_what_was_not_read(bus: Bus, bus_settings: Settings) -> None:
    address = LanguageSettings(summary_url="http://127.0.0.1:1/v1")
    monitor = LagMonitor(bus_settings.model_copy(update={"language": address}))
    assert {lag.stage: lag.waiting for lag in await asyncio.to_thread(monitor.measure)} == dict.fromkeys(READS, 0)
    position = await bus.publish(CALLS, CallState(call="c", state="live", at=0))
    await bus.publish(AUDIO, CallEnded(call="c", reason="hangup", at=0))
    async with bus.consumer(READS["webhooks"], "webhooks") as consumer:
        while not await consumer.poll():
            pass
        await consumer.commit({Partition(CALLS.name, position.partition): Commit(position.offset + 1)})
    await asyncio.sleep(1.1)  # it is not measured more often than once a second
    found = {lag.stage: lag for lag in await asyncio.to_thread(monitor.measure)}
    waiting = {stage: lag.waiting for stage, lag in found.items()}
    assert waiting == {
        "asr": 1,
        "language": 1,
        "assistant": 1,
        "storage": 1,
        "recordings": 2,
        "webhooks": 0,
        "summaries": 1,
    }
    assert {lag.condition for lag in found.values()} == {"not running"}
    assert len(found["asr"].past) == 2


async def test_a_stage_runs_while_one_of_its_workers_does(bus: Bus, bus_settings: Settings) -> None:
    async with bus.consumer(READS["storage"], "storage") as consumer:
        await consumer.poll()
        found = {lag.stage: lag.condition for lag in await asyncio.to_thread(LagMonitor(bus_settings).measure)}
    assert found == dict.fromkeys(READS.keys() - {"summaries"}, "not running") | {"storage": "nothing waiting"}


def watched(*reached: int, end: int = 100) -> StageMonitor:
    """A stage with one partition, looked at every second."""
    monitor = StageMonitor("language")
    for second, at in enumerate(reached):
        monitor.record(float(second), {HERE: Progress(0, at, end)})
    return monitor


@pytest.mark.parametrize(
    ("reached", "expected"),
    [
        ([], "not known"),
        ([95, 100], "nothing waiting"),
        ([100, 95], "working"),
        ([50] * 40, "stuck"),
        ([50] * 20, "working"),
        ([*range(40)], "working"),
        ([*[50] * 20, 51, *[51] * 20], "working"),
        ([100] * 40, "nothing waiting"),
    ],
)
def test_conditions(reached: list[int], expected: str) -> None:
    assert watched(*reached).lag().condition == expected


def test_a_stage_that_keeps_up_with_a_steady_stream_is_not_stuck() -> None:
    monitor = StageMonitor("asr")
    for second in range(60):
        monitor.record(float(second), {HERE: Progress(second, second, second + 5)})
    assert monitor.lag().waiting == 5
    assert monitor.lag().condition == "working"


def test_a_stage_that_stands_still_while_more_comes_is_stuck() -> None:
    monitor = StageMonitor("asr")
    for second in range(40):
        monitor.record(float(second), {HERE: Progress(0, 0, second + 5)})
    assert monitor.lag().condition == "stuck"


def test_one_partition_that_stands_still_is_noticed_while_others_go_on() -> None:
    monitor = StageMonitor("asr")
    for second in range(60):
        monitor.record(float(second), {HERE: Progress(0, 0, 5), THERE: Progress(second, second, second + 1)})
    assert monitor.lag().condition == "stuck"


def test_a_stage_nobody_watched_for_a_while_is_not_said_to_be_stuck() -> None:
    monitor = watched(50)
    monitor.record(300.0, {HERE: Progress(0, 50, 100)})
    assert monitor.lag().condition == "working"


async def test_a_call_going_on_is_not_a_stage_that_is_stuck(bus: Bus, bus_settings: Settings) -> None:
    """Its records are held until it is over, and have been read all the same."""
    position = await bus.publish(CALLS, CallState(call="c", state="live", at=0))
    place = Partition(CALLS.name, position.partition)
    async with bus.consumer(READS["language"], "language") as consumer:
        while not await consumer.poll():
            pass
        await consumer.commit({place: Commit(position.offset, CommitNote(reached=position.offset + 1).write())})
        found = {lag.stage: lag for lag in await asyncio.to_thread(LagMonitor(bus_settings).measure)}
    assert found["language"].waiting == 0
    assert found["language"].condition == "nothing waiting"
    assert await lag(bus, READS["language"], "language") == 1
