"""Resident memory: the speech server with its models, and a worker with fifty calls open."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

import psutil

from benchmarks.services import recordings, riva, tenor
from ingest.audio.publisher import publish_recording
from ingest.audio.recording import open_recording
from ingest.options import IngestOptions
from ingest.sources import Source
from tenor.bus.opening import open_bus
from tenor.layers import load

CALLS = 50
SECONDS = 25.0
SERVER_LIMIT_MB, WORKER_LIMIT_MB = 700, 200


def megabytes(process: psutil.Process) -> float:
    return float(process.memory_info().rss) / 1e6


async def open_calls(home: Path, server: psutil.Process, worker: psutil.Process) -> tuple[float, float]:
    """Fifty two-channel calls at once, in real time; the highest figures seen."""
    settings = load({"home": str(home)}, environment={}).settings
    highest = [0.0, 0.0]
    async with open_bus(settings) as bus:

        async def one(number: int) -> None:
            files = recordings()
            recording = open_recording(
                Source("file", str(files[number % len(files)])), IngestOptions(call=f"open-{number}")
            )
            await publish_recording(bus, recording, pace=1.0)

        playing = [asyncio.create_task(one(number)) for number in range(CALLS)]
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            await asyncio.sleep(0.5)
            highest = [max(old, megabytes(p)) for old, p in zip(highest, (server, worker), strict=True)]
        for task in playing:
            task.cancel()
        await asyncio.gather(*playing, return_exceptions=True)
    return highest[0], highest[1]


def main() -> None:
    print("memory: resident, in MB", flush=True)
    with tempfile.TemporaryDirectory() as folder, riva() as (address, server):
        idle = megabytes(server)
        with tenor("--home", folder, "-q", "serve", "asr", "--riva", address) as worker:
            busy, held = asyncio.run(open_calls(Path(folder), server, worker))
    print(f"tenor riva   ready {idle:.0f}, with {2 * CALLS} streams {busy:.0f}  (to hold: {SERVER_LIMIT_MB})")
    print(f"worker       with {CALLS} open calls {held:.0f}  (to hold: {WORKER_LIMIT_MB})")


if __name__ == "__main__":
    main()
