"""How many calls one process of each stage holds on this machine, found by search, and what gives way first.

    broker --- what the stage reads, of so many calls, in real time ---> stage ---> broker, database

A stage holds so many calls when it is less than two seconds behind them after a while; the recogniser, when p95 of its
finals comes within a second. Processor time per second of a call is the same on a machine that does other things.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import psutil
import psycopg

from benchmarks.pipeline.latency import play, split
from benchmarks.services import free_port, percentile, riva, tenor
from deploy.kafka.broker import Broker
from deploy.postgres.server import Server
from tenor.bus import Bus
from tenor.bus.opening import open_bus
from tenor.events import (
    AUDIO,
    CALLS,
    SENTENCES,
    TRANSCRIPTS,
    AudioChunk,
    Call,
    CallStarted,
    CallState,
    Event,
    Heard,
    Sentence,
    Topic,
    Transcript,
)
from tenor.layers import load
from tenor.settings import Settings
from tenor.stage import READS
from tests.asr.scripted_riva import ScriptedRiva, silence, speak

SECONDS = float(os.environ.get("SECONDS", "15"))
BEHIND_S, LATE_S = 2.0, 1.0
FIRST, MOST = 8, 1024
CHUNK_MS, RATE = 100, 8000
SAID = "hello i would like to cancel my order"
TURN_S = 4.0
"""Of each call: an utterance of either side so often."""

Tick = Callable[[int, int], dict[Topic, list[Event]]]
"""What is published at this tenth of a second, of so many calls."""


class Trial(NamedTuple):
    calls: int
    held: bool
    behind_s: float
    cores: float
    """Of the stage's own process."""
    idle: float
    """Share of the machine."""
    megabytes: float

    @property
    def gave_way(self) -> str:
        if self.cores > 0.85:
            return "its processor: a process of a stage uses one core"
        return "the machine's processor" if self.idle < 0.1 else "the bus or the database"


def _info() -> Call:
    return Call(source="file", roles=("caller", "agent"), started_at=time.time(), rate=RATE)


def audio(run: str) -> Tick:
    turn = speak(SAID) + silence(1000)
    turn += silence(max(0, int(TURN_S * 1000) - len(turn) // (RATE // 500)))
    step = CHUNK_MS * RATE // 500

    def tick(number: int, calls: int) -> dict[Topic, list[Event]]:
        events: list[Event] = []
        for call, channel in itertools.product(range(calls), (0, 1)):
            name = f"{run}-{call}"
            if number == channel == 0:
                events.append(CallStarted(call=name, info=_info()))
            at = (number + 7 * call + 20 * channel) * step % len(turn)
            events.append(
                AudioChunk(
                    call=name, channel=channel, seq=number, start_ms=number * CHUNK_MS, rate=RATE,
                    pcm=turn[at : at + step].ljust(step, b"\0"), captured_at=time.time(),
                )
            )  # fmt: skip
        return {AUDIO: events}

    return tick


def transcripts(run: str) -> Tick:
    def tick(number: int, calls: int) -> dict[Topic, list[Event]]:
        states: list[Event] = []
        events: list[Event] = []
        for call in range(calls):
            name, at_ms = f"{run}-{call}", number * CHUNK_MS
            if number == 0:
                states.append(CallState(call=name, state="live", at=time.time(), info=_info()))
            for channel in (0, 1):
                turn, phase = divmod(number + 7 * call + 20 * channel, int(TURN_S * 10))
                if phase == 0:
                    events.append(
                        Transcript(
                            call=name, channel=channel, role=("caller", "agent")[channel],
                            utterance=f"{name}/{channel}/{turn}", start_ms=at_ms, end_ms=at_ms + 90, final=True,
                            text="I would like to cancel my order.", times={"published": time.time()},
                        )
                    )  # fmt: skip
                elif phase % 20 == 0:
                    events.append(Heard(call=name, channel=channel, heard_ms=at_ms))
        return {CALLS: states, TRANSCRIPTS: events}

    return tick


def sentences(run: str) -> Tick:
    def tick(number: int, calls: int) -> dict[Topic, list[Event]]:
        told = transcripts(run)(number, calls)
        found: list[Event] = [
            Sentence(
                call=event.call, sentence=event.utterance, channel=event.channel, role=event.role,
                start_ms=event.start_ms, end_ms=event.end_ms, text=event.text, times=event.times, revision=0,
                sentiment="neutral", sentiment_scores={"neutral": 1.0}, intent="unknown", intent_score=0.5,
            )
            for event in told[TRANSCRIPTS]
            if isinstance(event, Transcript)
        ]  # fmt: skip
        return {CALLS: told[CALLS], SENTENCES: found}

    return tick


STAGES: dict[str, Callable[[str], Tick]] = {
    "asr": audio,
    "language": transcripts,
    "storage": sentences,
    "recordings": audio,
}


async def trial(bus: Bus, stage: str, process: psutil.Process, calls: int, run: str) -> Trial:
    tick = STAGES[stage](run)
    spent, began = sum(process.cpu_times()[:2]), time.monotonic()
    psutil.cpu_percent()
    records = 0
    for number in range(round(SECONDS * 10)):
        for topic, events in tick(number, calls).items():
            records += len(events) if topic in READS[stage] else 0
            await bus.publish_many(topic, events)
        await asyncio.sleep(max(0.0, began + number * 0.1 - time.monotonic()))
    late_s = time.monotonic() - began - SECONDS
    await asyncio.sleep(BEHIND_S)
    progress = await bus.progress(READS[stage], stage)
    behind_s = sum(at.unread for at in progress.values()) / (records / SECONDS)
    took_s = time.monotonic() - began
    cores = (sum(process.cpu_times()[:2]) - spent) / took_s
    held = behind_s < BEHIND_S and late_s < BEHIND_S
    idle = 1 - psutil.cpu_percent() / 100
    return Trial(calls, held, behind_s, cores, idle, process.memory_info().rss / 1e6)


async def search(attempt: Callable[[int], Awaitable[Trial]]) -> tuple[Trial | None, Trial | None]:
    """The largest that held and the smallest that did not: doubled, then halved twice."""
    held: Trial | None = None
    failed: Trial | None = None
    calls = FIRST
    for _ in range(12):
        found = await attempt(calls)
        held, failed = (found, failed) if found.held else (held, found)
        low, high = held.calls if held else 0, failed.calls if failed else 0
        if low >= MOST or (failed and high - low <= max(1, low // 4)):
            break
        calls = (low + high) // 2 if failed else low * 2
        if not calls:
            break
    return held, failed


def report(stage: str, held: Trial | None, failed: Trial | None) -> None:
    if held is None:
        print(f"{stage:11} holds fewer than {failed.calls if failed else FIRST} calls here", flush=True)
        return
    cost_ms = held.cores * 1000 / held.calls
    print(
        f"{stage:11} {held.calls:5} calls held, {cost_ms:6.2f} ms of processor per second of a call "
        f"({1000 / cost_ms:.0f} calls per core), {held.megabytes:.0f} MB; "
        + (f"at {failed.calls}: {failed.gave_way}, {failed.behind_s:.0f} s behind" if failed else "and more"),
        flush=True,
    )


@asynccontextmanager
async def empty_bus(settings: Settings, stage: str) -> AsyncIterator[Bus]:
    async with open_bus(settings) as bus:
        deadline = time.monotonic() + 120
        while await bus.members(stage) < 1:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{stage} did not start")
            await asyncio.sleep(0.2)
        yield bus


async def stages(names: Sequence[str], options: Sequence[str], settings: Settings) -> None:
    runs: Iterator[int] = itertools.count()
    async with ScriptedRiva() as recogniser:
        for stage in names:
            with tenor(*options, "-q", "--set", f"speech.address={recogniser.address}", "serve", stage) as process:
                async with empty_bus(settings, stage) as bus:
                    await asyncio.sleep(3)  # until the partitions are shared

                    async def attempt(calls: int) -> Trial:
                        return await trial(bus, stage, process, calls, f"load{next(runs)}")  # noqa: B023

                    report(stage, *await search(attempt))


async def recogniser(home: str, address: str, process: psutil.Process) -> None:
    """With real speech: `tenor riva`, and a worker before it."""
    settings = load({"home": home, "speech.address": address}, environment={}).settings
    async with open_bus(settings) as bus:
        await play(bus, 1, "warm-up")
        runs = itertools.count()

        async def attempt(calls: int) -> Trial:
            spent, began = sum(process.cpu_times()[:2]), time.monotonic()
            psutil.cpu_percent()
            finals = await play(bus, calls, f"step{next(runs)}")
            cores = (sum(process.cpu_times()[:2]) - spent) / (time.monotonic() - began)
            late_s = percentile([split(final)[0] for final in finals], 0.95)
            idle = 1 - psutil.cpu_percent() / 100
            return Trial(
                calls, late_s < LATE_S, late_s, cores / settings.riva.threads, idle, process.memory_info().rss / 1e6
            )

        held, failed = await search(attempt)
    cost = held or failed
    assert cost is not None
    cores = cost.cores * settings.riva.threads
    print(
        f"riva        {held.calls if held else 0:5} calls held, {cores * 1000 / cost.calls:.0f} ms of processor "
        f"per second of a call ({cost.calls / cores:.1f} calls per core), {cost.megabytes:.0f} MB; "
        + (
            f"at {failed.calls}: the recogniser's processor, finals {failed.behind_s:.1f} s late (p95)"
            if failed
            else ""
        ),
        flush=True,
    )


def main() -> None:
    print(f"load: calls of two sides in real time, {SECONDS:.0f} s each time, one process per stage", flush=True)
    wanted = os.environ.get("STAGES", ",".join([*STAGES, "riva"])).split(",")
    with tempfile.TemporaryDirectory(prefix="tenor-load-") as folder, ExitStack() as stack:
        Path(folder).chmod(0o755)
        broker = Broker(Path(folder) / "kafka", free_port())
        server = Server(Path(folder) / "postgres", free_port(), "s3cret")
        for service in (broker, server):
            service.start()
            stack.callback(service.kill)
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute("CREATE DATABASE tenor")
        values = {
            "home": f"{folder}/home",
            "bus.url": f"kafka://{broker.address}",
            "storage.url": server.url("tenor"),
        }
        options = ["--home", values["home"]]
        options += [word for name in ("bus.url", "storage.url") for word in ("--set", f"{name}={values[name]}")]
        settings = load(values, environment={}).settings
        asyncio.run(stages([name for name in wanted if name in STAGES], options, settings))
    if "riva" in wanted:
        with (
            tempfile.TemporaryDirectory() as home,
            riva() as (address, process),
            tenor("--home", home, "-q", "serve", "asr", "--riva", address),
        ):
            asyncio.run(recogniser(home, address, process))


if __name__ == "__main__":
    main()
