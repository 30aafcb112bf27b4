"""Calls of jambonz through its `listen` verb."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.ingest.gateway.conftest import Ended, Serve
from tests.ingest.gateway.recorder import Recorder
from tests.ingest.gateway.simulators.jambonz import Listen
from tests.ingest.gateway.simulators.tones import AGENT_HZ, CALLER_HZ, interleave, pitch, tone

TOKEN = "a-token"


async def test_stereo_at_16_khz(serve: Serve, ended: Ended) -> None:
    caller, agent = tone(CALLER_HZ, 1, 16000), tone(AGENT_HZ, 1, 16000)
    told: dict[str, Any] = {"metadata": {"agent": "kim", "deal": 7}, "callId": "sip-1"}
    async with serve() as gateway:
        async with Listen(gateway.port, "sid-1", rate=16000, **told) as listen:
            assert listen.socket.subprotocol == "audio.jambonz.org"
            await listen.speak(interleave(caller, agent))
        call = await ended("jambonz-sid-1")
    assert call.info.roles == ("caller", "agent")
    assert call.info.rate == 16000
    assert (call.info.agent, call.info.customer) == ("kim", "+15551234567")
    assert call.info.attributes == {"direction": "inbound", "callId": "sip-1", "mixType": "stereo", "deal": "7"}
    assert call.pcm(0) == caller.tobytes()
    assert call.pcm(1) == agent.tobytes()
    assert call.ended is not None
    assert (call.ended.reason, call.ended.failed) == ("hangup", False)


async def test_mono_and_an_outbound_call(serve: Serve, ended: Ended) -> None:
    caller = tone(CALLER_HZ, 1)
    async with serve() as gateway:
        async with Listen(gateway.port, "sid-1", mix="mono", direction="outbound") as listen:
            await listen.speak(caller)
            await listen.socket.send('{"event": "dtmf", "dtmf": "5"}')
        call = await ended("jambonz-sid-1")
    assert call.info.roles == ("caller",)
    assert call.info.customer == "+18005550100"
    assert call.pcm(0) == caller.tobytes()


async def test_both_mixed_to_one_channel_are_told_apart_later(serve: Serve, ended: Ended) -> None:
    both = tone(CALLER_HZ, 1)
    async with serve() as gateway:
        async with Listen(gateway.port, "sid-1", mix="mixed") as listen:
            await listen.speak(both)
        call = await ended("jambonz-sid-1")
    assert call.info.roles == call.info.speakers == ("caller", "agent")
    assert call.pcm(0) == both.tobytes()


async def test_a_broken_connection_may_come_back(serve: Serve, ended: Ended) -> None:
    caller = tone(CALLER_HZ, 0.5)
    async with serve(resume_s=5) as gateway:
        async with Listen(gateway.port, "sid-1", mix="mono") as listen:
            await listen.speak(caller, paced=True)
            await listen.die()
        await asyncio.sleep(0.25)
        async with Listen(gateway.port, "sid-1", mix="mono") as listen:
            await listen.speak(caller, paced=True)
        call = await ended("jambonz-sid-1")
    assert call.starts == 2
    assert call.seconds(0) == pytest.approx(1.25, abs=0.2)
    assert pitch(call.between(0, 0.52, 0.74)) == 0


@pytest.mark.parametrize("authorization", [f"Bearer {TOKEN}", "Basic " + base64.b64encode(b"x:a-token").decode()])
async def test_the_token_lets_in(serve: Serve, ended: Ended, authorization: str) -> None:
    async with serve(insecure=False, jambonz_token=TOKEN) as gateway:
        async with Listen(gateway.port, "sid-1", authorization=authorization):
            pass
        await ended("jambonz-sid-1")


@pytest.mark.parametrize(
    ("authorization", "status"),
    [("", 401), ("Bearer wrong", 403), ("Basic !!!", 403), ("Basic " + base64.b64encode(b"a-token").decode(), 403)],
)
async def test_others_stay_out(serve: Serve, bus: Recorder, authorization: str, status: int) -> None:
    async with serve(insecure=False, jambonz_token=TOKEN) as gateway:
        with pytest.raises(InvalidStatus) as refused:
            await Listen(gateway.port, "sid-1", authorization=authorization).dial()
    assert refused.value.response.status_code == status
    assert not bus.events


@pytest.mark.parametrize(
    "first", [b"\x00\x00", "[]", "{", '{"callSid": "1"}', '{"callSid": "1", "sampleRate": 5}', '{"sampleRate": 8000}']
)
async def test_nonsense_is_refused_with_a_reason(serve: Serve, bus: Recorder, first: str | bytes) -> None:
    async with serve() as gateway:
        listen = Listen(gateway.port, "sid-1")
        await listen.dial()
        await listen.socket.send(first)
        with pytest.raises(ConnectionClosed) as closed:
            await listen.socket.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1008
        assert closed.value.rcvd.reason
    assert not bus.events


async def test_the_peers_words_stay_out_of_reasons(serve: Serve) -> None:
    async with serve() as gateway, Listen(gateway.port, "sid-1", mix="my card is 4111") as listen:
        with pytest.raises(ConnectionClosed) as closed:
            await listen.socket.recv()
    assert "4111" not in str(closed.value)
