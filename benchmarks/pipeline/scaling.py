"""Two workers do twice the calls of one.

Against a scripted recogniser in a process of its own, so that the recogniser is not what is measured: twice the
calls on two workers should give twice the finals, for the same processor time a call and no later.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import tempfile
import time
from contextlib import ExitStack
from multiprocessing.connection import Connection

import psutil

from asr.worker import GROUP
from benchmarks.pipeline.latency import split
from benchmarks.services import READY_S, percentile, tenor
from tenor.bus import Bus
from tenor.bus.opening import open_bus
from tenor.events import AUDIO, CALLS, TRANSCRIPTS, AudioChunk, Call, CallEnded, CallStarted, CallState, Transcript
from tenor.layers import load
from tests.asr.scripted_riva import ScriptedRiva, silence, speak

CALLS_A_WORKER = 25
SECONDS = 20
CHUNK_MS, RATE = 100, 8000


def _recognise(address: Connection) -> None:
    async def serve() -> None:
        async with ScriptedRiva() as riva:
            address.send(riva.address)
            await asyncio.sleep(600)

    asyncio.run(serve())


def _speech(shift_ms: int) -> bytes:
    said = speak("hello i would like to cancel my order") + silence(2500)
    return (silence(shift_ms) + said * SECONDS)[: SECONDS * RATE * 2]


async def _play(bus: Bus, call: str, number: int) -> None:
    info = Call(source="file", roles=("caller", "agent"), started_at=time.time(), rate=RATE)
    await bus.publish(AUDIO, CallStarted(call=call, info=info))
    sides = [_speech(37 * number % 2000), _speech(1500 + 53 * number % 2000)]
    began, step = time.time() + number % 10 / 100, CHUNK_MS * RATE // 1000 * 2
    for seq in range(SECONDS * 1000 // CHUNK_MS):
        due = began + (seq + 1) * CHUNK_MS / 1000
        await asyncio.sleep(max(0.0, due - time.time()))
        await bus.publish_many(
            AUDIO,
            [
                AudioChunk(
                    call=call,
                    channel=channel,
                    seq=seq,
                    start_ms=seq * CHUNK_MS,
                    rate=RATE,
                    pcm=pcm[seq * step : (seq + 1) * step],
                    captured_at=due,
                )
                for channel, pcm in enumerate(sides)
            ],
        )
    await bus.publish(AUDIO, CallEnded(call=call, reason="hangup", at=time.time()))


async def _joined(folder: str, workers: int) -> None:
    """Until every worker has started: what that costs is no part of a call."""
    deadline = time.monotonic() + READY_S
    async with open_bus(load({"home": folder}, environment={}).settings) as bus:
        while await bus.members(GROUP) < workers:
            if time.monotonic() > deadline:
                raise RuntimeError(f"the workers did not start within {READY_S:.0f} s")
            await asyncio.sleep(0.2)


async def _finals(bus: Bus, calls: set[str]) -> list[Transcript]:
    finals: list[Transcript] = []
    over: set[str] = set()
    async with bus.follower([TRANSCRIPTS, CALLS]) as follower:
        playing = asyncio.gather(*(_play(bus, call, number) for number, call in enumerate(sorted(calls))))
        while not (playing.done() and calls <= over):
            for record in await follower.poll(timeout_s=0.2):
                event = (TRANSCRIPTS if record.topic == TRANSCRIPTS.name else CALLS).decode(record.value)
                if isinstance(event, Transcript) and event.final:
                    finals.append(event)
                elif isinstance(event, CallState) and event.state in ("ended", "failed"):
                    over.add(event.call)
        await playing
    return finals


def _measure(workers: int, address: str) -> tuple[int, float, float]:
    """Finals, processor seconds of the workers a call-minute, p95 of our share of the latency."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        command = ("--home", folder, "-q", "serve", "asr", "--riva", address)
        processes = [stack.enter_context(tenor(*command)) for _ in range(workers)]
        asyncio.run(_joined(folder, workers))
        time.sleep(4)  # until the partitions are shared

        async def play() -> list[Transcript]:
            async with open_bus(load({"home": folder}, environment={}).settings) as bus:
                return await _finals(bus, {f"call-{number}" for number in range(workers * CALLS_A_WORKER)})

        before = _cpu(processes)
        finals = asyncio.run(play())
        spent = _cpu(processes) - before
    ours = [split(final)[-1] for final in finals]
    return len(finals), spent / (workers * CALLS_A_WORKER * SECONDS / 60), percentile(ours, 0.95)


def _cpu(processes: list[psutil.Process]) -> float:
    return sum(times.user + times.system for times in (process.cpu_times() for process in processes))


def main() -> None:
    print(f"scaling: {CALLS_A_WORKER} two-channel calls a worker, in real time, scripted recogniser", flush=True)
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    server = multiprocessing.get_context("spawn").Process(target=_recognise, args=(theirs,), daemon=True)
    server.start()
    try:
        address = ours.recv()
        results = []
        for workers in (1, 2):
            finals, cpu, p95 = _measure(workers, address)
            results.append((finals, cpu))
            print(
                f"{workers} worker{'s' * (workers > 1)}: {workers * CALLS_A_WORKER} calls, {finals} finals, "
                f"{cpu:.2f} s of processor a call-minute, ours p95 {p95 * 1000:.0f} ms",
                flush=True,
            )
        (one, cpu_one), (two, cpu_two) = results
        print(
            f"twice the workers: {two / one:.2f} times the finals at {cpu_two / cpu_one:.2f} times the processor a call"
        )
    finally:
        server.terminate()
        server.join()


if __name__ == "__main__":
    main()
