"""Calls of Twilio and of those who speak like it."""

from __future__ import annotations

import asyncio
import json

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from ingest.gateway.ids import call_id
from tenor.g711 import decode_ulaw, encode_ulaw
from tests.ingest.gateway.conftest import Ended, Serve
from tests.ingest.gateway.hearing import hear
from tests.ingest.gateway.recorder import Recorder
from tests.ingest.gateway.simulators.tones import AGENT_HZ, CALLER_HZ, pitch, tone
from tests.ingest.gateway.simulators.twilio import TwilioStream, signature

TOKEN = "a-token-of-an-account"
CALLER = tone(CALLER_HZ, 1)
AGENT = tone(AGENT_HZ, 1)


async def test_both_tracks_arrive_on_their_channels(serve: Serve, ended: Ended) -> None:
    parameters = {"agent": "kim", "queue": "billing", "customer": "+1555", "redact": "text", "record": "no", "x": "y"}
    async with serve() as gateway, TwilioStream(gateway.port, "CA1", parameters=parameters) as stream:
        await stream.speak({"inbound": CALLER, "outbound": AGENT})
        await stream.stop()
        call = await ended("twilio-CA1")
    assert call.info.source == "twilio"
    assert call.info.roles == ("caller", "agent")
    assert call.info.rate == 8000
    assert (call.info.agent, call.info.queue, call.info.customer) == ("kim", "billing", "+1555")
    assert (call.info.redact, call.info.record, call.info.attributes) == ("text", False, {"x": "y"})
    assert call.pcm(0) == decode_ulaw(encode_ulaw(CALLER)).tobytes()
    assert call.pcm(1) == decode_ulaw(encode_ulaw(AGENT)).tobytes()
    assert call.ended is not None
    assert (call.ended.reason, call.ended.failed) == ("hangup", False)


async def test_the_callers_track_can_be_the_other(serve: Serve, ended: Ended) -> None:
    async with serve(twilio_caller_track="outbound") as gateway, TwilioStream(gateway.port, "CA1") as stream:
        await stream.speak({"inbound": AGENT, "outbound": CALLER})
        await stream.stop()
        call = await ended("twilio-CA1")
    assert pitch(call.pcm(0)) == pytest.approx(CALLER_HZ, abs=2)
    assert pitch(call.pcm(1)) == pytest.approx(AGENT_HZ, abs=2)


async def test_two_streams_of_one_call_make_one_call(serve: Serve, ended: Ended, bus: Recorder) -> None:
    async with (
        serve() as gateway,
        TwilioStream(gateway.port, "CA1", tracks=("inbound",)) as caller,
        TwilioStream(gateway.port, "CA1", tracks=("outbound",)) as agent,
    ):
        await asyncio.gather(caller.speak({"inbound": CALLER}), agent.speak({"outbound": AGENT}))
        await caller.stop()
        await asyncio.sleep(0.05)
        assert hear(bus.events)["twilio-CA1"].ended is None, "one track is still being spoken on"
        await agent.stop()
        call = await ended("twilio-CA1")
    assert call.starts == 1
    assert pitch(call.pcm(0)) == pytest.approx(CALLER_HZ, abs=2)
    assert pitch(call.pcm(1)) == pytest.approx(AGENT_HZ, abs=2)
    # The second stream began a moment later, and lies that moment later on the call's clock.
    assert 1.0 <= call.seconds(1) < 1.5


async def test_telnyx_spells_differently_and_shuffles(serve: Serve, ended: Ended) -> None:
    async with serve() as gateway, TwilioStream(gateway.port, "v3:abc/d==", telnyx=True) as stream:
        frames = stream.frames("inbound", CALLER)
        for at in range(0, len(frames) - 3, 3):
            frames[at], frames[at + 2] = frames[at + 2], frames[at]
        for frame in frames:
            await stream.send(frame)
        await stream.stop()
        call = await ended(call_id("twilio", "v3:abc/d=="))
    assert call.pcm(0) == decode_ulaw(encode_ulaw(CALLER)).tobytes()


async def test_frames_twice_late_and_missing(serve: Serve, ended: Ended) -> None:
    async with serve() as gateway, TwilioStream(gateway.port, "CA1") as stream:
        frames = stream.frames("inbound", CALLER)
        lost = frames[20:25]
        early = frames[7]
        for frame in [*frames[:6], early, frames[6], early, frames[6], *frames[8:20], *frames[25:], *lost]:
            await stream.send(frame)
        await stream.stop()
        call = await ended("twilio-CA1")
    expected = decode_ulaw(encode_ulaw(CALLER)).copy()
    expected[20 * 160 : 25 * 160] = 0
    assert call.pcm(0) == expected.tobytes()


async def test_audio_may_begin_late_on_a_track(serve: Serve, ended: Ended) -> None:
    async with serve() as gateway, TwilioStream(gateway.port, "CA1") as stream:
        await stream.speak({"inbound": CALLER})
        frames = stream.frames("outbound", AGENT[:1600])
        for number, frame in enumerate(frames):
            frame["media"]["timestamp"] = str(3005 + number * 20)
            await stream.send(frame)
        await stream.stop()
        call = await ended("twilio-CA1")
    assert call.seconds(1) == pytest.approx(3.205, abs=0.001)
    assert pitch(call.between(1, 0, 3)) == 0
    assert pitch(call.between(1, 3.01, 3.2)) == pytest.approx(AGENT_HZ, abs=10)


async def test_a_mad_time_stamp_is_not_believed(serve: Serve, ended: Ended) -> None:
    async with serve() as gateway, TwilioStream(gateway.port, "CA1") as stream:
        frames = stream.frames("inbound", CALLER)
        frames[10]["media"]["timestamp"] = "999999999999"
        for frame in frames:
            await stream.send(frame)
        await stream.stop()
        call = await ended("twilio-CA1")
    assert call.seconds(0) == 1.0


async def test_a_socket_that_dies_may_come_back(serve: Serve, ended: Ended) -> None:
    async with serve(resume_s=5) as gateway:
        async with TwilioStream(gateway.port, "CA1") as stream:
            await stream.speak({"inbound": CALLER[:4000], "outbound": AGENT[:4000]}, paced=True)
            await stream.die()
        await asyncio.sleep(0.3)
        async with TwilioStream(gateway.port, "CA1") as again:
            await again.speak({"inbound": CALLER[:4000], "outbound": AGENT[:4000]}, paced=True)
            await again.stop()
        call = await ended("twilio-CA1")
    assert call.starts == 2
    assert call.ended is not None
    assert call.ended.reason == "hangup"
    assert call.seconds(0) == pytest.approx(1.3, abs=0.2)
    assert call.seconds(0) == pytest.approx(call.seconds(1), abs=0.001), "both channels keep the same time"
    assert pitch(call.between(0, 0.52, 0.78)) == 0
    assert pitch(call.pcm(0)[-4000:]) == pytest.approx(CALLER_HZ, abs=5)


async def test_a_socket_that_stays_away_loses_the_call(serve: Serve, ended: Ended) -> None:
    async with serve(resume_s=0.2) as gateway, TwilioStream(gateway.port, "CA1") as stream:
        await stream.speak({"inbound": CALLER})
        await stream.die()
        call = await ended("twilio-CA1")
    assert call.ended is not None
    assert (call.ended.reason, call.ended.failed) == ("connection lost", True)
    assert call.seconds(0) == 1.0


async def test_a_stream_without_stop_is_lost(serve: Serve, ended: Ended) -> None:
    async with serve(resume_s=0.1) as gateway:
        async with TwilioStream(gateway.port, "CA1") as stream:
            await stream.speak({"inbound": CALLER})
        call = await ended("twilio-CA1")
    assert call.ended is not None
    assert (call.ended.reason, call.ended.failed) == ("connection lost", True)


async def test_an_id_used_again_is_another_call(serve: Serve, ended: Ended) -> None:
    async with serve() as gateway:
        for name in ("twilio-CA1", "twilio-CA1-2", "twilio-CA1-3"):
            async with TwilioStream(gateway.port, "CA1") as stream:
                await stream.speak({"inbound": CALLER[:800]})
                await stream.stop()
                assert (await ended(name)).seconds(0) == 0.1


@pytest.mark.parametrize(
    "headers",
    [{}, {"X-Twilio-Signature": ""}, {"X-Twilio-Signature": "AAAA"}, {"Authorization": "Bearer wrong"}],
)
async def test_unsigned_calls_are_refused(serve: Serve, bus: Recorder, headers: dict[str, str]) -> None:
    async with serve(insecure=False, twilio_auth_token=TOKEN) as gateway:
        with pytest.raises(InvalidStatus) as refused:
            await TwilioStream(gateway.port, "CA1", headers=headers).dial()
    assert refused.value.response.status_code == 403
    assert not bus.events


async def test_signed_calls_are_taken(serve: Serve, ended: Ended) -> None:
    async with serve(insecure=False, twilio_auth_token=TOKEN) as gateway:
        async with TwilioStream(gateway.port, "CA1", token=TOKEN) as stream:
            await stream.stop()
        await ended("twilio-CA1")
        forwarded = {
            "X-Forwarded-Host": "calls.example.com",
            "X-Twilio-Signature": signature(TOKEN, "wss://calls.example.com/twilio"),
        }
        async with TwilioStream(gateway.port, "CA2", headers=forwarded) as stream:
            await stream.stop()
        await ended("twilio-CA2")
        async with TwilioStream(gateway.port, "CA3", headers={"Authorization": f"Bearer {TOKEN}"}) as stream:
            await stream.stop()
        await ended("twilio-CA3")


@pytest.mark.parametrize("public_url", ["https://calls.example.com", "wss://calls.example.com/twilio"])
async def test_the_public_url_is_what_was_signed(serve: Serve, ended: Ended, public_url: str) -> None:
    headers = {"X-Twilio-Signature": signature(TOKEN, "wss://calls.example.com/twilio")}
    async with serve(insecure=False, twilio_auth_token=TOKEN, public_url=public_url) as gateway:
        async with TwilioStream(gateway.port, "CA1", headers=headers) as stream:
            await stream.stop()
        await ended("twilio-CA1")


async def test_without_a_secret_nobody_is_served(serve: Serve) -> None:
    async with serve(insecure=False) as gateway:
        with pytest.raises(InvalidStatus) as refused:
            await TwilioStream(gateway.port, "CA1").dial()
    assert refused.value.response.status_code == 503
    assert b"gateway.twilio_auth_token" in refused.value.response.body


MEDIA = {"event": "media", "media": {"track": "inbound", "chunk": "1", "timestamp": "0", "payload": "////"}}


@pytest.mark.parametrize(
    "message",
    [
        "{not json",
        "[]",
        "null",
        '"media"',
        '{"event": 5}',
        '{"event": "media"}',
        '{"event": "start", "start": {"callSid": ""}}',
        '{"event": "start", "start": []}',
        "[" * 20_000,
        b"\x00\x01\x02",
        json.dumps(MEDIA | {"media": {"payload": "!!!"}}),
        json.dumps(MEDIA | {"media": {"payload": "////", "track": "sideways"}}),
        json.dumps(MEDIA | {"media": {"payload": 7}}),
    ],
)
async def test_nonsense_ends_its_own_socket_with_a_reason(serve: Serve, ended: Ended, message: str | bytes) -> None:
    async with serve() as gateway, TwilioStream(gateway.port, "CA2") as good:
        async with TwilioStream(gateway.port, "CA1") as stream:
            await stream.speak({"inbound": CALLER})
            await stream.socket.send(message)
            with pytest.raises(ConnectionClosed) as closed:
                await stream.socket.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1008
            assert closed.value.rcvd.reason
        bad = await ended("twilio-CA1")
        await good.speak({"inbound": CALLER})
        await good.stop()
        assert (await ended("twilio-CA2")).seconds(0) == 1.0
    assert bad.ended is not None
    assert bad.ended.failed
    assert bad.ended.reason.startswith("protocol error: ")
    assert bad.seconds(0) == 1.0, "what was heard before is kept"


async def test_text_that_is_no_text_closes_its_socket(serve: Serve, ended: Ended) -> None:
    async with serve(resume_s=0.1) as gateway, TwilioStream(gateway.port, "CA1") as stream:
        await stream.speak({"inbound": CALLER})
        await stream.socket.send(b"\xff\xfe", text=True)
        with pytest.raises(ConnectionClosed) as closed:
            await stream.socket.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1007
        assert (await ended("twilio-CA1")).seconds(0) == 1.0


async def test_media_before_start_is_an_error(serve: Serve, bus: Recorder) -> None:
    async with serve() as gateway:
        stream = TwilioStream(gateway.port, "CA1")
        await stream.dial()
        await stream.send(MEDIA)
        with pytest.raises(ConnectionClosed, match="media before start"):
            await stream.socket.recv()
    assert not bus.events


@pytest.mark.parametrize("sid", ["../../etc/passwd", "a" * 10_000, "CA 1\n\x00", "☎" * 40])
async def test_hostile_ids_are_made_safe(serve: Serve, bus: Recorder, sid: str) -> None:
    async with serve() as gateway:
        async with TwilioStream(gateway.port, sid) as stream:
            await stream.speak({"inbound": CALLER})
            await stream.stop()
        async with asyncio.timeout(5):
            while not any(call.ended for call in hear(bus.events).values()):
                await asyncio.sleep(0.01)
    (name,) = hear(bus.events)
    assert len(name) < 80
    assert name.replace("-", "").replace("_", "").isalnum()
    assert name.isascii()


async def test_a_huge_message_closes_its_socket(serve: Serve) -> None:
    async with serve() as gateway, TwilioStream(gateway.port, "CA1") as stream:
        await stream.socket.send("x" * 1_000_000)
        with pytest.raises(ConnectionClosed) as closed:
            await stream.socket.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009


async def test_other_events_are_no_harm(serve: Serve, ended: Ended) -> None:
    async with serve() as gateway, TwilioStream(gateway.port, "CA1") as stream:
        for event in ("mark", "dtmf", "something-new"):
            await stream.send({"event": event, event: {"name": "1"}})
        await stream.speak({"inbound": np.zeros(160, np.int16)})
        await stream.stop()
        assert (await ended("twilio-CA1")).seconds(0) == 0.02
