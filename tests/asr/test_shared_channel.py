"""Two people on one channel: their voices are channels of what they say, and get their roles from it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from asr.speaker_roles import SpeakerRoles, agent_evidence
from tests.asr.rig import Rig
from tests.asr.scripted_riva import ScriptedRiva, silence, speak
from tests.asr.test_worker_restart import run_mortal

ROLES = ("caller", "agent")
BOTH: dict[str, Any] = {"roles": ROLES, "speakers": ROLES}
MIXED = (
    silence(700)
    + speak("okay sure")
    + silence(900)
    + speak("hello i would like to cancel my order okay great")
    + silence(900)
    + speak("thanks bye")
    + silence(5200)
)
SAID = [
    (0, 700, "okay sure"),
    (1, 2080, "hello i would like to cancel my order"),
    (0, 4000, "okay great"),
    (1, 5380, "thanks bye"),
]


async def said(rig: Rig, call: str) -> list[tuple[int, int, str]]:
    finals = [*await rig.transcripts(call, 0), *await rig.transcripts(call, 1)]
    return sorted(((one.channel, one.start_ms, one.text) for one in finals), key=lambda one: one[1])


async def roles(rig: Rig, call: str) -> dict[int, str]:
    states = await rig.states(call)
    assert states[-1].state == "ended"
    assert states[-1].info is not None
    return dict(enumerate(states[-1].info.roles))


async def test_an_utterance_of_two_is_cut_and_the_roles_follow_from_what_is_said(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        await rig.call("c1", MIXED, **BOTH)
        await rig.over("c1")
        assert await said(rig, "c1") == SAID
        assert await roles(rig, "c1") == {0: "agent", 1: "caller"}
        assert {one.role for one in await rig.transcripts("c1", 1)} == {"caller"}
        [config] = rig.riva.configs
        assert config.config.diarization_config.max_speaker_count == 2


async def test_a_server_that_cannot_tell_speakers_apart_is_not_asked(tmp_path: Path) -> None:
    async with Rig(tmp_path, ScriptedRiva(diarizes=False)) as rig:
        await rig.call("c1", MIXED, **BOTH)
        await rig.over("c1")
        assert {channel for channel, _, _ in await said(rig, "c1")} == {0}
        assert not rig.riva.configs[0].config.diarization_config.enable_speaker_diarization


@pytest.mark.parametrize("clean_points", [True, False])
async def test_a_broken_stream_changes_nothing(tmp_path: Path, clean_points: bool) -> None:
    riva = ScriptedRiva(clean_points=clean_points, faults=[("die", 3500), ("internal", 5000)])
    async with Rig(tmp_path, riva) as rig:
        await rig.call("c1", MIXED, **BOTH)
        await rig.over("c1")
        assert await said(rig, "c1") == SAID
        assert await roles(rig, "c1") == {0: "agent", 1: "caller"}


@pytest.mark.slow
@pytest.mark.parametrize("patient", [False, True], ids=["live", "patient"])
@pytest.mark.parametrize("steps", [1, 2, 3, 4, 5, 6, 8, 11])
async def test_killed_at_any_step(tmp_path: Path, steps: int, patient: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenor.bus.partitioned.COMMIT_S", 0.0)
    async with Rig(tmp_path, ScriptedRiva(), interim=False, patient=patient) as rig:
        await rig.stop()
        await rig.call("c1", MIXED, **BOTH)
        if await run_mortal(rig, steps, late=False, calls=("c1",)):
            await run_mortal(rig, steps + 2, late=True, calls=("c1",))
        rig.start()
        await rig.over("c1")
        assert await said(rig, "c1") == SAID
        assert await roles(rig, "c1") == {0: "agent", 1: "caller"}


async def test_a_worker_that_takes_over_knows_the_voices(tmp_path: Path) -> None:
    half = 2 * 8000 * 5
    async with Rig(tmp_path) as rig:
        await rig.begin("c1", **BOTH)
        await rig.play("c1", MIXED[:half])

        async def heard() -> bool:
            return len(await said(rig, "c1")) == 3

        await rig.until(heard)
        await asyncio.sleep(0.1)
        await rig.stop()
        rig.start()
        await rig.play("c1", MIXED[half:], first=50)
        await rig.end("c1")
        await rig.over("c1")
        assert await said(rig, "c1") == SAID
        assert int(rig.riva.configs[-1].config.custom_configuration["known_ms"]) > 0


@pytest.mark.parametrize(
    ("text", "agent"),
    [
        ("Thank you for calling Harper Valley Bank, how can I help you?", True),
        ("Can I have your account number, please?", True),
        ("Is there anything else I can do for you today?", True),
        ("Hi, I'm calling about my last bill.", False),
        ("No, that's all, thank you for your help.", False),
    ],
)
def test_phrases_that_one_of_the_sides_says(text: str, agent: bool) -> None:
    assert (agent_evidence(text) > 0) == agent


def test_roles_are_told_at_once_and_mended_only_by_more_evidence() -> None:
    found = SpeakerRoles(ROLES)
    found.hear(0, "u0", "Hello?")
    assert found.roles == ROLES
    found.hear(1, "u1", "Hi, I'm calling about my bill.")
    assert found.roles == ("agent", "caller")
    found.hear(0, "u2", "I'd like to see it, too.")
    assert found.roles == ("agent", "caller")
    for number in range(3):
        found.hear(1, f"v{number}", "Can I have your account number, please?")
    assert found.roles == ROLES
    found.hear(1, "v2", "Can I have your account number, please?")
    assert found.roles == ROLES  # heard before: it says nothing new
