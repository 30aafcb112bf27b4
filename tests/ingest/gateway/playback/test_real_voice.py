"""The assistant's voice from our own speech server, if a voice is installed here."""

from __future__ import annotations

import pytest

from asr.local.tts.voices import find_voice
from tenor.events import TurnSpoken
from tests.asr.local.conftest import running
from tests.asr.local.scripted import ScriptedRecognizer
from tests.ingest.gateway.conftest import Ended
from tests.ingest.gateway.hearing import hear
from tests.ingest.gateway.playback.rig import Assistant, of, speaking, spoken, until
from tests.ingest.gateway.recorder import Recorder
from tests.ingest.gateway.simulators.synthesis import words_in
from tests.ingest.gateway.simulators.twilio import TwilioCaller

CALL = "twilio-CA1"
TEXT = "It is 70 degrees. Goodbye."


@pytest.mark.slow
async def test_a_real_voice_is_heard_and_written_down(bus: Recorder, ended: Ended) -> None:
    voice = find_voice()
    if voice is None:
        pytest.skip("no voice is installed")
    with running(ScriptedRecognizer(), voice) as server:
        async with speaking(bus, server.address) as gateway, TwilioCaller(gateway.port, "CA1") as caller:
            await until(lambda: CALL in hear(bus.events))
            await Assistant(bus, CALL).say(TEXT, event="start")
            await until(lambda: bool(of(bus, TurnSpoken)), 20)
            await caller.stop()
            call = await ended(CALL)
    assert [said.text for said in spoken(bus)] == ["It is 70 degrees.", "Goodbye."]
    assert [report.text for report in of(bus, TurnSpoken)] == [TEXT]
    first, second = spoken(bus)
    assert 700 < first.end_ms - first.start_ms < 4000
    assert second.start_ms - first.end_ms < 500, "one sentence after the other"
    ends = [word.end_ms for said in spoken(bus) for word in said.words]
    assert ends == sorted(ends)
    sounding_s = words_in(call.pcm(1)) / 10
    assert sounding_s > 0.5
    assert words_in(caller.heard) / 10 == pytest.approx(sounding_s, abs=0.1), "what was heard was recorded"
