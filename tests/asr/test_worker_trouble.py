"""A recogniser that fails in every way it can: the transcripts are those of an undisturbed call, each once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tenor.bus import lag
from tenor.events import AUDIO
from tests.asr.rig import Rig
from tests.asr.scripted_riva import Fault, ScriptedRiva, silence, speak

CALL = (
    silence(500)
    + speak("hello i would like to cancel my order")
    + silence(2700)
    + speak("yes please")
    + silence(900)
    + speak("thanks bye")
    + silence(1200)
)
TEXTS = ["hello i would like to cancel my order", "yes please", "thanks bye"]
STARTS = [500, 5120, 6500]


@pytest.mark.parametrize("clean_points", [True, False], ids=["ours", "nvidia"])
@pytest.mark.parametrize("after_ms", [100, 5400])
@pytest.mark.parametrize("fault", ["die", "internal", "idle", "start flag", "trtis"])
async def test_a_stream_that_breaks_is_heard_again(
    tmp_path: Path, fault: Fault, after_ms: int, clean_points: bool
) -> None:
    riva = ScriptedRiva(clean_points=clean_points, faults=[(fault, after_ms), (fault, after_ms)])
    async with Rig(tmp_path, riva) as rig:
        await rig.call("c1", CALL)
        assert (await rig.over("c1")).state == "ended"
        finals = await rig.transcripts("c1")
        assert [final.text for final in finals] == TEXTS
        assert [final.start_ms for final in finals] == STARTS
        assert riva.opened >= 2


async def test_a_server_that_hangs_is_left_after_the_timeout(tmp_path: Path) -> None:
    async with Rig(tmp_path, ScriptedRiva(faults=[("hang", 1500)]), timeout_s=0.5) as rig:
        await rig.call("c1", CALL)
        await rig.over("c1")
        assert await rig.texts("c1") == TEXTS


@pytest.mark.slow
async def test_a_server_that_goes_away_and_comes_back(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        await rig.begin("c1")
        await rig.play("c1", CALL[:24_000])
        await rig.until(lambda: rig.riva.audio_s > 1)
        await rig.riva.stop()
        await rig.play("c1", CALL[24_000:], first=15)
        await rig.end("c1")
        await asyncio.sleep(1.0)
        assert (await rig.states("c1"))[-1].state == "live"
        await rig.riva.start()
        await rig.over("c1")
        assert await rig.texts("c1") == TEXTS


async def test_when_there_is_no_room_audio_waits_on_the_bus(tmp_path: Path) -> None:
    """Eight channels, room for two: each waits its turn, nothing is dropped, nobody else is held up."""
    async with Rig(tmp_path, ScriptedRiva(limit=2)) as rig:
        for number in range(4):
            await rig.call(f"c{number}", CALL, CALL)
        for number in range(4):
            await rig.over(f"c{number}", 30)
            assert await rig.texts(f"c{number}", 0) == TEXTS
            assert await rig.texts(f"c{number}", 1) == TEXTS
        assert rig.riva.opened > 8


async def test_a_language_it_does_not_have_fails_the_call_and_says_what_it_has(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        await rig.call("c1", CALL, language="ru-RU")
        await rig.call("c2", CALL)
        state = await rig.over("c1")
        assert state.state == "failed"
        assert state.reason == ("The recogniser has not a model for ru-RU. It has: scripted-en-US-asr-online (en-US)")
        assert (await rig.over("c2")).state == "ended"

        async def all_committed() -> bool:
            return not await lag(rig.bus, [AUDIO], "asr")

        await rig.until(all_committed)


@pytest.mark.slow
async def test_wrong_credentials_keep_the_audio_and_tell_people(tmp_path: Path) -> None:
    async with Rig(tmp_path, ScriptedRiva(key="k"), metadata={"authorization": "Bearer wrong"}) as rig:
        await rig.call("c1", CALL)

        async def told() -> bool:
            return "UNAUTHENTICATED" in (await rig.states("c1"))[-1].reason if await rig.states("c1") else False

        await rig.until(told)
        assert (await rig.states("c1"))[-1].state == "live"
        rig.riva.key = "wrong"
        await rig.over("c1")
        assert await rig.texts("c1") == TEXTS


async def test_when_audio_stops_the_final_is_asked_for(tmp_path: Path) -> None:
    async with Rig(tmp_path, force_final_s=0.3) as rig:
        await rig.begin("c1")
        await rig.play("c1", speak("hello thanks"))

        async def said() -> bool:
            return await rig.texts("c1") == ["hello thanks"]

        await rig.until(said, 3)
        assert rig.riva.forced == 1
        assert rig.riva.opened == 1


async def test_a_server_that_ignores_the_asking_is_made_to_end_its_stream(tmp_path: Path) -> None:
    async with Rig(tmp_path, ScriptedRiva(force_eou=False, finals=False), force_final_s=0.3) as rig:
        await rig.begin("c1")
        await rig.play("c1", speak("hello thanks") + silence(120))

        async def said() -> bool:
            return await rig.texts("c1") == ["hello thanks"]

        await rig.until(said, 5)
        await rig.play("c1", speak("bye") + silence(160), first=6)
        await rig.end("c1")
        await rig.over("c1")
        assert await rig.texts("c1") == ["hello thanks", "bye"]


@pytest.mark.parametrize("force_eou", [True, False])
async def test_an_utterance_without_end_is_cut(tmp_path: Path, force_eou: bool) -> None:
    """A hosted model that streams interims and never a final."""
    riva = ScriptedRiva(clean_points=False, finals=False, force_eou=force_eou)
    async with Rig(tmp_path, riva, max_utterance_s=5.0) as rig:
        await rig.begin("c1")
        words = "hello thanks yes no " * 20
        await rig.play("c1", speak(words))

        async def cut() -> bool:
            return len(await rig.texts("c1")) >= 1

        await rig.until(cut)
        await rig.end("c1")
        await rig.over("c1")
        finals = await rig.transcripts("c1")
        assert " ".join(final.text for final in finals).split() == words.split()
        assert all(final.end_ms - final.start_ms < 5000 + 7500 for final in finals)


async def test_an_idle_stream_is_reopened_with_the_next_audio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("asr.channel.IDLE_S", 0.2)
    async with Rig(tmp_path, ScriptedRiva(idle_s=0.5)) as rig:
        await rig.begin("c1")
        await rig.play("c1", speak("hello") + silence(760))
        await rig.until(lambda: rig.riva.opened == 1 and rig.riva.open == 0)
        await asyncio.sleep(0.5)
        assert rig.riva.opened == 1
        await rig.play("c1", speak("thanks") + silence(760), first=10)
        await rig.end("c1")
        await rig.over("c1")
        finals = await rig.transcripts("c1")
        assert [(final.text, final.start_ms) for final in finals] == [("hello", 0), ("thanks", 1000)]


async def test_audio_the_recogniser_always_breaks_on_fails_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("asr.riva.errors.Backoff.BROKEN_LIMIT", 3)
    async with Rig(tmp_path, ScriptedRiva(faults=[("internal", 1000)] * 5)) as rig:
        await rig.call("c1", CALL)
        state = await rig.over("c1")
        assert state.state == "failed"
        assert "keeps failing" in state.reason
