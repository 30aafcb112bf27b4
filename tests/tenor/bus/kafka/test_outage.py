"""A broker that goes away: what the log says of it, and that who waits for it gives up when patience has run out."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from deploy.kafka.broker import Broker
from tenor.bus import Consumer
from tenor.bus.opening import open_bus
from tenor.errors import Unavailable
from tenor.events import CALLS
from tenor.settings import Settings
from tests.tenor.bus.reading import fresh_topic
from tests.tenor.cli.command import environment

pytestmark = pytest.mark.kafka


async def read_for(follower: Consumer, seconds: float) -> None:
    async with asyncio.timeout(seconds):
        while True:
            await follower.poll(timeout_s=0.2)


def test_a_stage_whose_broker_stays_away_says_so_once_and_ends_with_exit_code_3(
    kafka_broker: Broker, kafka_settings: Settings, tmp_path: Path
) -> None:
    given = [f"--set=bus.url={kafka_settings.bus_url}", "--set=bus.patience_s=4", "--set=telemetry.log_format=json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "tenor", f"--home={tmp_path}", *given, "serve", "language", "storage", "recordings"],
        env={**environment(), "PYTHONPATH": str(Path(__file__).parents[4])},
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        next(line for line in process.stderr if '"ready"' in line)
        kafka_broker.kill()
        began = time.monotonic()
        lines = [*process.stderr]
        assert process.wait(60) == 3
        assert time.monotonic() - began > 4
    finally:
        process.kill()
        process.wait()
        kafka_broker.start()
    told = [json.loads(line) for line in lines if not line.startswith(("error: no Kafka at", "       "))]
    assert len(lines) - len(told) == 2, lines
    assert [line["event"] for line in told].count("Kafka is away") == 1
    assert not [line for line in told if line.get("logger", "").startswith("aiokafka")], told
    assert len(told) < 10, told


async def test_an_outage_shorter_than_patience_is_told_when_it_begins_and_ends(
    kafka_broker: Broker, kafka_settings: Settings
) -> None:
    async with open_bus(kafka_settings) as bus, bus.consumer([fresh_topic()], "readers") as consumer:
        while not consumer.joined():
            await consumer.poll(timeout_s=0.2)
        with capture_logs() as told:
            await asyncio.to_thread(kafka_broker.kill)
            while not told:
                await consumer.poll(timeout_s=0.2)
            await asyncio.to_thread(kafka_broker.start)
            async with asyncio.timeout(60):
                while told[-1]["event"] != "Kafka is back":
                    await consumer.poll(timeout_s=0.2)
    events = [line["event"] for line in told]
    assert {*events} == {"Kafka is away", "Kafka is back"}
    assert events[0] == "Kafka is away"
    assert ("Kafka is back",) * 2 not in pairwise(events), "back is told when it was away"


async def test_a_reader_gives_up_when_patience_has_run_out_and_another_try_finds_the_broker(
    kafka_broker: Broker, kafka_settings: Settings
) -> None:
    hasty = kafka_settings.model_copy(update={"bus": kafka_settings.bus.model_copy(update={"patience_s": 1.0})})
    async with open_bus(hasty) as bus:
        async with bus.follower([CALLS]) as follower:
            await follower.poll()
            await asyncio.to_thread(kafka_broker.kill)
            try:
                with pytest.raises(Unavailable, match="no Kafka at"):
                    await read_for(follower, 30)
            finally:
                await asyncio.to_thread(kafka_broker.start)
        async with asyncio.timeout(30):
            while True:
                try:
                    async with bus.follower([CALLS]) as follower:
                        await follower.poll()
                        return
                except Unavailable:
                    await asyncio.sleep(0.2)
