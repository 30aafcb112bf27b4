"""Two hundred calls at once: all answered within a second, and nothing of them lost."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

import pytest

from ingest.gateway import Gateway
from tenor.bus.opening import open_bus
from tenor.events import Event
from tenor.settings import Settings
from tests.ingest.gateway.conftest import serving
from tests.ingest.gateway.hearing import HeardCall, hear, read_all
from tests.ingest.gateway.simulators.tones import AGENT_HZ, CALLER_HZ, pitch

CALLS, SECONDS = 200, 5


async def crowd(gateway: Gateway, calls: int, seconds: float) -> list[float]:
    """How long each call waited for its answer, in order."""
    arguments = (gateway.port, gateway.audiosocket_port, calls, seconds)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.ingest.gateway.simulators.crowd",
        *map(str, arguments),
        stdout=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parents[3],
    )
    out, _ = await process.communicate()
    assert process.returncode == 0
    answers: list[float] = json.loads(out)
    return answers


def complete(events: list[Event], calls: int, seconds: float) -> None:
    heard = hear(events)
    assert len(heard) == calls
    for call in heard.values():
        assert_complete(call, seconds)


def assert_complete(call: HeardCall, seconds: float) -> None:
    assert call.starts == 1
    assert call.ended is not None
    assert (call.ended.reason, call.ended.failed) == ("hangup", False)
    for channel in range(len(call.info.roles)):
        assert call.seconds(channel) == seconds
        assert pitch(call.pcm(channel)) == pytest.approx((CALLER_HZ, AGENT_HZ)[channel], abs=1)


@pytest.mark.kafka
async def test_a_crowd_through_kafka(kafka_settings: Settings) -> None:
    async with open_bus(kafka_settings) as bus:
        async with serving(bus) as gateway:
            await crowd(gateway, 24, 1)
        complete(await read_all(bus), 24, 1)


def slowness() -> float:
    """How many seconds a second of work takes: 1 on a machine of one's own, more on a shared one."""
    wall, work = time.perf_counter(), time.process_time()
    while time.process_time() - work < 0.1:
        pass
    return max(1.0, (time.perf_counter() - wall) / 0.1)


@pytest.mark.slow
async def test_200_calls_at_once(tmp_path: Path) -> None:
    async with open_bus(Settings(home=tmp_path)) as bus:
        async with serving(bus) as gateway:
            slow = slowness()
            answers = await crowd(gateway, CALLS, SECONDS)
            slow = max(slow, slowness())
        assert len(answers) == CALLS
        complete(await read_all(bus), CALLS, SECONDS)
    told = f"answered after {answers[-1]:.2f} s, half of them after {answers[CALLS // 2]:.2f} s, slowness {slow:.1f}"
    assert answers[-1] < 1.0 * slow, told
