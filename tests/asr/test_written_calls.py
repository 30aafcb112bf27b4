"""Conversations that are written and spoken by turns: audio comes and goes, and the call stays the same."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

from tenor.events import AUDIO, CALLS, TRANSCRIPTS, CallEnded, CallState, Transcript
from tests.asr.rig import Rig, info
from tests.asr.scripted_riva import silence, speak

CALL = "web-1"
ABOUT: dict[str, Any] = {"source": "web", "roles": ("caller", "assistant"), "started_at": 1.0}
LATE_MS = 600_000
"""It was written for ten minutes before somebody spoke."""


async def over_in_speech(rig: Rig) -> None:
    await rig.bus.publish(AUDIO, CallEnded(call=CALL, reason="switched off", at=time.time(), audio_only=True))


async def media(rig: Rig, count: int) -> list[tuple[str, str]]:
    """State and medium of each announcement, once there are so many."""
    found: list[tuple[str, str]] = []

    async def there() -> bool:
        states = await rig.states(CALL)
        found[:] = [(state.state, state.info.medium if state.info else "") for state in states]
        return len(found) >= count

    await rig.until(there)
    return found


async def test_a_call_whose_audio_is_over_goes_on_in_writing_and_is_spoken_again(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        await rig.begin(CALL, **ABOUT)
        await rig.play(CALL, speak("hello") + silence(800), first=6000)
        await over_in_speech(rig)
        assert await media(rig, 2) == [("live", "voice"), ("live", "chat")]
        await rig.begin(CALL, **ABOUT)
        await rig.play(CALL, speak("thanks bye") + silence(800), first=6600)
        await rig.end(CALL, "closed by the shopper")
        assert (await rig.over(CALL)).reason == "closed by the shopper"
        assert [state for state, _ in await media(rig, 4)] == ["live", "live", "live", "ended"]
        assert await rig.texts(CALL) == ["hello", "thanks bye"]
        assert [final.start_ms for final in await rig.transcripts(CALL)] == [LATE_MS, LATE_MS + 60_000]


async def test_a_microphone_that_is_switched_changes_the_medium(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        await rig.begin(CALL, **ABOUT, medium="chat", rate=8000)
        await media(rig, 1)
        await rig.begin(CALL, **ABOUT, medium="voice", rate=8000)
        await media(rig, 2)
        await rig.begin(CALL, **ABOUT, medium="voice", rate=8000)  # nothing new
        await rig.begin(CALL, **ABOUT, medium="chat", rate=8000)
        assert await media(rig, 3) == [("live", "chat"), ("live", "voice"), ("live", "chat")]


async def test_a_successor_leaves_what_is_only_written_alone_and_goes_on_with_what_is_spoken(tmp_path: Path) -> None:
    async with Rig(tmp_path, watchdog_s=1.0) as rig:
        written = CallState(call="web-2", state="live", at=time.time(), info=info(**ABOUT, medium="chat"))
        await rig.bus.publish(CALLS, written)
        await rig.begin(CALL, **ABOUT, medium="chat", rate=8000)
        await rig.play(CALL, speak("hello") + silence(800), first=6000)

        async def heard() -> bool:
            return await rig.texts(CALL) == ["hello"]

        await rig.until(heard)
        line = Transcript(
            call=CALL, channel=0, role="caller", utterance=f"{CALL}/0/{LATE_MS + 9000}", start_ms=LATE_MS + 9000,
            end_ms=LATE_MS + 9001, text="typed", final=True, heard_ms=LATE_MS + 9001, written=True,
        )  # fmt: skip
        await rig.bus.publish(TRANSCRIPTS, line)
        await rig.stop()
        rig.start()
        await rig.play(CALL, silence(200) + speak("okay sure") + silence(800), first=6020)

        async def both() -> bool:
            return await rig.texts(CALL) == ["hello", "typed", "okay sure"]

        await rig.until(both)
        await rig.over(CALL)  # its audio stops
        await asyncio.sleep(0.5)
        assert [state.state for state in await rig.states("web-2")] == ["live"]
