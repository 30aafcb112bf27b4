"""A call asks the recogniser for the model with which it began, also after a reconnection and after a kill."""

from __future__ import annotations

import time
from pathlib import Path

from tenor.events import MODELS
from tests.asr.rig import Rig
from tests.asr.scripted_riva import ScriptedRiva, silence, speak
from tests.model_folders import promoted, promotion

EARS = "ears-1-en-US-asr-online"
SCRIPTED = "scripted-en-US-asr-online"
SHA256 = "e" * 64


def asked(riva: ScriptedRiva) -> list[str]:
    return [config.config.model for config in riva.configs]


def promote(rig: Rig, model: str, effective_at: float) -> None:
    assert rig.settings.models_folder is not None
    promoted(rig.settings.models_folder, promotion(model, SHA256, effective_at, kind="speech"))


async def test_without_promotions_the_server_chooses(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        await rig.call("c", speak("zero one") + silence(1000))
        await rig.over("c")
        assert asked(rig.riva) == [""]


async def test_a_call_asks_for_the_model_that_was_in_force_when_it_began(tmp_path: Path) -> None:
    async with Rig(tmp_path, ScriptedRiva(models=("scripted", "ears-1"))) as rig:
        now = time.time()
        promote(rig, "ears-1", now - 60)
        await rig.call("new", speak("zero one") + silence(1000), started_at=now)
        await rig.over("new")
        [final] = await rig.transcripts("new")
        assert (asked(rig.riva), final.model) == ([EARS], EARS)
        await rig.call("old", speak("zero one") + silence(1000), started_at=now - 90)
        await rig.over("old")
        [final] = await rig.transcripts("old")
        assert final.model == SCRIPTED


async def test_a_reconnection_and_a_successor_ask_for_the_same_model(tmp_path: Path) -> None:
    """Although another was promoted meanwhile, which the next call gets."""
    riva = ScriptedRiva(models=("scripted", "ears-1", "ears-2"))
    async with Rig(tmp_path, riva) as rig:
        now = time.time()
        promote(rig, "ears-1", now - 60)
        first = speak("zero one") + silence(2000)
        await rig.begin("c", started_at=now)
        await rig.play("c", first)

        async def written() -> bool:
            return bool(await rig.texts("c"))

        await rig.until(written)
        await rig.stop()
        promote(rig, "ears-2", now + 0.001)
        riva.faults.append(("die", 100))
        rig.start()
        more = speak("two three") + silence(1000)
        await rig.play("c", more, first=-(-len(first) // 1600))
        await rig.end("c")
        await rig.over("c")
        assert len(asked(riva)) >= 3
        assert {final.model for final in await rig.transcripts("c")} == {EARS}
        await rig.call("next", speak("zero one") + silence(1000), started_at=now + 1)
        await rig.over("next")
        assert set(asked(riva)[:-1]) == {EARS}
        assert asked(riva)[-1] == EARS.replace("ears-1", "ears-2")


async def test_a_model_that_the_server_lacks_leaves_the_one_before_it(tmp_path: Path) -> None:
    async with Rig(tmp_path, ScriptedRiva(models=("scripted", "ears-1"))) as rig:
        now = time.time()
        promote(rig, "ears-1", now - 60)
        promote(rig, "ears-9", now - 30)
        await rig.call("c", speak("zero one") + silence(1000), started_at=now)
        await rig.over("c")
        assert asked(rig.riva) == [EARS]
        [told] = await rig.events(MODELS)
        assert (told.model, told.stage) == ("ears-9", "asr")
        assert "no model ears-9" in told.reason


async def test_a_model_that_a_setting_names_is_the_one(tmp_path: Path) -> None:
    async with Rig(tmp_path, ScriptedRiva(models=("scripted", "ears-1")), model="scripted") as rig:
        promote(rig, "ears-1", time.time() - 60)
        await rig.call("c", speak("zero one") + silence(1000))
        await rig.over("c")
        assert asked(rig.riva) == ["scripted"]
