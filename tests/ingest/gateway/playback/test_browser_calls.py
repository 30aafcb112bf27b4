"""Conversations on the web that are spoken: a microphone, a loudspeaker, and a ticket that admits them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from ingest.gateway import Gateway
from ingest.gateway.browser import session as browser_session
from tenor.assistant.voice_ticket import PURPOSE, VoiceTickets
from tenor.events import TRANSCRIPTS, AudioChunk, Call, CallEnded, CallStarted, Transcript, TurnSpoken
from tenor.settings import Settings
from tenor.web.signing import secret_of, signer
from tests.ingest.gateway.playback.rig import Assistant, of, spoken, until
from tests.ingest.gateway.recorder import Recorder
from tests.ingest.gateway.simulators.browser import RATE, BrowserPage
from tests.ingest.gateway.simulators.synthesis import VOICE_HZ, ScriptedSynthesis, words_in
from tests.ingest.gateway.simulators.tones import CALLER_HZ, pitch, tone

CALL = "web-1"
SHORT = "It rains today."
LONG = "It rains in Boston today and it will rain in Boston tomorrow. On Friday there is sun all day long."
AGO_S = 30.0
"""So long was written before somebody spoke."""


def info(**changes: Any) -> Call:
    given = {"source": "web", "roles": ("caller", "assistant"), "started_at": time.time() - AGO_S, "medium": "chat"}
    return Call(**{**given, "attributes": {"assistant": "retail"}, **changes})


@pytest.fixture
async def voice() -> AsyncIterator[ScriptedSynthesis]:
    async with ScriptedSynthesis() as server:
        yield server


@pytest.fixture
def settings(tmp_path: Path, voice: ScriptedSynthesis) -> Settings:
    gateway = {"port": 0, "audiosocket_port": 0, "resume_s": 0.3}
    return Settings.model_validate({"home": tmp_path, "gateway": gateway, "speech": {"address": voice.address}})


@pytest.fixture
async def gateway(bus: Recorder, settings: Settings) -> AsyncIterator[Gateway]:
    stage = Gateway(bus, settings)
    running = asyncio.create_task(stage.run())
    await asyncio.wait_for(stage.ready.wait(), 5)
    yield stage
    running.cancel()
    await running


@pytest.fixture
def tickets(settings: Settings) -> VoiceTickets:
    return VoiceTickets(secret_of(settings))


@pytest.fixture
def ticket(tickets: VoiceTickets) -> str:
    return tickets.issue(CALL, info(), "127.0.0.1", "https://shop.example")[0]


@pytest.fixture
def assistant(bus: Recorder) -> Assistant:
    return Assistant(bus, CALL)


async def refused(page: BrowserPage) -> tuple[int, str]:
    """How the gateway closes the socket."""
    async with asyncio.timeout(5):
        await page.closed.wait()
    with pytest.raises(ConnectionClosed) as closed:
        await page.socket.recv()
    assert closed.value.rcvd is not None
    return closed.value.rcvd.code, closed.value.rcvd.reason


def started(bus: Recorder) -> list[str]:
    return [event.info.medium for event in of(bus, CallStarted)]


async def test_both_sides_are_recorded_on_the_clock_of_the_conversation(
    gateway: Gateway, bus: Recorder, assistant: Assistant, ticket: str
) -> None:
    async with BrowserPage(gateway.port, CALL, ticket, origin="https://shop.example") as page:
        await until(lambda: bool(of(bus, CallStarted)))
        await page.speak(tone(CALLER_HZ, 0.5, RATE))
        await assistant.say(SHORT)
        await page.silence(0.8)
        await until(lambda: bool(of(bus, TurnSpoken)))
    await until(lambda: bool(of(bus, CallEnded)))
    [said] = spoken(bus)
    assert said.text == SHORT
    assert said.start_ms > 1000 * AGO_S
    assert words_in(bytes(page.heard), RATE) == pytest.approx(3, abs=0.3)
    first: dict[int, AudioChunk] = {}
    for chunk in of(bus, AudioChunk):
        first.setdefault(chunk.channel, chunk)
        assert chunk.start_ms == chunk.seq * 100
        assert chunk.rate == RATE
    assert set(first) == {0, 1}
    assert all(1000 * AGO_S - 200 < chunk.start_ms < 1000 * AGO_S + 1500 for chunk in first.values())
    sides = [b"".join(one.pcm for one in of(bus, AudioChunk) if one.channel == channel) for channel in (0, 1)]
    assert pitch(sides[0], RATE) == pytest.approx(CALLER_HZ, abs=20)
    assert pitch(sides[1], RATE) == pytest.approx(VOICE_HZ, abs=20)
    [end] = of(bus, CallEnded)
    assert (end.audio_only, end.failed) == (True, False), "the conversation goes on in writing"


async def test_speech_over_playback_silences_it_and_the_transcript_says_what_was_heard(
    gateway: Gateway, bus: Recorder, assistant: Assistant, ticket: str
) -> None:
    async with BrowserPage(gateway.port, CALL, ticket) as page:
        await until(lambda: bool(of(bus, CallStarted)))
        await page.silence(0.2)
        await assistant.say(LONG)
        await until(lambda: len(page.heard) >= 0.3 * 2 * RATE)
        began = asyncio.get_running_loop().time()
        speaking = asyncio.create_task(page.speak(tone(CALLER_HZ, 0.6, RATE)))
        await until(lambda: bool(page.cleared_at))
        assert page.cleared_at[0] - began < 0.5
        await assistant.recognised("no omaha", at_ms=round(1000 * AGO_S) + 5000)
        await until(lambda: bool(of(bus, TurnSpoken)))
        await speaking
    [report] = of(bus, TurnSpoken)
    assert LONG.startswith(report.text)
    assert 0 < len(report.text.split()) < 8
    assert [one["text"] for one in page.told("transcript")] == ["no omaha"]


async def test_muted_replies_are_told_in_writing_and_unmuted_ones_are_spoken(
    gateway: Gateway, bus: Recorder, assistant: Assistant, ticket: str, voice: ScriptedSynthesis
) -> None:
    async with BrowserPage(gateway.port, CALL, ticket, speech=False) as page:
        await until(lambda: bool(of(bus, CallStarted)))
        await assistant.say(SHORT, "Bring an umbrella.")
        await until(lambda: bool(of(bus, TurnSpoken)))
        assert [said.text for said in spoken(bus)] == [SHORT, "Bring an umbrella."]
        assert spoken(bus)[0].start_ms < spoken(bus)[1].start_ms
        assert not voice.texts
        assert not page.heard
        await page.send({"type": "speech", "on": True})
        await until(lambda: len(page.told("state")) == 2)
        await assistant.say("There is sun on Friday.")
        await until(lambda: len(of(bus, TurnSpoken)) == 2)
    assert voice.texts == ["There is sun on Friday."]
    assert words_in(bytes(page.heard), RATE) == pytest.approx(5, abs=0.5)


async def test_a_reply_to_a_written_line_is_read_aloud_and_not_told_twice(
    gateway: Gateway, bus: Recorder, assistant: Assistant, ticket: str
) -> None:
    async with BrowserPage(gateway.port, CALL, ticket, microphone=False) as page:
        await until(lambda: bool(of(bus, CallStarted)))
        await assistant.say(SHORT, written=True)
        await until(lambda: len(page.heard) >= 0.3 * 2 * RATE)
        await page.send({"type": "alive"})
    await until(lambda: bool(of(bus, CallEnded)))
    assert started(bus) == ["chat"]
    assert not [*spoken(bus), *of(bus, TurnSpoken)], "the assistant's stage has told it"
    recorded = b"".join(chunk.pcm for chunk in of(bus, AudioChunk) if chunk.channel == 1)
    assert words_in(recorded, RATE) == pytest.approx(3, abs=0.3)


async def test_a_typed_line_stops_what_is_being_said(
    gateway: Gateway, bus: Recorder, assistant: Assistant, ticket: str
) -> None:
    async with BrowserPage(gateway.port, CALL, ticket, microphone=False) as page:
        await until(lambda: bool(of(bus, CallStarted)))
        await assistant.say(LONG)
        await until(lambda: len(page.heard) >= 0.2 * 2 * RATE)
        at = round(1000 * AGO_S) + 2000
        line = Transcript(
            call=CALL, channel=0, role="caller", utterance=f"{CALL}/0/{at}", start_ms=at, end_ms=at + 2, text="ok",
            final=True, written=True,
        )  # fmt: skip
        await bus.publish(TRANSCRIPTS, line)
        await until(lambda: bool(page.cleared_at))
        assert not page.told("transcript"), "the page has typed it itself"


async def test_the_microphone_comes_and_goes_within_one_call(
    gateway: Gateway, bus: Recorder, ticket: str, tickets: VoiceTickets
) -> None:
    async with BrowserPage(gateway.port, CALL, ticket, microphone=False) as page:
        await until(lambda: bool(of(bus, CallStarted)))
        await page.send({"type": "microphone", "on": True})
        await page.speak(tone(CALLER_HZ, 0.4, RATE))
        await page.send({"type": "microphone", "on": False})
        await until(lambda: len(started(bus)) == 3)
        await page.speak(tone(CALLER_HZ, 0.2, RATE))  # was on its way
    assert started(bus) == ["chat", "voice", "chat"]
    await until(lambda: bool(of(bus, CallEnded)))
    heard = [chunk for chunk in of(bus, AudioChunk) if chunk.channel == 0]
    assert pitch(b"".join(chunk.pcm for chunk in heard[:4]), RATE) == pytest.approx(CALLER_HZ, abs=20)
    silent = b"".join(chunk.pcm for chunk in heard[5:])
    assert pitch(silent, RATE) == 0
    assert 0.8 < len(silent) / 2 / RATE < 1.2, "in which the last words come to an end"
    again, _ = tickets.issue(CALL, info(), "127.0.0.1", "")
    async with BrowserPage(gateway.port, CALL, again):
        await until(lambda: len(started(bus)) == 4)
    assert {event.call for event in of(bus, CallStarted)} == {CALL}, "it is the same conversation"


async def test_new_conversation_ends_the_call_for_good_and_so_does_goodbye(
    gateway: Gateway, bus: Recorder, ticket: str, assistant: Assistant
) -> None:
    async with BrowserPage(gateway.port, CALL, ticket) as page:
        await until(lambda: bool(of(bus, CallStarted)))
        await page.send({"type": "end"})
        assert await refused(page) == (1000, "closed by the shopper")
    async with BrowserPage(gateway.port, CALL, ticket) as page:
        await until(lambda: len(of(bus, CallStarted)) == 2)
        await assistant.say("Goodbye.", ended=True)
        assert (await refused(page))[0] == 1000
    assert [event.audio_only for event in of(bus, CallEnded)] == [False, False]
    assert spoken(bus)[-1].text == "Goodbye."


async def test_a_broken_connection_leaves_the_conversation_in_writing(
    gateway: Gateway, bus: Recorder, ticket: str
) -> None:
    async with BrowserPage(gateway.port, CALL, ticket) as page:
        await until(lambda: bool(of(bus, CallStarted)))
        page.socket.transport.abort()
        await until(lambda: bool(of(bus, CallEnded)))
    [end] = of(bus, CallEnded)
    assert end.audio_only
    assert not end.failed


async def test_only_a_ticket_of_ours_for_this_conversation_and_site_admits(
    gateway: Gateway, bus: Recorder, ticket: str, tickets: VoiceTickets, settings: Settings
) -> None:
    forged, _ = VoiceTickets("another secret").issue(CALL, info(), "127.0.0.1", "")
    other, _ = tickets.issue("web-2", info(), "127.0.0.1", "")
    fields = signer(secret_of(settings), PURPOSE).loads(ticket)
    expired = str(signer(secret_of(settings), PURPOSE).dumps({**fields, "until": int(time.time()) - 1}))
    token = str(signer(secret_of(settings), "assistant session").dumps(fields))
    for bad in (forged, other, expired, token, ticket[:-2], "", "x" * 5000):
        async with BrowserPage(gateway.port, CALL, bad) as page:
            assert (await refused(page))[0] == 3000, bad[:20]
    async with BrowserPage(gateway.port, CALL, ticket, origin="https://evil.example") as page:
        assert await refused(page) == (3000, "the ticket was given to another web site")
    assert not bus.events


async def test_what_is_no_message_ends_the_socket_and_nothing_else(
    gateway: Gateway, bus: Recorder, ticket: str
) -> None:
    bad: list[Any] = ["{", "[]", '{"type": 1}', b"\0\0\0", b"\0" * 40_000, '{"type": "start"}', "x" * 20_000]
    for message in bad:
        async with BrowserPage(gateway.port, CALL, ticket) as page:
            await until(lambda page=page: bool(page.told("state")))  # type: ignore[misc]
            await page.socket.send(message)
            assert (await refused(page))[0] == 1008, message[:20]
    assert all(event.audio_only and not event.failed for event in of(bus, CallEnded))
    page = BrowserPage(gateway.port, CALL, ticket)
    page._start = {"type": "microphone", "on": True}
    async with page:
        assert await refused(page) == (1008, "start comes first")
    async with BrowserPage(gateway.port, CALL, ticket) as page:  # those after it are served
        await until(lambda: bool(page.told("state")))
        await page.send({"type": "what is this"})
        await page.silence(0.1)
        assert not page.closed.is_set()


async def test_who_floods_is_closed(
    gateway: Gateway, bus: Recorder, ticket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with BrowserPage(gateway.port, CALL, ticket) as page:
        with suppress(ConnectionClosed):
            await page.speak(tone(CALLER_HZ, 120, RATE), paced=False)
            await page.silence(1)
        assert await refused(page) == (1008, "audio comes faster than time passes")
    heard = sum(len(chunk.pcm) for chunk in of(bus, AudioChunk) if chunk.channel == 0)
    assert heard / 2 / RATE < 7
    monkeypatch.setattr(browser_session, "MOST_MESSAGES", 50)
    async with BrowserPage(gateway.port, CALL, ticket) as page:
        with suppress(ConnectionClosed):
            for _ in range(200):
                await page.send({"type": "alive"})
                await asyncio.sleep(0)
            await page.silence(1)
        assert await refused(page) == (1008, "too much was sent")


async def test_a_visitor_has_so_many_sockets_and_the_next_visitor_still_comes_in(
    gateway: Gateway, tickets: VoiceTickets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser_session, "MOST_SOCKETS", 1)
    mine = [tickets.issue(f"web-{number}", info(), "10.0.0.1", "")[0] for number in (1, 2)]
    theirs, _ = tickets.issue("web-3", info(), "10.0.0.2", "")
    async with BrowserPage(gateway.port, "web-1", mine[0]) as first:
        await until(lambda: bool(first.told("state")))
        async with BrowserPage(gateway.port, "web-2", mine[1]) as second:
            assert (await refused(second))[0] == 1013
        async with BrowserPage(gateway.port, "web-3", theirs) as third:
            await until(lambda: bool(third.told("state")))
    async with BrowserPage(gateway.port, "web-2", mine[1]) as second:
        await until(lambda: bool(second.told("state")))


async def test_a_second_tab_takes_the_conversation_over(gateway: Gateway, ticket: str) -> None:
    async with BrowserPage(gateway.port, CALL, ticket) as first:
        await until(lambda: bool(first.told("state")))
        async with BrowserPage(gateway.port, CALL, ticket) as second:
            assert (await refused(first))[0] == 1000
            await until(lambda: bool(second.told("state")))
