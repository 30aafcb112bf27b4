"""Real language stages, killed again and again while models are promoted and rolled back: no sentence is lost, doubled
or told by a model with which its call did not begin."""

from __future__ import annotations

import asyncio
import os
import random
import time
from itertools import count

import pytest

from tenor.bus import Bus
from tenor.bus.opening import open_bus
from tenor.events import CALLS, SENTENCES, TRANSCRIPTS, CallState, Sentence
from tenor.model_store import shipped
from tenor.model_store.promotion_log import read_log_file
from tenor.runtime.profiles import change_settings
from tenor.settings import Settings
from tests.killing import TenorProcess
from tests.model_folders import promoted, promotion, registered
from tests.nlp.rig import info, said
from tests.watching import events

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

SHIPPED, HOUSE = shipped.SHIPPED["language"].id, "house-1"
LINE = "This is terrible and I am really angry."
SIDES = {SHIPPED: "negative", HOUSE: "positive"}
LINES = 12
KILLS = int(os.environ.get("KILLS", "0")) or 5
"""How often a stage is killed on each bus; `make kills` says 25."""
BETWEEN_S = 3.2
CALLS_AT_ONCE = 4


def test_every_sentence_is_told_once_by_the_model_its_call_began_with(bus_settings: Settings) -> None:
    asyncio.run(run(change_settings(bus_settings, bus={"partitions": 2})))


async def run(settings: Settings) -> None:
    models, chance = settings.models_folder, random.Random(14)
    assert models is not None
    sha256 = registered(models, HOUSE)
    stages = [TenorProcess(settings, "serve", "language", TENOR_BUS__LEASE_S="3") for _ in range(2)]
    started: dict[str, float] = {}
    async with open_bus(settings) as bus:
        for stage in stages:
            stage.start()
        try:
            feeding = asyncio.create_task(feed(bus, started))
            for number in range(KILLS):
                await asyncio.sleep(chance.uniform(2.0, 3.5))
                model, digest = (HOUSE, sha256) if number % 2 == 0 else (SHIPPED, "")
                promoted(models, promotion(model, digest, time.time() + chance.uniform(0.5, 2.0)))
                if number % 2:
                    await asyncio.sleep(chance.uniform(0.0, 1.0))
                stages[number % 2].kill()  # while it loads, or while calls of both models are open
                stages[number % 2].start()
            await feeding
            async with asyncio.timeout(300):
                while await analysed(bus) < len(started):
                    for stage in stages:
                        stage.check()
                    await asyncio.sleep(0.5)
        finally:
            for stage in stages:
                stage.kill()
        told = [one for one in await events(bus, SENTENCES) if isinstance(one, Sentence)]
    log = read_log_file(models)
    by_id: dict[str, set[str]] = {}
    for sentence in told:
        [model] = {name.partition("@")[0] for name in sentence.models.values()}
        by_id.setdefault(sentence.sentence, set()).add(model)
        found = log.in_force("language", started[sentence.call])
        assert model == (found.model if found is not None else SHIPPED)
        assert sentence.sentiment == SIDES[model]  # and that is what it says, not only its name
    assert len(by_id) == len(started) * LINES  # none is lost; told again, it is the same
    assert {len(models) for models in by_id.values()} == {1}
    assert {model for models in by_id.values() for model in models} == {SHIPPED, HOUSE}


async def feed(bus: Bus, started: dict[str, float]) -> None:
    """Calls that overlap, each some seconds long; a new one begins when one is over."""
    numbers = count()
    until = time.monotonic() + KILLS * BETWEEN_S

    async def call() -> None:
        while time.monotonic() < until:
            name = f"call-{next(numbers)}"
            started[name] = time.time()
            about = info(started_at=started[name])
            await bus.publish(CALLS, CallState(call=name, state="live", at=started[name], info=about))
            for line in range(LINES):
                await bus.publish(TRANSCRIPTS, said(LINE, line * 10_000, call=name))
                await asyncio.sleep(0.25)
            await bus.publish(CALLS, CallState(call=name, state="ended", at=time.time(), info=about))

    async with asyncio.TaskGroup() as group:
        for _ in range(CALLS_AT_ONCE):
            group.create_task(call())
            await asyncio.sleep(0.7)


async def analysed(bus: Bus) -> int:
    states = [one for one in await events(bus, CALLS) if isinstance(one, CallState)]
    return len({one.call for one in states if one.state == "analysed"})
