"""Calls over jambonz's two-way `listen` that the assistant answers."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from tenor.events import CallGivenBack, CallTakenOver, KeyPressed, TurnSpoken
from tests.ingest.gateway.conftest import Ended
from tests.ingest.gateway.hearing import hear
from tests.ingest.gateway.playback.rig import Assistant, of, speaking, spoken, until
from tests.ingest.gateway.recorder import Recorder
from tests.ingest.gateway.simulators.jambonz import Listen, ListenCaller
from tests.ingest.gateway.simulators.synthesis import VOICE_HZ, ScriptedSynthesis, words_in
from tests.ingest.gateway.simulators.tones import AGENT_HZ, CALLER_HZ, pitch, tone

CALL = "jambonz-c1"
SHORT = "It rains today."
LONG = "It rains in Boston today and it will rain in Boston tomorrow, all day long."


async def test_the_caller_hears_the_assistant_and_then_its_goodbye(bus: Recorder, ended: Ended) -> None:
    async with (
        ScriptedSynthesis() as voice,
        speaking(bus, voice.address) as gateway,
        ListenCaller(gateway.port, "c1", rate=16_000) as caller,
    ):
        await until(lambda: CALL in hear(bus.events))
        assistant = Assistant(bus, CALL)
        await assistant.say(SHORT, event="start")
        await caller.silence(0.8)
        await until(lambda: bool(of(bus, TurnSpoken)))
        await assistant.say("Goodbye.", ended=True)
        call = await ended(CALL)
        await asyncio.wait_for(caller.closed.wait(), 2)
    assert call.info.roles == ("caller", "assistant")
    assert pitch(bytes(caller.received), 16_000) == pytest.approx(VOICE_HZ, abs=5)
    assert words_in(bytes(caller.received), 16_000) == pytest.approx(4, abs=0.3)
    assert words_in(call.pcm(1), 16_000) == pytest.approx(4, abs=0.3)
    assert [said.text for said in spoken(bus)] == [SHORT, "Goodbye."]
    assert caller.most_ahead_s <= 0.3


async def test_a_word_stops_it_and_keys_are_told(bus: Recorder) -> None:
    async with (
        ScriptedSynthesis() as voice,
        speaking(bus, voice.address, assistant={}) as gateway,
        ListenCaller(gateway.port, "c1", metadata={"assistant": "retail"}) as caller,
    ):
        await until(lambda: CALL in hear(bus.events))
        assistant = Assistant(bus, CALL)
        await assistant.say(LONG)
        await until(lambda: len(caller.received) > 8000)
        await assistant.recognised("stop", at_ms=5000)
        await until(lambda: bool(caller.killed) and bool(of(bus, TurnSpoken)))
        size = len(caller.received)
        await asyncio.sleep(0.3)
        assert len(caller.received) == size
        await caller.press("7")
        for text in ("", "[]", '{"event":"dtmf","dtmf":["1"]}', '{"event":"mark"}', "[" * 10_000):
            await caller.socket.send(text)
        await until(lambda: bool(of(bus, KeyPressed)))
    assert LONG.startswith(of(bus, TurnSpoken)[0].text)
    assert [key.digit for key in of(bus, KeyPressed)] == ["7"]


async def test_two_people_are_not_spoken_to(bus: Recorder, ended: Ended) -> None:
    async with speaking(bus, "127.0.0.1:1") as gateway:
        async with Listen(gateway.port, "c1"):
            pass
        call = await ended(CALL)
    assert call.info.roles == ("caller", "agent")


async def test_after_the_hand_over_the_dial_verb_s_listen_goes_on_with_the_same_call(
    bus: Recorder, ended: Ended
) -> None:
    async with ScriptedSynthesis() as voice, speaking(bus, voice.address, handover_s=20.0, return_s=5.0) as gateway:
        async with ListenCaller(gateway.port, "c1") as caller:
            await until(lambda: CALL in hear(bus.events))
            assistant = Assistant(bus, CALL)
            await assistant.say(SHORT, handover={"queue": "retail", "reason": "asked", "summary": ""})
            await asyncio.wait_for(caller.closed.wait(), 5)
        async with Listen(gateway.port, "c1", metadata={"agent": "kim"}) as stereo:
            await stereo.speak(np.stack([tone(CALLER_HZ, 0.5), tone(AGENT_HZ, 0.5)], 1))
            await until(lambda: bool(of(bus, CallTakenOver)))
        async with ListenCaller(gateway.port, "c1"):  # the verb after `dial`: its listen is over
            await until(lambda: bool(of(bus, CallGivenBack)))
            await assistant.say("Hello again.")
            await until(lambda: len(of(bus, TurnSpoken)) == 2)
        call = await ended(CALL)
    assert [one.agent for one in of(bus, CallTakenOver)] == ["kim"]
    assert [(one.agent, one.unanswered) for one in of(bus, CallGivenBack)] == [("kim", False)]
    assert of(bus, TurnSpoken)[1].text == "Hello again."
    assert pitch(call.pcm(2)[-3200:]) == pytest.approx(AGENT_HZ, abs=5)
    assert pitch(call.pcm(0)[-3200:]) == pytest.approx(CALLER_HZ, abs=5)
