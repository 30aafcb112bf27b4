"""Everything at once: many calls, a recogniser that is full and breaks, workers that come and go."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import get_args

import pytest

from tests.asr.rig import Rig
from tests.asr.scripted_riva import VOCABULARY, Fault, ScriptedRiva, silence, speak

pytestmark = pytest.mark.slow


def _side(chance: random.Random) -> tuple[bytes, list[str]]:
    """One channel's audio, and what is said on it."""
    pcm, texts = silence(chance.randrange(0, 2000, 10)), []
    for _ in range(chance.randrange(1, 5)):
        texts.append(" ".join(chance.choice(VOCABULARY) for _ in range(chance.randrange(1, 12))))
        pcm += speak(texts[-1]) + silence(chance.randrange(560, 6000, 10))
    return pcm, texts


@pytest.mark.parametrize("clean_points", [True, False], ids=["ours", "nvidia"])
@pytest.mark.parametrize(("seed", "limit"), [(1, 0), (2, 4)])
async def test_all_that_was_said_is_written_down_once(
    tmp_path: Path, seed: int, limit: int, clean_points: bool
) -> None:
    chance = random.Random(seed)
    calls = {f"c{number}": [_side(chance) for _ in range(chance.randrange(1, 4))] for number in range(10)}
    faults = [(chance.choice(get_args(Fault)), chance.randrange(0, 15_000)) for _ in range(25)]
    riva = ScriptedRiva(clean_points=clean_points, faults=faults, limit=limit)

    async with Rig(tmp_path, riva, timeout_s=0.6) as rig:

        async def feed() -> None:
            for call, sides in calls.items():
                await rig.call(call, *(pcm for pcm, _ in sides))
                await asyncio.sleep(chance.random() * 0.3)

        feeding = asyncio.create_task(feed())
        for _ in range(4):
            await asyncio.sleep(chance.random())
            if chance.random() < 0.6:
                await rig.stop()
            rig.start()
        await feeding
        for call, sides in calls.items():
            await rig.over(call, 60)
            assert [state.state for state in await rig.states(call)] == ["live", "ended"]
            for channel, (_, texts) in enumerate(sides):
                assert await rig.texts(call, channel) == texts
