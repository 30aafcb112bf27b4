"""What holds for every platform: time, patience, limits, stops."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
import uuid
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from ingest.gateway import Gateway, outbox
from ingest.gateway.browser.session import MOST_SOCKETS
from tenor.events import CallEnded, CallState
from tenor.settings import GatewaySettings, Settings
from tenor.web.servers import PortInUse
from tests.ingest.gateway.conftest import Ended, Serve, serving
from tests.ingest.gateway.hearing import hear
from tests.ingest.gateway.recorder import Recorder
from tests.ingest.gateway.simulators.audiosocket import AudioSocket
from tests.ingest.gateway.simulators.genesys import AudioHook
from tests.ingest.gateway.simulators.jambonz import Listen
from tests.ingest.gateway.simulators.tones import AGENT_HZ, CALLER_HZ, tone
from tests.ingest.gateway.simulators.twilio import TwilioStream

CALLER = tone(CALLER_HZ, 1)
AGENT = tone(AGENT_HZ, 1)


async def health(gateway: Gateway) -> Any:
    async with httpx.AsyncClient(trust_env=False) as client:
        return (await client.get(f"http://127.0.0.1:{gateway.port}/health")).json()


async def test_captured_at_follows_the_voice(serve: Serve, ended: Ended) -> None:
    async with serve() as gateway, TwilioStream(gateway.port, "CA1") as stream:
        await stream.speak({"inbound": CALLER, "outbound": AGENT}, paced=True)
        await stream.stop()
        call = await ended("twilio-CA1")
    for chunk in call.chunks[0]:
        spoken = call.info.started_at + (chunk.start_ms + 100) / 1000
        assert chunk.captured_at == pytest.approx(spoken, abs=0.1)


async def test_health_tells_calls_and_platforms(serve: Serve) -> None:
    async with serve(insecure=False, jambonz_token="x") as gateway:
        assert await health(gateway) == {
            "status": "ok",
            "calls": 0,
            "bus": "ok",
            "platforms": {"twilio": False, "genesys": False, "jambonz": True, "audiosocket": True, "web": True},
        }
        async with AudioSocket(gateway.audiosocket_port, uuid.uuid4()) as asterisk:
            await asterisk.speak(CALLER)
            assert (await health(gateway))["calls"] == 1


async def test_other_paths_are_not_found(serve: Serve) -> None:
    async with serve() as gateway:
        with pytest.raises(InvalidStatus):
            await connect(f"ws://127.0.0.1:{gateway.port}/elsewhere")
        async with httpx.AsyncClient(trust_env=False) as client:
            assert (await client.get(f"http://127.0.0.1:{gateway.port}/")).status_code == 404


async def test_a_port_in_use_is_explained(serve: Serve, bus: Recorder) -> None:
    async with serve() as first:
        for taken in ({"port": first.port}, {"audiosocket_port": first.audiosocket_port}):
            with pytest.raises(
                PortInUse, match=r"cannot listen on 127\.0\.0\.1:\d+: another server is running there"
            ) as error:
                async with serving(bus, **taken):
                    pass
            assert next(iter(taken)) in error.value.hint


async def test_noise_on_both_ports_disturbs_nobody(serve: Serve, ended: Ended) -> None:
    noise = random.Random(7)
    async with serve(resume_s=0.1) as gateway, TwilioStream(gateway.port, "CA1") as stream:
        for number in range(60):
            port = (gateway.port, gateway.audiosocket_port)[number % 2]
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(noise.randbytes(noise.randrange(1, 3000)))
            await asyncio.sleep(0.002)
            writer.close()
        for _ in range(60):
            async with Listen(gateway.port, "sid-1") as listen:
                with contextlib.suppress(ConnectionClosed):
                    await listen.socket.send(noise.randbytes(noise.randrange(1, 3000)))
                    await listen.socket.send(noise.randbytes(40).hex())
                listen.socket.transport.abort()
        await stream.speak({"inbound": CALLER})
        await stream.stop()
        assert (await ended("twilio-CA1")).seconds(0) == 1.0


async def test_a_silent_socket_is_closed(serve: Serve, ended: Ended) -> None:
    async with serve(silence_s=0.3, resume_s=0.2) as gateway, TwilioStream(gateway.port, "CA1") as stream:
        await stream.speak({"inbound": CALLER})
        with pytest.raises(ConnectionClosed, match="nothing was heard"):
            await asyncio.wait_for(stream.socket.recv(), 3)
        call = await ended("twilio-CA1")
    assert call.ended is not None
    assert (call.ended.reason, call.ended.failed) == ("connection lost", True)


async def test_a_silent_socket_of_each_kind_is_closed(serve: Serve, bus: Recorder) -> None:
    async with serve(silence_s=0.3, resume_s=0.1) as gateway:
        hook = AudioHook(gateway.port, str(uuid.uuid4()))
        await hook.dial()
        listen = Listen(gateway.port, "sid-1")
        await listen.dial()
        asterisk = AudioSocket(gateway.audiosocket_port, uuid.uuid4())
        await asterisk.dial()
        assert await asyncio.wait_for(asterisk.reader.read(), 3) == b"\0\0\0"
        asterisk.writer.close()
        for socket in (hook.socket, listen.socket):
            await asyncio.wait_for(socket.wait_closed(), 3)
    assert not bus.events


async def test_more_calls_than_allowed_are_refused(serve: Serve, ended: Ended) -> None:
    async with serve(max_calls=1) as gateway, TwilioStream(gateway.port, "CA1") as first:
        async with TwilioStream(gateway.port, "CA2") as second:
            with pytest.raises(ConnectionClosed, match="max_calls") as closed:
                await second.socket.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1013
        await first.stop()
        await ended("twilio-CA1")
        async with TwilioStream(gateway.port, "CA3") as third:
            await third.stop()
            await ended("twilio-CA3")


async def test_more_sockets_than_calls_need_are_refused(serve: Serve) -> None:
    async with serve(max_calls=1) as gateway:
        sockets = [await connect(f"ws://127.0.0.1:{gateway.port}/jambonz") for _ in range(18)]
        with pytest.raises(InvalidStatus) as refused:
            await connect(f"ws://127.0.0.1:{gateway.port}/jambonz")
        assert refused.value.response.status_code == 503
        for socket in sockets:
            await socket.close()


async def test_a_stop_ends_calls_in_good_order(bus: Recorder) -> None:
    number = uuid.uuid4()
    async with serving(bus) as gateway:
        stream = TwilioStream(gateway.port, "CA1")
        await stream.dial()
        await stream.start()
        await stream.speak({"inbound": CALLER[:900]})
        asterisk = AudioSocket(gateway.audiosocket_port, number)
        await asterisk.dial()
        await asterisk.send(0x01, number.bytes)
        await asterisk.speak(CALLER)
        hook = AudioHook(gateway.port, str(uuid.uuid4()))
        await hook.dial()
        await hook.open()
        closing = asyncio.create_task(hook.expect("disconnect"))
        await asyncio.sleep(0.1)
    assert (await closing)["reason"] == "completed"
    with pytest.raises(ConnectionClosed) as closed:
        await stream.socket.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1001
    assert await asterisk.reader.read() == b"\0\0\0"
    asterisk.writer.close()
    calls = hear(bus.events)
    assert len(calls) == 3
    assert {call.ended.reason for call in calls.values() if call.ended} == {"stopped"}
    assert len(calls["twilio-CA1"].pcm(0)) == 2 * 900, "the last, short chunk is there"


async def test_a_gateway_that_drains_hears_its_calls_to_their_end_and_takes_no_new_ones(bus: Recorder) -> None:
    settings = GatewaySettings(port=0, audiosocket_port=0, insecure=True, drain_s=20)
    gateway = Gateway(bus, Settings(gateway=settings))
    running = asyncio.create_task(gateway.run())
    await gateway.ready.wait()
    assert await gateway.waits_for() == ""
    stream = TwilioStream(gateway.port, "CA1")
    await stream.dial()
    await stream.start()
    await stream.speak({"inbound": CALLER})
    await asyncio.sleep(0.1)
    running.cancel()
    await asyncio.sleep(0.1)
    assert (await health(gateway))["status"] == "stopping"
    async with TwilioStream(gateway.port, "CA2") as refused:
        with pytest.raises(ConnectionClosed, match="is stopping"):
            await refused.socket.recv()
    await stream.speak({"inbound": CALLER})
    await stream.stop()
    async with asyncio.timeout(5):
        await running
    calls = hear(bus.events)
    assert calls.keys() == {"twilio-CA1"}
    ended = calls["twilio-CA1"].ended
    assert ended is not None
    assert ended.reason != "stopped"
    assert calls["twilio-CA1"].seconds(0) == 2.0


async def test_a_call_that_outlasts_the_drain_is_ended(bus: Recorder) -> None:
    async with serving(bus, drain_s=0.3) as gateway:
        stream = TwilioStream(gateway.port, "CA1")
        await stream.dial()
        await stream.start()
        await stream.speak({"inbound": CALLER})
        await asyncio.sleep(0.1)
        told = time.monotonic()
    assert 0.3 <= time.monotonic() - told < 5
    ended = hear(bus.events)["twilio-CA1"].ended
    assert ended is not None
    assert ended.reason == "stopped"


async def test_a_bus_that_is_away_for_a_moment_costs_nothing(serve: Serve, bus: Recorder, ended: Ended) -> None:
    bus.away = True
    async with serve() as gateway, AudioHook(gateway.port, "c1") as hook:
        await hook.speak(tone(CALLER_HZ, 6), tone(AGENT_HZ, 6))
        await hook.send("ping", {})
        await hook.expect("pong")
        assert (await health(gateway))["bus"] == "behind"
        bus.away = False
        await hook.close()
        call = await ended("genesys-c1")
    assert call.seconds(0) == call.seconds(1) == 6.0


async def test_a_bus_that_stays_away_fails_the_call_and_says_so(
    serve: Serve, bus: Recorder, ended: Ended, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "RETRY_S", 0.05)
    bus.away = True
    async with serve() as gateway, AudioHook(gateway.port, "c1") as hook:
        await hook.speak(tone(CALLER_HZ, 62), tone(AGENT_HZ, 62))
        refusal = await hook.expect("disconnect")
        assert refusal["reason"] == "error"
        assert "event bus" in refusal["info"]
        bus.away = False
        call = await ended("genesys-c1")
        async with asyncio.timeout(2):
            while not any(isinstance(event, CallState) for event in bus.events):
                await asyncio.sleep(0.01)
    assert call.seconds(0) == pytest.approx(60, abs=0.2), "what was held is kept"
    assert call.ended is not None
    assert call.ended.failed
    state = next(event for event in bus.events if isinstance(event, CallState))
    assert (state.state, state.reason, state.info) == ("failed", call.ended.reason, call.info)


async def test_a_stop_does_not_wait_for_ever_for_the_bus(bus: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.gateway.switchboard.FLUSH_S", 0.2)
    bus.open.clear()
    began = time.monotonic()
    async with serving(bus) as gateway, TwilioStream(gateway.port, "CA1") as stream:
        await stream.speak({"inbound": CALLER})
    assert time.monotonic() - began < 5


async def test_a_long_pause_keeps_the_call_alive(
    serve: Serve, bus: Recorder, ended: Ended, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Silence flows while the platform sends none, so nobody takes the call for dead."""
    monkeypatch.setattr("ingest.gateway.call.LAG_MS", 200)
    async with serve() as gateway, AudioHook(gateway.port, "c1") as hook:
        await hook.speak(CALLER[:1600], AGENT[:1600])
        await hook.send("paused", {})
        await asyncio.sleep(1)
        assert hear(bus.events)["genesys-c1"].seconds(1) > 0.5
        await hook.send("resumed", {"start": "PT0.2S", "discarded": "PT1S"})
        await hook.speak(CALLER[:1600], AGENT[:1600])
        await hook.close()
        call = await ended("genesys-c1")
    assert call.seconds(0) == call.seconds(1) == 1.4


async def test_chunks_are_as_long_as_the_setting(bus: Recorder, ended: Ended) -> None:
    settings = Settings.model_validate(
        {
            "ingest": {"chunk_ms": 40, "site": "Hull"},
            "gateway": GatewaySettings(port=0, audiosocket_port=0, insecure=True),
        }
    )
    gateway = Gateway(bus, settings)
    running = asyncio.create_task(gateway.run())
    await gateway.ready.wait()
    async with TwilioStream(gateway.port, "CA1") as stream:
        await stream.speak({"inbound": CALLER})
        await stream.stop()
        async with asyncio.timeout(5):
            while not any(isinstance(event, CallEnded) for event in bus.events):
                await asyncio.sleep(0.01)
    running.cancel()
    await running
    call = hear(bus.events, chunk_ms=40)["twilio-CA1"]
    assert call.info.site == "Hull"
    assert {len(chunk.pcm) for chunk in call.chunks[0]} == {640}


async def test_behind_a_proxy_each_browser_is_counted_by_itself(serve: Serve) -> None:
    def told(address: str) -> dict[str, str]:
        return {"X-Forwarded-For": f"192.0.2.1, {address}"}  # what the browser made up, and what the proxy saw

    async with serve(proxies=["127.0.0.0/8"]) as gateway, contextlib.AsyncExitStack() as strangers:
        address = f"ws://127.0.0.1:{gateway.port}/browser"
        for _ in range(MOST_SOCKETS):
            await strangers.enter_async_context(connect(address, additional_headers=told("203.0.113.9")))
        with pytest.raises(InvalidStatus, match="503"):
            await connect(address, additional_headers=told("203.0.113.9"))
        async with connect(address, additional_headers=told("203.0.113.10")):
            pass
    async with serve() as gateway, contextlib.AsyncExitStack() as strangers:
        address = f"ws://127.0.0.1:{gateway.port}/browser"
        for number in range(MOST_SOCKETS):
            await strangers.enter_async_context(connect(address, additional_headers=told(f"203.0.113.{number}")))
        with pytest.raises(InvalidStatus, match="503"):  # nobody is a proxy who says so
            await connect(address, additional_headers=told("203.0.113.99"))


async def test_browsers_without_a_ticket_do_not_take_the_places_of_telephones(serve: Serve) -> None:
    async with serve(max_calls=8) as gateway, contextlib.AsyncExitStack() as strangers:
        address = f"ws://127.0.0.1:{gateway.port}/browser"
        opened = [await strangers.enter_async_context(connect(address)) for _ in range(MOST_SOCKETS)]
        with pytest.raises(InvalidStatus, match="503"):
            await connect(address)
        async with TwilioStream(gateway.port, "CA1") as stream:
            await stream.speak({"inbound": CALLER, "outbound": AGENT})
            assert (await health(gateway))["calls"] == 1
        await opened[0].close()
        async with asyncio.timeout(5):
            while True:
                with contextlib.suppress(InvalidStatus):
                    async with connect(address):
                        break
