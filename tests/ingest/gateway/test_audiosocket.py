"""Calls of Asterisk through AudioSocket."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import httpx
import pytest

from ingest.gateway import Gateway, metrics
from ingest.gateway.audiosocket.peers import Peers
from tenor.errors import BadInput
from tests.ingest.gateway.conftest import Ended, Serve
from tests.ingest.gateway.recorder import Recorder
from tests.ingest.gateway.simulators.audiosocket import AudioSocket
from tests.ingest.gateway.simulators.tones import AGENT_HZ, CALLER_HZ, pitch, tone

CALLER = tone(CALLER_HZ, 1)
AGENT = tone(AGENT_HZ, 1)


async def register(gateway: Gateway, body: Any, headers: dict[str, str] | None = None) -> httpx.Response:
    async with httpx.AsyncClient(trust_env=False) as client:
        url = f"http://127.0.0.1:{gateway.port}/audiosocket/calls"
        if isinstance(body, bytes):
            return await client.post(url, content=body, headers=headers)
        return await client.post(url, json=body, headers=headers)


async def test_a_call_nobody_registered(serve: Serve, ended: Ended) -> None:
    number = uuid.uuid4()
    async with serve() as gateway, AudioSocket(gateway.audiosocket_port, number) as asterisk:
        await asterisk.speak(CALLER)
        await asterisk.hang_up()
        call = await ended(f"audiosocket-{number}")
    assert call.info.roles == ("caller",)
    assert call.pcm(0) == CALLER.tobytes()
    assert call.ended is not None
    assert (call.ended.reason, call.ended.failed) == ("hangup", False)


async def test_two_registered_sockets_make_one_call(serve: Serve, ended: Ended) -> None:
    caller, agent = uuid.uuid4(), uuid.uuid4()
    async with serve() as gateway:
        for number, role in ((caller, "caller"), (agent, "agent")):
            body = {"uuid": str(number), "call": "1699-42", "role": role, "queue": "billing", "channel": "PJSIP/7"}
            assert (await register(gateway, body)).status_code == 201
        async with (
            AudioSocket(gateway.audiosocket_port, caller) as one,
            AudioSocket(gateway.audiosocket_port, agent) as two,
        ):
            await asyncio.gather(one.speak(CALLER), two.speak(AGENT))
        call = await ended("audiosocket-1699-42")
    assert call.starts == 1
    assert call.info.roles == ("caller", "agent")
    assert (call.info.queue, call.info.attributes) == ("billing", {"channel": "PJSIP/7"})
    assert pitch(call.pcm(0)) == pytest.approx(CALLER_HZ, abs=2)
    assert pitch(call.pcm(1)) == pytest.approx(AGENT_HZ, abs=10)
    assert call.ended is not None
    assert call.ended.reason == "hangup", "Asterisk hangs up by closing"


@pytest.mark.parametrize(("kind", "rate"), [(0x11, 12000), (0x12, 16000), (0x15, 44100), (0x16, 48000)])
async def test_other_sample_rates(serve: Serve, ended: Ended, kind: int, rate: int) -> None:
    number = uuid.uuid4()
    audio = tone(CALLER_HZ, 1.05, rate)
    async with serve() as gateway:
        async with AudioSocket(gateway.audiosocket_port, number, kind=kind, rate=rate) as asterisk:
            await asterisk.speak(audio)
        call = await ended(f"audiosocket-{number}")
    assert call.pcm(0) == audio.tobytes()
    assert {chunk.rate for chunk in call.chunks[0]} == {rate}


async def test_a_reset_connection_may_come_back(serve: Serve, ended: Ended) -> None:
    number = uuid.uuid4()
    async with serve(resume_s=5) as gateway:
        async with AudioSocket(gateway.audiosocket_port, number) as asterisk:
            await asterisk.speak(CALLER[:4000], paced=True)
            await asyncio.sleep(0.05)
            await asterisk.die()
        await asyncio.sleep(0.25)
        async with AudioSocket(gateway.audiosocket_port, number) as asterisk:
            await asterisk.speak(CALLER[:4000], paced=True)
        call = await ended(f"audiosocket-{number}")
    assert call.starts == 2
    assert call.seconds(0) == pytest.approx(1.3, abs=0.2)
    assert pitch(call.between(0, 0.52, 0.75)) == 0
    assert pitch(call.pcm(0)[-4000:]) == pytest.approx(CALLER_HZ, abs=5)


async def test_a_newer_socket_takes_over(serve: Serve, ended: Ended) -> None:
    """The old connection hangs half-dead when Asterisk dials again."""
    number = uuid.uuid4()
    async with serve() as gateway, AudioSocket(gateway.audiosocket_port, number) as old:
        await old.speak(CALLER[:800])
        async with AudioSocket(gateway.audiosocket_port, number) as new:
            await new.speak(CALLER[:800])
            assert await asyncio.wait_for(old.reader.read(), 2) == b"\0\0\0"
            await new.hang_up()
            call = await ended(f"audiosocket-{number}")
    assert call.starts == 2
    assert call.ended is not None
    assert call.ended.reason == "hangup"


async def test_digits_and_errors_are_counted(serve: Serve, ended: Ended) -> None:
    number = uuid.uuid4()
    digits = metrics.IGNORED.labels("audiosocket", "dtmf")
    before = digits._value.get()
    async with serve() as gateway, AudioSocket(gateway.audiosocket_port, number) as asterisk:
        await asterisk.send(0x03, b"5")
        await asterisk.send(0xFF, b"\x04")
        await asterisk.speak(CALLER)
        await asterisk.hang_up()
        assert (await ended(f"audiosocket-{number}")).seconds(0) == 1.0
    assert digits._value.get() == before + 1


@pytest.mark.parametrize(
    ("kind", "payload", "reason"),
    [(0x77, b"", "0x77"), (0x10, b"\x00", "sample"), (0x01, b"\x00" * 16, "UUID"), (0x12, b"\x00\x00", "rate")],
)
async def test_nonsense_ends_the_call_with_a_reason(
    serve: Serve, ended: Ended, kind: int, payload: bytes, reason: str
) -> None:
    number = uuid.uuid4()
    async with serve() as gateway, AudioSocket(gateway.audiosocket_port, number) as asterisk:
        await asterisk.speak(CALLER)
        await asterisk.send(kind, payload)
        assert await asyncio.wait_for(asterisk.reader.read(), 2) == b"\0\0\0"
        call = await ended(f"audiosocket-{number}")
    assert call.ended is not None
    assert call.ended.failed
    assert reason in call.ended.reason


async def test_audio_before_the_uuid_is_hung_up(serve: Serve, bus: Recorder) -> None:
    async with serve() as gateway:
        asterisk = AudioSocket(gateway.audiosocket_port, uuid.uuid4())
        await asterisk.dial()
        await asterisk.send(0x10, b"\x00" * 320)
        assert await asyncio.wait_for(asterisk.reader.read(), 2) == b"\0\0\0"
        asterisk.writer.close()
    assert not bus.events


async def test_strangers_are_hung_up(serve: Serve, bus: Recorder) -> None:
    async with serve(audiosocket_peers=["10.0.0.0/8"]) as gateway:
        asterisk = AudioSocket(gateway.audiosocket_port, uuid.uuid4())
        await asterisk.dial()
        assert await asyncio.wait_for(asterisk.reader.read(), 2) == b"\0\0\0"
        asterisk.writer.close()
        body = {"uuid": str(uuid.uuid4()), "call": "1"}
        assert (await register(gateway, body)).status_code == 403
    assert not bus.events


async def test_registration_through_a_proxy_is_refused(serve: Serve) -> None:
    async with serve() as gateway:
        body = {"uuid": str(uuid.uuid4()), "call": "1"}
        assert (await register(gateway, body, {"X-Forwarded-For": "1.2.3.4"})).status_code == 403


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 422),
        (b"\xff\xfe", 422),
        (b"[]", 422),
        ({"uuid": "no", "call": "1"}, 422),
        ({"uuid": str(uuid.uuid4())}, 422),
        ({"uuid": str(uuid.uuid4()), "call": "1", "role": "ghost"}, 422),
        (b"x" * 100_000, 413),
    ],
)
async def test_bad_registrations_are_explained(serve: Serve, body: Any, status: int) -> None:
    async with serve() as gateway:
        response = await register(gateway, body)
    assert response.status_code == status
    assert response.json()["error"]


async def test_too_many_calls_are_hung_up(serve: Serve) -> None:
    async with serve(max_calls=1) as gateway, AudioSocket(gateway.audiosocket_port, uuid.uuid4()) as first:
        await first.speak(CALLER[:800])
        async with AudioSocket(gateway.audiosocket_port, uuid.uuid4()) as second:
            assert await asyncio.wait_for(second.reader.read(), 2) == b"\0\0\0"


def test_peers_are_networks() -> None:
    peers = Peers(["10.0.0.0/8", "::1/128"])
    assert peers.allow("10.1.2.3")
    assert peers.allow("::ffff:10.1.2.3")
    assert peers.allow("::1")
    assert not peers.allow("11.1.2.3")
    assert not peers.allow("nonsense")
    with pytest.raises(BadInput, match="audiosocket_peers"):
        Peers(["everybody"])
