"""From the end of an utterance's audio to its final on the bus, with several two-channel calls live.

    end of speech   end decided   its chunk full      final received      final on the bus
         |-- silence --|---- chunk ----|---- recogniser -----|---- ours ---------|
                    (ours also counts how late the chunk reached the recogniser)

Real telephone calls are played in real time; server, worker and player are processes of their own and
share this machine's cores.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from asr.local.stt.types import CLEAN_LEAD_MS
from benchmarks.services import percentile, recordings, riva, tenor
from ingest.audio.publisher import publish_recording
from ingest.audio.recording import open_recording
from ingest.options import IngestOptions
from ingest.sources import Source
from tenor.bus import Bus
from tenor.bus.opening import open_bus
from tenor.events import CALLS, TRANSCRIPTS, CallState, Transcript
from tenor.layers import load

STEPS = (1, 2, 4, 8)
LIMIT_S = 1.0
SECONDS = 45.0
MOST_CALLS = 24


async def play(bus: Bus, calls: int, label: str) -> list[Transcript]:
    """Play so many calls at once for a while, and gather the finals of those that were heard."""
    files = recordings()
    ids: set[str] = set()
    ended: set[str] = set()
    finals: list[Transcript] = []

    async def one(number: int) -> None:
        await asyncio.sleep(number * 0.37)  # people do not start to speak on the same beat
        deadline = time.monotonic() + SECONDS
        turn = 0
        while time.monotonic() < deadline:
            file = files[(number + turn * calls) % len(files)]
            call = f"{label}-{number}-{turn}"
            ids.add(call)
            recording = open_recording(Source("file", str(file)), IngestOptions(call=call))
            await publish_recording(bus, recording, pace=1.0)
            turn += 1

    async with bus.follower([TRANSCRIPTS, CALLS]) as follower:
        playing = asyncio.gather(*(one(number) for number in range(calls)))
        while not (playing.done() and ids <= ended):
            for record in await follower.poll(timeout_s=0.2):
                event = (TRANSCRIPTS if record.topic == TRANSCRIPTS.name else CALLS).decode(record.value)
                if isinstance(event, Transcript) and event.final and event.call in ids:
                    finals.append(event)
                elif isinstance(event, CallState) and event.state in ("ended", "failed"):
                    ended.add(event.call)
        await playing
    return finals


PARTS = ("total", "silence", "chunk", "recogniser", "ours")


def split(final: Transcript) -> tuple[float, float, float, float, float]:
    """The parts, in seconds."""
    times = final.times
    total = times["published"] - times["captured"]
    decided_ms = max(final.heard_ms + CLEAN_LEAD_MS, final.end_ms)  # a stream begins anew a little before its end
    silence = (decided_ms - final.end_ms) / 1000
    chunk = times["arrived"] - times["captured"] - silence
    recogniser = times["recognised"] - times["ended"]
    return total, silence, chunk, recogniser, total - silence - chunk - recogniser


def report(calls: int, finals: list[Transcript]) -> float:
    columns = list(zip(*(split(final) for final in finals), strict=True))
    figures = "  ".join(
        f"{name} {percentile(list(column), 0.5) * 1000:5.0f} /{percentile(list(column), 0.95) * 1000:5.0f}"
        for name, column in zip(PARTS, columns, strict=True)
    )
    print(f"{calls:3} calls  {len(finals):4} finals   {figures}   ms (p50 / p95)", flush=True)
    return percentile(list(columns[0]), 0.95)


async def measure(address: str, home: Path) -> None:
    settings = load({"home": str(home), "speech.address": address}, environment={}).settings
    async with open_bus(settings) as bus:
        await play(bus, 1, "warm-up")
        held = 0
        for calls in (*STEPS, *range(STEPS[-1] + 4, MOST_CALLS + 1, 4)):
            p95 = report(calls, await play(bus, calls, f"step{calls}"))
            if p95 < LIMIT_S:
                held = calls
            elif calls > STEPS[-1]:
                break
        print(f"p95 stayed under {LIMIT_S:.0f} s with up to {held} two-channel calls at once on this machine")


def main() -> None:
    print("latency: end of an utterance's audio -> its final on the bus", flush=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        riva() as (address, _),
        tenor("--home", folder, "-q", "serve", "asr", "--riva", address),
    ):
        asyncio.run(measure(address, Path(folder)))


if __name__ == "__main__":
    main()
