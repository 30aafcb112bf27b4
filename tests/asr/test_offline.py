"""`speech.mode = "offline"`: each side of a call is recognised as a whole when it is over, with Riva's Recognize."""

from __future__ import annotations

from pathlib import Path

import pytest

from asr.riva.recording import RecordingStream
from tests.asr.rig import Rig
from tests.asr.scripted_riva import ScriptedRiva, silence, speak

CALLER = speak("hello i would like to cancel my order") + silence(900) + speak("thanks bye") + silence(900)
AGENT = silence(2000) + speak("yes") + silence(800)


async def test_each_side_is_one_request_and_gives_what_streams_give(tmp_path: Path) -> None:
    async with Rig(tmp_path / "streams") as rig:
        await rig.call("c1", CALLER, AGENT)
        await rig.over("c1")
        streamed = [(one.text, one.start_ms, one.end_ms) for one in await rig.transcripts("c1")]
    async with Rig(tmp_path / "whole", mode="offline") as rig:
        await rig.call("c1", CALLER, AGENT)
        assert (await rig.over("c1")).state == "ended"
        whole = await rig.transcripts("c1")
        assert [(one.text, one.start_ms, one.end_ms) for one in whole] == streamed
        assert whole[0].model == "scripted-en-US-asr-offline"
        assert await rig.texts("c1", 1) == ["yes"]
        assert len(rig.riva.recordings) == 2
        assert rig.riva.opened == 0


async def test_a_server_that_dies_is_asked_again(tmp_path: Path) -> None:
    riva = ScriptedRiva(faults=[("die", 0)])
    async with Rig(tmp_path, riva, mode="offline") as rig:
        await rig.call("c1", CALLER)
        await rig.over("c1")
        assert await rig.texts("c1") == ["hello i would like to cancel my order", "thanks bye"]
        assert len(riva.recordings) == 2


async def test_what_is_too_long_for_one_request_is_sent_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RecordingStream, "longest_ms", 6000)
    async with Rig(tmp_path, mode="offline") as rig:
        pcm = b"".join(speak("hello bye") + silence(2000) for _ in range(4))
        await rig.call("c1", pcm)
        await rig.over("c1")
        assert len(rig.riva.recordings) > 1
        assert " ".join(await rig.texts("c1")) == " ".join(["hello bye"] * 4)
