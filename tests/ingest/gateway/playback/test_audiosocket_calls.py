"""Calls over Asterisk's AudioSocket that the assistant answers."""

from __future__ import annotations

import asyncio
import uuid

import httpx
import pytest

from tenor.events import CallTakenOver, KeyPressed, TurnSpoken
from tests.ingest.gateway.conftest import Ended
from tests.ingest.gateway.hearing import hear
from tests.ingest.gateway.playback.rig import Assistant, of, speaking, spoken, until
from tests.ingest.gateway.recorder import Recorder
from tests.ingest.gateway.simulators.audiosocket import AudioSocket, AudioSocketCaller
from tests.ingest.gateway.simulators.synthesis import VOICE_HZ, ScriptedSynthesis, words_in
from tests.ingest.gateway.simulators.tones import AGENT_HZ, pitch, tone

NUMBER = uuid.UUID(int=7)
CALL = f"audiosocket-{NUMBER}"
SHORT = "It rains today."
LONG = "It rains in Boston today and it will rain in Boston tomorrow, all day long."


@pytest.mark.parametrize(("kind", "rate"), [(0x10, 8000), (0x12, 16_000)])
async def test_the_caller_hears_the_assistant_at_the_rate_of_the_call(
    bus: Recorder, ended: Ended, kind: int, rate: int
) -> None:
    async with (
        ScriptedSynthesis() as voice,
        speaking(bus, voice.address, assistant={"audiosocket": "retail"}) as gateway,
        AudioSocketCaller(gateway.audiosocket_port, NUMBER, kind=kind, rate=rate) as caller,
    ):
        await until(lambda: CALL in hear(bus.events))
        await Assistant(bus, CALL).say(SHORT)
        await caller.silence(0.8)
        await until(lambda: bool(of(bus, TurnSpoken)))
        await caller.hang_up()
        call = await ended(CALL)
    assert call.info.roles == ("caller", "assistant")
    assert voice.requests[0].sample_rate_hz == rate
    assert {kind for kind, _ in caller.received} == {kind}
    assert pitch(caller.heard, rate) == pytest.approx(VOICE_HZ, abs=5)
    assert words_in(caller.heard, rate) == pytest.approx(3, abs=0.2)
    assert words_in(call.pcm(1), rate) == pytest.approx(3, abs=0.2)
    assert [said.text for said in spoken(bus)] == [SHORT]


async def test_little_is_sent_ahead_because_nothing_can_be_taken_back(bus: Recorder) -> None:
    async with (
        ScriptedSynthesis() as voice,
        speaking(bus, voice.address) as gateway,
        AudioSocketCaller(gateway.audiosocket_port, NUMBER) as caller,
    ):
        await until(lambda: CALL in hear(bus.events))
        await caller.silence(0.1)
        assistant = Assistant(bus, CALL)
        await assistant.say(LONG)
        await until(lambda: len(caller.received) > 20)
        await assistant.recognised("stop", at_ms=5000)
        await until(lambda: bool(of(bus, TurnSpoken)))
        frames = len(caller.received)
        await asyncio.sleep(0.3)
        assert len(caller.received) - frames <= 1, "it stopped at once"
        [report] = of(bus, TurnSpoken)
        sent_s = 0.02 * len(caller.received)
    assert sent_s - 0.1 * len(report.text.split()) < 0.1 + 0.1 + 0.05, "the lead, a begun word, and a busy machine"
    assert caller.most_ahead_s <= 0.2


async def test_keys_are_told(bus: Recorder, ended: Ended) -> None:
    async with (
        speaking(bus, "127.0.0.1:1") as gateway,
        AudioSocketCaller(gateway.audiosocket_port, NUMBER) as caller,
    ):
        await caller.silence(0.1)
        for payload in (b"0", b"", b"\xff\xfe", b"12", b"#"):
            await caller.send(0x03, payload)
        await caller.hang_up()
        await ended(CALL)
    assert [key.digit for key in of(bus, KeyPressed)] == ["0"], "no more than three keys in a row are looked at"


async def test_a_registered_call_between_two_people_is_not_spoken_to(bus: Recorder, ended: Ended) -> None:
    body = {"uuid": str(NUMBER), "call": "42", "role": "agent"}
    async with speaking(bus, "127.0.0.1:1") as gateway:
        await register(gateway.port, body)
        async with AudioSocketCaller(gateway.audiosocket_port, NUMBER) as caller:
            await caller.silence(0.1)
            await caller.hang_up()
            call = await ended("audiosocket-42")
    assert call.info.roles == ("caller", "agent")
    assert "assistant" not in call.info.attributes


async def test_a_registration_may_ask_for_the_assistant(bus: Recorder, ended: Ended) -> None:
    body = {"uuid": str(NUMBER), "call": "42", "assistant": "shop", "queue": "orders"}
    async with speaking(bus, "127.0.0.1:1", assistant={}) as gateway:
        await register(gateway.port, body)
        async with AudioSocketCaller(gateway.audiosocket_port, NUMBER) as caller:
            await caller.silence(0.1)
            await caller.hang_up()
            call = await ended("audiosocket-42")
    assert call.info.roles == ("caller", "assistant")
    assert (call.info.attributes["assistant"], call.info.queue) == ("shop", "orders")


async def test_after_the_hand_over_a_socket_registered_for_the_agent_goes_on_with_the_same_call(
    bus: Recorder, ended: Ended
) -> None:
    async with ScriptedSynthesis() as voice, speaking(bus, voice.address, assistant={}, handover_s=20.0) as gateway:
        await register(gateway.port, {"uuid": str(NUMBER), "call": "42", "assistant": "shop"})
        async with AudioSocketCaller(gateway.audiosocket_port, NUMBER) as caller:
            await caller.silence(0.1)
            await until(lambda: "audiosocket-42" in hear(bus.events))
            told = {"queue": "retail", "reason": "asked", "summary": ""}
            await Assistant(bus, "audiosocket-42").say(SHORT, handover=told)
            await until(lambda: bool(of(bus, TurnSpoken)))
            await asyncio.wait_for(caller.closed.wait(), 5)
        agent = uuid.UUID(int=8)
        await register(gateway.port, {"uuid": str(agent), "call": "42", "role": "agent", "agent": "kim"})
        async with AudioSocket(gateway.audiosocket_port, agent) as leg:
            await leg.speak(tone(AGENT_HZ, 0.5))
            await leg.hang_up()
            call = await ended("audiosocket-42")
    assert [one.agent for one in of(bus, CallTakenOver)] == ["kim"]
    assert pitch(call.pcm(2)[-3200:]) == pytest.approx(AGENT_HZ, abs=5)


async def register(port: int, body: dict[str, str]) -> None:
    async with httpx.AsyncClient() as client:
        answer = await client.post(f"http://127.0.0.1:{port}/audiosocket/calls", json=body)
        assert answer.status_code == 201
