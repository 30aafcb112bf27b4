"""A call in, its transcripts out."""

from __future__ import annotations

from pathlib import Path

from tests.asr.rig import Rig
from tests.asr.scripted_riva import silence, speak

CALLER = (
    silence(700) + speak("hello i would like to cancel my order") + silence(900) + speak("thanks bye") + silence(1200)
)
AGENT = speak("hello") + silence(3000) + speak("okay sure") + silence(100)


async def test_both_sides_of_a_call_are_written_down(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        await rig.call("c1", CALLER, AGENT)
        ended = await rig.over("c1")
        assert (ended.state, ended.reason) == ("ended", "hangup")
        assert [state.state for state in await rig.states("c1")] == ["live", "ended"]
        assert await rig.texts("c1", 0) == ["hello i would like to cancel my order", "thanks bye"]
        assert await rig.texts("c1", 1) == ["hello", "okay sure"]
        first = (await rig.transcripts("c1", 0))[0]
        assert first.role == "caller"
        assert first.utterance == "c1/0/700"
        assert (first.start_ms, first.end_ms) == (700, 700 + 8 * 240 - 40)
        assert first.heard_ms == first.end_ms + 500
        assert [word.text for word in first.words][:2] == ["hello", "i"]
        times = first.times
        assert times["ended"] <= times["recognised"] <= times["published"]
