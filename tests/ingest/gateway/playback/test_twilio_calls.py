"""Calls over Twilio's two-way streams that the assistant answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest

from ingest.gateway import Gateway
from tenor.events import (
    AUDIO,
    TRANSCRIPTS,
    TURNS,
    CallEnded,
    CallGivenBack,
    CallTakenOver,
    KeyPressed,
    TurnFiller,
    TurnSpoken,
)
from tests.ingest.gateway.conftest import Ended
from tests.ingest.gateway.hearing import hear
from tests.ingest.gateway.playback.rig import Assistant, of, speaking, spoken, until
from tests.ingest.gateway.recorder import Recorder
from tests.ingest.gateway.simulators.synthesis import VOICE_HZ, ScriptedSynthesis, words_in
from tests.ingest.gateway.simulators.tones import AGENT_HZ, CALLER_HZ, pitch, tone
from tests.ingest.gateway.simulators.twilio import TwilioCaller, TwilioStream

CALL = "twilio-CA1"
SHORT = "It rains today."
LONG = "It rains in Boston today and it will rain in Boston tomorrow. On Friday there is sun all day long."


@pytest.fixture
async def voice() -> AsyncIterator[ScriptedSynthesis]:
    async with ScriptedSynthesis() as server:
        yield server


@pytest.fixture
async def gateway(bus: Recorder, voice: ScriptedSynthesis) -> AsyncIterator[Gateway]:
    async with speaking(bus, voice.address) as stage:
        yield stage


@pytest.fixture
def assistant(bus: Recorder) -> Assistant:
    return Assistant(bus, CALL)


async def begun(bus: Recorder) -> None:
    """The assistant can hear of the call."""
    await until(lambda: CALL in hear(bus.events))


async def speak(caller: TwilioCaller, seconds: float) -> None:
    await caller.speak({"inbound": tone(CALLER_HZ, seconds)}, paced=True)


async def test_the_caller_hears_what_the_assistant_says(
    gateway: Gateway, bus: Recorder, assistant: Assistant, voice: ScriptedSynthesis, ended: Ended
) -> None:
    async with TwilioCaller(gateway.port, "CA1") as caller:
        await begun(bus)
        await assistant.say(SHORT, "Bring an umbrella.", event="start")
        await caller.silence(1.2)
        await until(lambda: bool(of(bus, TurnSpoken)))
        await caller.stop()
        call = await ended(CALL)
    assert call.info.roles == ("caller", "assistant")
    assert call.info.attributes["assistant"] == "retail"
    assert voice.texts == [SHORT, "Bring an umbrella."]
    assert pitch(caller.heard) == pytest.approx(VOICE_HZ, abs=5)
    assert words_in(caller.heard) == pytest.approx(6, abs=0.3)
    assert [said.text for said in spoken(bus)] == [SHORT, "Bring an umbrella."]
    [report] = of(bus, TurnSpoken)
    assert (report.turn, report.text) == (0, f"{SHORT} Bring an umbrella.")


async def test_the_recording_has_both_sides_at_the_right_time(
    gateway: Gateway, bus: Recorder, assistant: Assistant, ended: Ended
) -> None:
    async with TwilioCaller(gateway.port, "CA1") as caller:
        await begun(bus)
        await speak(caller, 0.5)
        await assistant.say(SHORT)
        await caller.silence(0.8)
        await until(lambda: bool(of(bus, TurnSpoken)))
        await caller.stop()
        call = await ended(CALL)
    [said] = spoken(bus)
    assert words_in(call.pcm(1)) == pytest.approx(3, abs=0.2)
    assert said.start_ms >= 400, "it answered after it was asked"
    assert pitch(call.between(1, 0, said.start_ms / 1000 - 0.02)) == 0
    assert pitch(call.between(1, said.start_ms / 1000, said.end_ms / 1000)) == pytest.approx(VOICE_HZ, abs=20)
    assert [(word.text, word.end_ms - word.start_ms) for word in said.words] == [
        ("It", 100), ("rains", 100), ("today.", 100),
    ]  # fmt: skip
    assert pitch(call.between(0, 0, 0.5)) == pytest.approx(CALLER_HZ, abs=5)


@pytest.mark.slow
async def test_frames_are_sent_in_real_time_and_never_far_ahead(
    gateway: Gateway, bus: Recorder, assistant: Assistant
) -> None:
    async with TwilioCaller(gateway.port, "CA1") as caller:
        await begun(bus)
        await assistant.say(LONG)
        await until(lambda: bool(of(bus, TurnSpoken)))
    took = caller.frames_at[-1] - caller.frames_at[0]
    assert len(caller.frames_at) == 5 * len(LONG.split())
    assert took == pytest.approx(2.0 - 0.2, abs=0.2)
    assert caller.most_ahead_s <= 0.3, "200 ms, and what a busy machine adds"
    assert caller.marks, "the platform was asked to tell when it was played"


async def test_a_word_cuts_what_is_being_said(gateway: Gateway, bus: Recorder, assistant: Assistant) -> None:
    async with TwilioCaller(gateway.port, "CA1") as caller:
        await begun(bus)
        await assistant.say(LONG)
        await until(lambda: caller.heard_s >= 0.3)
        began = asyncio.get_running_loop().time()
        speech = asyncio.create_task(speak(caller, 0.6))
        await until(lambda: bool(caller.cleared_at))
        assert caller.cleared_at[0] - began < 0.45, "200 ms of sound, and then silence"
        frames = len(caller.frames_at)
        await assistant.recognised("no omaha", at_ms=1500)
        await until(lambda: bool(of(bus, TurnSpoken)))
        await speech
        await asyncio.sleep(0.3)
        assert len(caller.frames_at) == frames, "nothing was said after it"
        heard = words_in(caller.heard)
    [report] = of(bus, TurnSpoken)
    [said] = spoken(bus)
    assert LONG.startswith(report.text)
    assert report.text == said.text
    assert len(report.text.split()) == pytest.approx(heard, abs=1.3), "what was heard is what the transcript says"
    assert len(report.text.split()) < 10


@pytest.mark.slow
async def test_a_cough_does_not_end_the_sentence(gateway: Gateway, bus: Recorder, assistant: Assistant) -> None:
    async with TwilioCaller(gateway.port, "CA1") as caller:
        await begun(bus)
        await assistant.say(SHORT, LONG)
        await until(lambda: caller.heard_s >= 0.5)
        await speak(caller, 0.3)
        await until(lambda: bool(caller.cleared_at))
        await caller.silence(1.3)
        await until(lambda: bool(of(bus, TurnSpoken)))
    [report] = of(bus, TurnSpoken)
    assert report.text == f"{SHORT} {LONG}"
    texts = [said.text for said in spoken(bus)]
    assert texts[0] == SHORT, "it was not said again"
    assert LONG.startswith(texts[1]), "the part that was heard before the cough"
    assert " ".join(texts[2:]) == LONG, "and the interrupted sentence, from its beginning"


async def test_words_from_before_the_answer_do_not_cut_it(
    gateway: Gateway, bus: Recorder, assistant: Assistant
) -> None:
    async with TwilioCaller(gateway.port, "CA1") as caller:
        await begun(bus)
        await speak(caller, 0.5)
        await assistant.say(SHORT)
        await until(lambda: caller.heard_s >= 0.1)
        await assistant.recognised("will it rain", at_ms=450, final=True)
        await until(lambda: bool(of(bus, TurnSpoken)))
        assert not caller.cleared_at
    assert [report.text for report in of(bus, TurnSpoken)] == [SHORT]


@pytest.mark.parametrize("final", [False, True])
@pytest.mark.slow
async def test_a_backchannel_goes_on(gateway: Gateway, bus: Recorder, assistant: Assistant, final: bool) -> None:
    async with TwilioCaller(gateway.port, "CA1") as caller:
        await begun(bus)
        await assistant.say(LONG)
        await until(lambda: caller.heard_s >= 0.2)
        await assistant.recognised("Mhm, okay.", at_ms=1500, final=final)
        await until(lambda: bool(of(bus, TurnSpoken)))
        assert not caller.cleared_at
    assert [report.text for report in of(bus, TurnSpoken)] == [LONG]


async def test_what_must_be_said_is_said_to_its_end(gateway: Gateway, bus: Recorder, assistant: Assistant) -> None:
    async with TwilioCaller(gateway.port, "CA1") as caller:
        await begun(bus)
        await assistant.say(SHORT, interruptible=False)
        await until(lambda: caller.heard_s > 0)
        await assistant.recognised("stop", at_ms=1500)
        await speak(caller, 0.4)
        await until(lambda: bool(of(bus, TurnSpoken)))
        assert not caller.cleared_at
    assert [said.text for said in spoken(bus)] == [SHORT]


async def test_a_key_stops_the_voice_and_is_told(
    gateway: Gateway, bus: Recorder, assistant: Assistant, caplog: pytest.LogCaptureFixture
) -> None:
    async with TwilioCaller(gateway.port, "CA1") as caller:
        await begun(bus)
        await assistant.say(LONG)
        await until(lambda: caller.heard_s >= 0.2)
        await caller.press("2")
        await until(lambda: bool(caller.cleared_at) and bool(of(bus, KeyPressed)))
    assert [(key.call, key.digit) for key in of(bus, KeyPressed)] == [(CALL, "2")]


async def test_a_number_on_the_keypad_is_kept_nowhere(gateway: Gateway, bus: Recorder) -> None:
    async with TwilioCaller(gateway.port, "CA1") as caller:
        await begun(bus)
        await speak(caller, 0.3)
        for digit in "4111111111111111":
            await caller.press(digit)
            await caller.speak({"inbound": tone(770, 0.1) // 2 + tone(1209, 0.1) // 2})
            await caller.speak({"inbound": np.zeros(480, np.int16)})
        await caller.press("A")
        await caller.press("")
        await speak(caller, 0.3)
        await caller.stop()
        await until(lambda: bool(of(bus, CallEnded)))
    assert [key.digit for key in of(bus, KeyPressed)] == ["4", "1", "1"]
    recorded = hear(bus.events)[CALL]
    assert pitch(recorded.between(0, 0.0, 0.3)) == pytest.approx(CALLER_HZ, abs=5)
    assert pitch(recorded.between(0, 0.34, 2.8)) == 0, "nor heard in the recording"
    assert pitch(recorded.between(0, 2.87, 3.1)) == pytest.approx(CALLER_HZ, abs=5)


@pytest.mark.parametrize("dtmf", [None, 5, "5", [], {}, {"digit": None}, {"digit": {"a": 1}}, {"digit": "x" * 1000}])
async def test_a_key_that_cannot_be_read_ends_nothing(
    gateway: Gateway, bus: Recorder, ended: Ended, dtmf: object
) -> None:
    async with TwilioCaller(gateway.port, "CA1") as caller:
        await begun(bus)
        await caller.send({"event": "dtmf", "dtmf": dtmf})
        await caller.send({"event": "mark", "mark": dtmf})
        await caller.stop()
        call = await ended(CALL)
    assert call.ended is not None
    assert not call.ended.failed
    assert of(bus, KeyPressed) == []


async def test_the_next_turn_replaces_the_one_before(gateway: Gateway, bus: Recorder, assistant: Assistant) -> None:
    async with TwilioCaller(gateway.port, "CA1") as caller:
        await begun(bus)
        await assistant.say(LONG)
        await until(lambda: caller.heard_s >= 0.2)
        await assistant.say(SHORT)
        await until(lambda: len(of(bus, TurnSpoken)) == 2)
    first, second = of(bus, TurnSpoken)
    assert (first.turn, second.turn) == (0, 1)
    assert LONG.startswith(first.text)
    assert len(first.text) < len(LONG)
    assert second.text == SHORT


async def test_a_turn_that_comes_twice_is_said_once(gateway: Gateway, bus: Recorder, voice: ScriptedSynthesis) -> None:
    async with TwilioCaller(gateway.port, "CA1"):
        await begun(bus)
        await Assistant(bus, CALL).say(SHORT)
        await Assistant(bus, CALL).say(SHORT)
        await until(lambda: bool(of(bus, TurnSpoken)))
        await asyncio.sleep(0.1)
    assert voice.texts == [SHORT]


async def test_a_filler_is_heard_before_its_turn(gateway: Gateway, bus: Recorder, assistant: Assistant) -> None:
    async with TwilioCaller(gateway.port, "CA1"):
        await begun(bus)
        await bus.publish(TURNS, TurnFiller(call=CALL, turn=0, text="One moment.", at=0.0))
        await until(lambda: bool(spoken(bus)))
        await assistant.say(SHORT)
        await until(lambda: bool(of(bus, TurnSpoken)))
    assert [said.text for said in spoken(bus)] == ["One moment.", SHORT]
    assert [report.text for report in of(bus, TurnSpoken)] == [SHORT]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"ended": True}, "the assistant said goodbye"),
        ({"handover": {"queue": "retail", "reason": "asked", "summary": ""}}, "handed over to a person"),
    ],
)
async def test_the_last_word_is_heard_before_the_stream_is_closed(
    gateway: Gateway, bus: Recorder, assistant: Assistant, ended: Ended, fields: dict[str, Any], reason: str
) -> None:
    async with TwilioCaller(gateway.port, "CA1") as caller:
        await begun(bus)
        await assistant.say(SHORT, **fields)
        call = await ended(CALL)
        await asyncio.wait_for(caller.closed.wait(), 2)
        assert words_in(caller.heard) == pytest.approx(3, abs=0.2)
        assert caller.socket.close_code == 1000
    assert call.ended is not None
    assert (call.ended.reason, call.ended.failed) == (reason, False)


HANDOVER = {"queue": "retail", "reason": "asked", "summary": "About the weather (open)"}


async def test_the_stream_with_the_person_goes_on_with_the_same_call(
    bus: Recorder, assistant: Assistant, voice: ScriptedSynthesis, ended: Ended
) -> None:
    async with speaking(bus, voice.address, handover_s=20.0) as gateway:
        async with TwilioCaller(gateway.port, "CA1") as caller:
            await begun(bus)
            await assistant.say(SHORT, handover=HANDOVER)
            await asyncio.wait_for(caller.closed.wait(), 5)
            assert words_in(caller.heard) == pytest.approx(3, abs=0.2), "the announcement was played out"
        assert of(bus, CallEnded) == []
        async with TwilioStream(gateway.port, "CA1", parameters={"agent": "kim", "queue": "retail"}) as stream:
            await until(lambda: bool(of(bus, CallTakenOver)))
            await assistant.say("Nobody hears this.")
            await stream.press("0")
            await stream.speak({"inbound": tone(CALLER_HZ, 0.5), "outbound": tone(AGENT_HZ, 0.5)})
            await stream.stop()
            call = await ended(CALL)
    assert [(one.call, one.agent) for one in of(bus, CallTakenOver)] == [(CALL, "kim")]
    assert call.ended is not None
    assert (call.ended.reason, call.ended.failed) == ("hangup", False)
    assert pitch(call.pcm(2)[-3200:]) == pytest.approx(AGENT_HZ, abs=5), "the person has a channel of their own"
    assert pitch(call.pcm(0)[-3200:]) == pytest.approx(CALLER_HZ, abs=5)
    assert voice.texts == [SHORT], "the assistant is silent"
    assert of(bus, KeyPressed) == []


@pytest.mark.slow
async def test_a_person_gives_the_caller_back_and_the_assistant_goes_on_with_the_same_call(
    bus: Recorder, assistant: Assistant, voice: ScriptedSynthesis, ended: Ended
) -> None:
    kim = {"agent": "kim"}
    async with speaking(bus, voice.address, handover_s=20.0) as gateway:
        async with TwilioCaller(gateway.port, "CA1") as caller:
            await begun(bus)
            await assistant.say(SHORT, handover=HANDOVER)
            await asyncio.wait_for(caller.closed.wait(), 5)
        async with TwilioStream(gateway.port, "CA1", parameters=kim) as stream:  # open for as long as the call
            await until(lambda: bool(of(bus, CallTakenOver)))
            await stream.speak({"inbound": tone(CALLER_HZ, 0.5), "outbound": tone(AGENT_HZ, 0.5)})
            async with TwilioCaller(gateway.port, "CA1") as caller:
                await until(lambda: bool(of(bus, CallGivenBack)))
                await asyncio.wait_for(stream.socket.wait_closed(), 5)
                await speak(caller, 0.5)
                await assistant.say("Hello again.")
                await until(lambda: len(of(bus, TurnSpoken)) == 2)
                assert words_in(caller.heard) == pytest.approx(2, abs=0.2)
                await assistant.say(SHORT, handover=HANDOVER)
                await asyncio.wait_for(caller.closed.wait(), 5)
        async with TwilioStream(gateway.port, "CA1", parameters=kim) as stream:
            await until(lambda: len(of(bus, CallTakenOver)) == 2)
            await stream.stop()
            call = await ended(CALL)
    assert [(one.agent, one.unanswered) for one in of(bus, CallGivenBack)] == [("kim", False)]
    assert call.ended is not None
    assert (call.ended.reason, call.ended.failed) == ("hangup", False)
    assert set(hear(bus.events)) == {CALL}, "it is one call"
    again = spoken(bus)[1]
    assert again.text == "Hello again."
    assert pitch(call.between(1, again.start_ms / 1000, again.end_ms / 1000)) == pytest.approx(VOICE_HZ, abs=20)
    assert pitch(call.pcm(0)[-3200:]) == pytest.approx(CALLER_HZ, abs=5)


async def test_a_queue_in_which_nobody_came_gives_the_caller_back(
    bus: Recorder, assistant: Assistant, voice: ScriptedSynthesis
) -> None:
    async with speaking(bus, voice.address, handover_s=20.0) as gateway:
        async with TwilioCaller(gateway.port, "CA1") as caller:
            await begun(bus)
            await assistant.say(SHORT, handover=HANDOVER)
            await asyncio.wait_for(caller.closed.wait(), 5)
        async with TwilioCaller(gateway.port, "CA1"):
            await until(lambda: bool(of(bus, CallGivenBack)))
            await assistant.say("Nobody is free.")
            await until(lambda: len(of(bus, TurnSpoken)) == 2)
    assert [(one.call, one.agent, one.unanswered) for one in of(bus, CallGivenBack)] == [(CALL, "", True)]
    assert of(bus, CallTakenOver) == []


async def test_a_call_waits_after_its_person_for_the_way_back_to_the_assistant(
    bus: Recorder, assistant: Assistant, voice: ScriptedSynthesis, ended: Ended
) -> None:
    async with speaking(bus, voice.address, handover_s=20.0, return_s=2.0) as gateway:
        async with TwilioCaller(gateway.port, "CA1") as caller:
            await begun(bus)
            await assistant.say(SHORT, handover=HANDOVER)
            await asyncio.wait_for(caller.closed.wait(), 5)
        async with TwilioStream(gateway.port, "CA1", parameters={"agent": "kim"}) as stream:
            await until(lambda: bool(of(bus, CallTakenOver)))
            await stream.stop()
        async with TwilioCaller(gateway.port, "CA1") as caller:
            await until(lambda: bool(of(bus, CallGivenBack)))
            await assistant.say(SHORT)
            await until(lambda: len(of(bus, TurnSpoken)) == 2)
            await caller.stop()
            call = await ended(CALL)
    assert call.ended is not None
    assert (call.ended.reason, call.ended.failed) == ("hangup", False)
    assert set(hear(bus.events)) == {CALL}


async def test_a_call_that_ends_while_it_is_spoken_to_says_what_was_heard(
    gateway: Gateway, bus: Recorder, assistant: Assistant, ended: Ended
) -> None:
    async with TwilioCaller(gateway.port, "CA1") as caller:
        await begun(bus)
        await assistant.say(LONG)
        await until(lambda: caller.heard_s >= 0.5)
        await caller.stop()
        await ended(CALL)
    [said] = spoken(bus)
    [report] = of(bus, TurnSpoken)
    assert said.text
    assert LONG.startswith(said.text)
    assert said.text != LONG
    assert report.text == said.text
    topics = [record.topic for record in bus.records]
    last_transcript = max(at for at, topic in enumerate(topics) if topic == TRANSCRIPTS.name)
    last_audio = max(at for at, topic in enumerate(topics) if topic == AUDIO.name)
    assert last_transcript < last_audio, "the end comes last, so nobody finishes the call before"


@pytest.mark.slow
async def test_a_socket_that_comes_back_hears_the_sentence_again(
    gateway: Gateway, bus: Recorder, assistant: Assistant
) -> None:
    async with TwilioCaller(gateway.port, "CA1") as caller:
        await begun(bus)
        await assistant.say(LONG)
        await until(lambda: caller.heard_s >= 0.3)
        await caller.die()
    async with TwilioCaller(gateway.port, "CA1"):
        await until(lambda: bool(of(bus, TurnSpoken)))
    assert [report.text for report in of(bus, TurnSpoken)] == [LONG]


async def test_a_sentence_that_cannot_be_synthesised_is_left_out(
    gateway: Gateway, bus: Recorder, assistant: Assistant, voice: ScriptedSynthesis
) -> None:
    voice.refuse = "Boston"
    async with TwilioCaller(gateway.port, "CA1"):
        await begun(bus)
        await assistant.say(LONG)
        await until(lambda: bool(of(bus, TurnSpoken)))
    assert [said.text for said in spoken(bus)] == ["On Friday there is sun all day long."]
    assert [report.text for report in of(bus, TurnSpoken)] == ["On Friday there is sun all day long."]


async def test_without_a_speech_server_the_call_goes_on(bus: Recorder, assistant: Assistant, ended: Ended) -> None:
    async with speaking(bus, "127.0.0.1:1") as gateway, TwilioCaller(gateway.port, "CA1") as caller:
        await begun(bus)
        await assistant.say(SHORT)
        await speak(caller, 0.3)
        await caller.stop()
        call = await ended(CALL)
    assert call.seconds(0) == pytest.approx(0.3, abs=0.01)
    assert spoken(bus) == []


async def test_a_stream_that_goes_one_way_is_an_ordinary_call(gateway: Gateway, bus: Recorder, ended: Ended) -> None:
    async with TwilioStream(gateway.port, "CA1", parameters={"assistant": "retail"}) as stream:
        await stream.speak({"inbound": np.zeros(800, np.int16), "outbound": np.zeros(800, np.int16)})
        await stream.press("1")
        await stream.stop()
        call = await ended(CALL)
    assert call.info.roles == ("caller", "agent")
    assert "assistant" not in call.info.attributes
    assert of(bus, KeyPressed) == []


@pytest.mark.parametrize(
    ("setting", "parameters", "name"),
    [
        ({"orders": "shop"}, {"queue": "orders"}, "shop"),
        ({"orders": "shop", "twilio": "retail"}, {"queue": "other"}, "retail"),
        ({"*": "retail"}, {"assistant": "mine"}, "mine"),
        ({"orders": "shop"}, {"queue": "other"}, None),
        ({}, {}, None),
    ],
)
async def test_which_calls_are_the_assistants(
    bus: Recorder, ended: Ended, setting: dict[str, str], parameters: dict[str, str], name: str | None
) -> None:
    async with (
        speaking(bus, "127.0.0.1:1", assistant=setting) as gateway,
        TwilioCaller(gateway.port, "CA1", parameters=parameters) as caller,
    ):
        await caller.stop()
        call = await ended(CALL)
    assert call.info.attributes.get("assistant") == name
    assert call.info.roles[1] == ("assistant" if name else "agent")
