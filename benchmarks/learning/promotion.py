"""A model is promoted while calls go on: the worst sentence, the memory of both models, and when it counts."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import psutil

from benchmarks.pipeline.memory import megabytes
from benchmarks.services import tenor
from nlp.inference.models.language_model import DEFAULT
from storage.registry import folders, promotion_writer
from tenor.bus import Bus
from tenor.bus.opening import open_bus
from tenor.events import CALLS, MODELS, SENTENCES, TRANSCRIPTS, Call, CallState, ModelLoaded, Sentence, Transcript, Word
from tenor.layers import load
from tenor.model_store.card import read_card
from tenor.model_store.promotion_log import EFFECTIVE_S, Promotion
from tenor.model_store.shipped import SHIPPED

OPEN, EVERY_S = 8, 0.4
"""Calls at once, and how often somebody says something in each."""
QUIET_S = 12.0
"""Before the promotion, to compare with."""
CALL_S = 8.0
WORST_MS, MORE_MB = 250, 150
LINE = "I have been waiting for an hour and I want my money back."


@dataclass
class Heard:
    latencies: list[tuple[float, float, str]] = field(default_factory=list)
    """Moment, milliseconds, model."""
    loaded_at: float = 0.0

    def between(self, since: float, until: float) -> list[float]:
        return sorted(ms for at, ms, _ in self.latencies if since <= at < until)


async def listen(bus: Bus, heard: Heard) -> None:
    async with bus.follower([SENTENCES, MODELS]) as follower:
        while True:
            for record in await follower.poll(500, 0.2):
                topic = SENTENCES if record.topic == SENTENCES.name else MODELS
                event = topic.decode(record.value)
                if isinstance(event, ModelLoaded):
                    heard.loaded_at = event.at
                elif isinstance(event, Sentence):
                    ms = 1000 * (event.times["sentence_published"] - event.times["published"])
                    heard.latencies.append((event.times["published"], ms, event.models["intent"]))


async def talk(bus: Bus, side: int, stop: asyncio.Event) -> None:
    """One call after the other."""
    number = 0
    while not stop.is_set():
        call, began = f"bench-{side}-{number}", time.time()
        about = Call(source="file", roles=("caller", "agent"), started_at=began)
        await bus.publish(CALLS, CallState(call=call, state="live", at=began, info=about))
        at_ms = 0
        while time.time() - began < CALL_S and not stop.is_set():
            words = tuple(
                Word(text=word, start_ms=at_ms + 10 * place, end_ms=at_ms + 10 * place + 9)
                for place, word in enumerate(LINE.split())
            )
            final = Transcript(
                call=call, channel=0, role="caller", utterance=f"{call}/0/{at_ms}", start_ms=at_ms, end_ms=at_ms + 200,
                text=LINE, final=True, words=words, heard_ms=at_ms + 300, times={"published": time.time()},
            )  # fmt: skip
            await bus.publish(TRANSCRIPTS, final)
            at_ms += 5000
            await asyncio.sleep(EVERY_S)
        await bus.publish(CALLS, CallState(call=call, state="ended", at=time.time(), info=about))
        number += 1


def candidate(folder: Path, models: Path) -> Promotion:
    """The model that ships, under another name."""
    source = folder / "house"
    source.mkdir()
    for path in DEFAULT.iterdir():
        shutil.copyfile(path, source / path.name)
    model, _ = folders.add_folder(source, models, name="house", kind="language", origin={})
    digest = read_card(models / model).digest
    return Promotion(
        kind="language", model=model, sha256=digest, at=0.0, effective_at=0.0, by=os.environ.get("USER", "bench"),
        why="benchmark", previous=SHIPPED["language"].id,
    )  # fmt: skip


async def measure(home: Path, worker: psutil.Process) -> None:
    settings = load({"home": str(home)}, environment={}).settings
    assert settings.models_folder is not None
    prepared = candidate(home, settings.models_folder)
    heard, stop = Heard(), asyncio.Event()
    async with open_bus(settings) as bus:
        listening = asyncio.create_task(listen(bus, heard))
        talking = [asyncio.create_task(talk(bus, side, stop)) for side in range(OPEN)]
        while len(heard.latencies) < OPEN:  # noqa: ASYNC110 -- the bus tells sentences, not events
            await asyncio.sleep(0.2)
        began = time.time()
        await asyncio.sleep(QUIET_S)
        before_mb, promoted = megabytes(worker), time.time()
        promotion_writer.append(
            settings.models_folder,
            [msgspec.structs.replace(prepared, at=promoted, effective_at=promoted + EFFECTIVE_S)],
        )
        most_mb = before_mb
        while time.time() < promoted + EFFECTIVE_S + CALL_S + 4:
            await asyncio.sleep(0.2)
            most_mb = max(most_mb, megabytes(worker))
        after_mb = megabytes(worker)
        stop.set()
        await asyncio.gather(*talking)
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
    quiet, during = heard.between(began, promoted), heard.between(promoted, promoted + EFFECTIVE_S + 2)
    new = [at for at, _, model in heard.latencies if model.startswith("house-1@")]
    print(f"sentences    {len(heard.latencies)}, of which {len(new)} by the promoted model")
    used_s = min(new) - promoted
    print(f"loaded       {heard.loaded_at - promoted:.1f} s after the promotion, first used after {used_s:.1f} s")
    for name, values in (("before", quiet), ("during", during)):
        print(f"{name}       median {values[len(values) // 2]:.0f} ms, worst {values[-1]:.0f} ms")
    print(f"             worst {during[-1] / quiet[-1]:.1f} times that before  (to hold: {WORST_MS} ms)")
    print(
        f"memory       {before_mb:.0f} MB, with both {most_mb:.0f}, after {after_mb:.0f}: "
        f"{most_mb - before_mb:+.0f} MB, {most_mb / before_mb:.2f} times  (to hold: {MORE_MB:+d} MB)"
    )


def main() -> None:
    print(f"promotion: {OPEN} calls at once, a sentence every {EVERY_S} s in each", flush=True)
    with tempfile.TemporaryDirectory() as folder, tenor("--home", folder, "-q", "serve", "language") as worker:
        asyncio.run(measure(Path(folder), worker))
