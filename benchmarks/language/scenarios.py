"""Three ways of being asked, as inference benchmarks tell them apart: one after the other, at a rate, and all at once.

    python -m benchmarks.language.scenarios

    single stream   the next question when the last is answered      p90 of the latency
    multistream     so many chats, a message each every few seconds  how many keep 99 % of answers within the bound
    offline         everything is there at the beginning             sentences a second

Measured of the language model alone, and of the way from a written message on the bus to its sentence on the bus.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy is imported

from finetune.corpus import datasets
from finetune.evaluate.scores import percentile
from nlp.inference.local import LocalBackend
from nlp.worker import NlpWorker
from tenor import telemetry
from tenor.bus import Bus
from tenor.bus.opening import open_bus
from tenor.events import CALLS, SENTENCES, TRANSCRIPTS, Call, CallState, Transcript
from tenor.runtime import running
from tenor.settings import Settings, TelemetrySettings

QUERIES = 300
INTERVAL_S, BOUND_S = 5.0, 1.0
"""A chat gets a message every five seconds; its sentence must be there within one."""
ROUND_S = 15.0
TICK_S = 0.05
"""The model alone: so many sentences every 50 ms, to be answered before the next come."""
MOST = 2048
OFFLINE_CHATS, OFFLINE_MESSAGES = 40, 100


def main(arguments: list[str] | None = None) -> None:
    telemetry.configure(TelemetrySettings(log_level="error"))
    texts = [row["text"] for name in ("sentiment", "intents") for row in datasets.evaluation(name)]
    backend = LocalBackend()
    model(backend, texts)
    asyncio.run(pipeline(backend, texts))


def model(backend: LocalBackend, texts: Sequence[str]) -> None:
    for text in texts[:20]:
        backend.analyze([text])
    waits = [_seconds(backend, [texts[number % len(texts)]]) for number in range(QUERIES)]
    print(f"model, single stream: p90 {1000 * percentile(waits, 0.9):.1f} ms of {QUERIES} sentences", flush=True)
    streams = _most(lambda count: _keeps_up(backend, texts, count))
    print(f"model, multistream: {streams} sentences every {1000 * TICK_S:.0f} ms, 99 % of batches in time", flush=True)
    many = list(texts) * 4
    print(f"model, offline: {len(many) / _seconds(backend, many):.0f} sentences a second", flush=True)


def _seconds(backend: LocalBackend, texts: Sequence[str]) -> float:
    began = time.perf_counter()
    backend.analyze(texts)
    return time.perf_counter() - began


def _keeps_up(backend: LocalBackend, texts: Sequence[str], count: int) -> bool:
    waits = [_seconds(backend, [texts[(start + at) % len(texts)] for at in range(count)]) for start in range(0, 400, 4)]
    return percentile(waits, 0.99) <= TICK_S


def _most(good: object) -> int:
    """The largest count that keeps up: doubled until it does not, then halved in between."""
    assert callable(good)
    low, high = 0, 1
    while high <= MOST and good(high):
        low, high = high, 2 * high
    while high - low > max(1, low // 8):
        middle = (low + high) // 2
        low, high = (middle, high) if good(middle) else (low, middle)
    return low


async def pipeline(backend: LocalBackend, texts: Sequence[str]) -> None:
    async with _chats(backend) as chats:
        waits = []
        for number in range(QUERIES):
            began = time.perf_counter()
            await chats.say("single", number, texts[number % len(texts)])
            await chats.understood("single", number)
            waits.append(time.perf_counter() - began)
        print(f"pipeline, single stream: p90 {1000 * percentile(waits, 0.9):.0f} ms of {QUERIES} messages", flush=True)
        began = time.perf_counter()
        calls = [f"offline-{number}" for number in range(OFFLINE_CHATS)]
        for call in calls:
            await chats.say_all(call, [texts[number % len(texts)] for number in range(OFFLINE_MESSAGES)])
        await asyncio.gather(*(chats.understood(call, OFFLINE_MESSAGES - 1) for call in calls))
        rate = OFFLINE_CHATS * OFFLINE_MESSAGES / (time.perf_counter() - began)
        print(f"pipeline, offline: {rate:.0f} messages a second", flush=True)
        low, high = 0, 64
        while high <= MOST and (late := await chats.rate(high, texts)) <= BOUND_S:
            print(f"  {high} chats: p99 {1000 * late:.0f} ms", flush=True)
            low, high = high, 2 * high
        print(
            f"pipeline, multistream: {low} chats at once, a message each every {INTERVAL_S:.0f} s,"
            f" 99 % of sentences within {BOUND_S:.0f} s",
            flush=True,
        )


@asynccontextmanager
async def _chats(backend: LocalBackend) -> AsyncIterator[Chats]:
    with tempfile.TemporaryDirectory(prefix="bench-") as home:
        settings = Settings(home=Path(home))
        async with open_bus(settings) as bus, running(NlpWorker(bus, settings, backend)):
            chats = Chats(bus)
            following = asyncio.create_task(chats.follow())
            await asyncio.sleep(1)
            try:
                yield chats
            finally:
                following.cancel()
                with suppress(asyncio.CancelledError):
                    await following


class Chats:
    """Writes messages onto the bus and notes when their sentences come."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._live: set[str] = set()
        self._waiting: dict[str, asyncio.Future[float]] = {}

    async def say(self, call: str, number: int, text: str) -> None:
        await self._open(call)
        await self._bus.publish(TRANSCRIPTS, self._message(call, number, text))

    async def say_all(self, call: str, texts: Sequence[str]) -> None:
        await self._open(call)
        messages = [self._message(call, number, text) for number, text in enumerate(texts)]
        await self._bus.publish_many(TRANSCRIPTS, messages)

    async def understood(self, call: str, number: int) -> float:
        name = f"{call}/0/{number * 1000}"
        at = await self._waiting[name]
        del self._waiting[name]
        return at

    async def rate(self, chats: int, texts: Sequence[str]) -> float:
        """The delay that 99 % of the answers stay under, with so many chats."""
        waits: list[float] = []

        async def chat(number: int) -> None:
            await asyncio.sleep(INTERVAL_S * number / chats)
            for turn in range(int(ROUND_S / INTERVAL_S)):
                began = time.perf_counter()
                call = f"chat-{chats}-{number}"
                await self.say(call, turn, texts[(number + turn) % len(texts)])
                at = await self.understood(call, turn)
                waits.append(at - began)
                await asyncio.sleep(max(0.0, began + INTERVAL_S - time.perf_counter()))

        await asyncio.gather(*(chat(number) for number in range(chats)))
        return percentile(waits, 0.99)

    async def follow(self) -> None:
        async with self._bus.follower([SENTENCES], from_start=True) as follower:
            while True:
                records = await follower.poll()
                now = time.perf_counter()
                for record in records:
                    future = self._waiting.get(SENTENCES.decode(record.value).sentence)
                    if future and not future.done():
                        future.set_result(now)

    async def _open(self, call: str) -> None:
        if call not in self._live:
            self._live.add(call)
            info = Call(source="file", medium="chat", roles=("caller",), started_at=time.time())
            await self._bus.publish(CALLS, CallState(call=call, state="live", at=time.time(), info=info))

    def _message(self, call: str, number: int, text: str) -> Transcript:
        name = f"{call}/0/{number * 1000}"
        self._waiting[name] = asyncio.get_running_loop().create_future()
        return Transcript(
            call=call,
            channel=0,
            role="caller",
            utterance=name,
            start_ms=number * 1000,
            end_ms=number * 1000 + len(text),
            text=text,
            final=True,
            times={"captured": time.time(), "published": time.time()},
        )


if __name__ == "__main__":
    main()
