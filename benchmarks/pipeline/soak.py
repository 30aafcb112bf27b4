"""A day of calls, compressed: memory, open files and what lies in the home folder stay flat.

Stages are processes of their own. Calls of two sides come faster than people speak, some at once, so that a day of a
busy team (CALLS, 1,500) takes an hour or less. Each process is looked at whenever a hundredth of the calls is kept. The
first third is warm-up: caches fill, pools open. The middle third is compared with the last.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil

from benchmarks.services import tenor
from storage.db.engine import Database, open_database
from tenor.bus import Bus
from tenor.bus.opening import open_bus
from tenor.events import AUDIO, Call, CallEnded, CallStarted
from tenor.layers import load
from tests import watching
from tests.asr.scripted_riva import ScriptedRiva, chunks, silence, speak
from tests.storage.writing import rows

CALLS = int(os.environ.get("CALLS", "1500"))
AT_ONCE = 6
LIMIT = 0.05
STAGES = ("asr", "language", "webhooks", "storage", "recordings")
LINES = ("hello i would like to cancel my order", "service was terrible today", "okay thanks bye")


class Look:
    """What was seen of one process, again and again."""

    def __init__(self, process: psutil.Process) -> None:
        self._process = process
        self.seen: dict[str, list[float]] = {"memory (MB)": [], "open files": []}

    def take(self) -> None:
        self.seen["memory (MB)"].append(self._process.memory_info().rss / 1e6)
        self.seen["open files"].append(self._process.num_fds())


def grown(values: list[float]) -> tuple[float, float]:
    """The lowest of the middle and of the last third: a leak raises it, and work in hand does not."""
    third = len(values) // 3
    return min(values[third : 2 * third]), min(values[2 * third :])


async def feed(bus: Bus, name: str) -> None:
    info = Call(source="file", roles=("caller", "agent"), started_at=time.time(), rate=8000, agent="ann")
    await bus.publish(AUDIO, CallStarted(call=name, info=info))
    pcm = b"".join(speak(line) + silence(1500) for line in LINES)
    sides = [list(chunks(name, channel, pcm if channel == 0 else bytes(len(pcm)), 8000)) for channel in (0, 1)]
    for both in zip(*sides, strict=True):
        await bus.publish_many(AUDIO, list(both))
        await asyncio.sleep(0.005)
    await bus.publish(AUDIO, CallEnded(call=name, reason="hangup", at=time.time()))


def kept(database: Database) -> int:
    return sum(row["state"] == "analysed" and row["recorded"] for row in rows(database, "calls")["calls"].values())


def lying_about(home: Path) -> int:
    """Files but those of recordings, which are one for each call."""
    return sum(len(names) for folder, _, names in os.walk(home) if Path(folder).name != "recordings")


async def soak(home: Path, looks: dict[str, Look]) -> list[float]:
    settings = load({"home": str(home)}, environment={}).settings
    database = open_database(settings)
    files: list[float] = []
    numbers: Iterator[int] = iter(range(CALLS))
    async with open_bus(settings) as bus:

        async def caller() -> None:
            for number in numbers:
                await feed(bus, f"call-{number}")

        async def look(until: int) -> None:
            await watching.until(lambda: kept(database) >= until, timeout_s=3600)
            files.append(lying_about(home))
            for one in looks.values():
                one.take()
            print(f"\r{until} of {CALLS} calls", end="", file=sys.stderr, flush=True)

        step = max(1, CALLS // 100)
        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(caller())
            for until in itertools.chain(range(step, CALLS, step), [CALLS]):
                await look(until)
    database.close()
    return files


async def run(home: Path) -> bool:
    async with ScriptedRiva() as recogniser:
        with ExitStack() as stack:
            options = ("--home", str(home), "-q", "--set", f"speech.address={recogniser.address}")
            looks = {name: Look(stack.enter_context(tenor(*options, "serve", name))) for name in STAGES}
            files = await soak(home, looks)
    figures = {f"{stage}: {what}": values for stage, look in looks.items() for what, values in look.seen.items()}
    flat = True
    for name, values in {**figures, "files in the home folder": files}.items():
        middle, last = grown(values)
        growth = last / middle - 1
        flat = flat and growth <= LIMIT
        print(f"{name:28} {middle:8.1f} -> {last:8.1f}   {growth:+.1%}{'' if growth <= LIMIT else '   GROWS'}")
    return flat


def main() -> None:
    print(f"soak: {CALLS} calls, {AT_ONCE} at once; the lowest of the second and of the last third", flush=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tenor-soak-") as folder:
        flat = asyncio.run(run(Path(folder)))
    took = (time.monotonic() - began) / 60
    print(f"{'flat within' if flat else 'NOT flat within'} {LIMIT:.0%}, after {took:.0f} minutes")
    if not flat:
        sys.exit(1)


if __name__ == "__main__":
    main()
