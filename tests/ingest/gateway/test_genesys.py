"""Calls of Genesys Cloud through AudioHook."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import time
import uuid
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pydantic import SecretStr
from starlette.requests import HTTPConnection
from websockets.exceptions import ConnectionClosed, InvalidStatus

from ingest.gateway.errors import Unauthorized
from ingest.gateway.genesys import signature
from ingest.gateway.genesys.messages import NOBODY, duration, duration_ms
from tenor.bus.opening import open_bus
from tenor.events import TRANSCRIPTS, Transcript
from tenor.g711 import decode_ulaw, encode_ulaw
from tenor.settings import Settings
from tests.ingest.gateway.conftest import Ended, Serve, serving
from tests.ingest.gateway.hearing import hear
from tests.ingest.gateway.recorder import Recorder
from tests.ingest.gateway.simulators.genesys import COVERED, STEREO, AudioHook, signed_headers
from tests.ingest.gateway.simulators.tones import AGENT_HZ, CALLER_HZ, interleave, pitch, tone

KEY = "SGVsbG8sIEkgYW0gdGhlIEFQSSBrZXkh"
SECRET = b"a client secret of some length"
SIGNED: dict[str, Any] = {"insecure": False, "genesys_keys": {KEY: base64.b64encode(SECRET).decode()}}
CALLER = tone(CALLER_HZ, 1)
AGENT = tone(AGENT_HZ, 1)
CALL = "0e5c4a0e-0000-4000-8000-000000000001"
L16_MONO = {"type": "audio", "format": "L16", "channels": ["internal"], "rate": 8000}


async def test_a_signed_call_from_open_to_closed(serve: Serve, ended: Ended) -> None:
    config = {"agent": "kim", "site": "Hull"}
    async with serve(**SIGNED) as gateway:
        hook = AudioHook(gateway.port, CALL, key=KEY, secret=SECRET, language="en-GB", customConfig=config)
        async with hook:
            assert hook.opened == {"media": [STEREO], "startPaused": False}
            await hook.speak(CALLER, AGENT)
            await hook.send("ping", {"rtt": "PT0.1S"})
            await hook.expect("pong")
            assert hook.heard[-1]["clientseq"] == hook.seq
            await hook.send("update", {"language": "de-DE"})
            await hook.expect("updated")
            await hook.send("error", {"code": 400, "message": "tough"})
        call = await ended(f"genesys-{CALL}")
    assert call.info.roles == ("caller", "agent")
    assert (call.info.agent, call.info.site, call.info.language) == ("kim", "Hull", "en-GB")
    assert call.info.customer == "+15551234567"
    assert call.pcm(0) == decode_ulaw(encode_ulaw(CALLER)).tobytes()
    assert call.pcm(1) == decode_ulaw(encode_ulaw(AGENT)).tobytes()
    assert call.ended is not None
    assert (call.ended.reason, call.ended.failed) == ("hangup", False)


async def test_opened_does_not_wait_for_the_bus(serve: Serve, bus: Recorder, ended: Ended) -> None:
    bus.open.clear()
    async with serve() as gateway:
        began = time.monotonic()
        async with AudioHook(gateway.port, CALL) as hook:
            assert time.monotonic() - began < 1
            await hook.speak(CALLER, AGENT)
        assert not bus.events
        bus.open.set()
        assert (await ended(f"genesys-{CALL}")).seconds(0) == 1.0


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        ([L16_MONO, STEREO], STEREO),
        ([{**STEREO, "format": "L16"}, STEREO], STEREO),
        ([{**STEREO, "format": "OPUS"}, L16_MONO, {"nonsense": 1}], L16_MONO),
    ],
)
async def test_pcmu_stereo_is_chosen(serve: Serve, offered: list[dict[str, Any]], chosen: dict[str, Any]) -> None:
    async with serve() as gateway, AudioHook(gateway.port, CALL, media=offered) as hook:
        assert hook.opened["media"] == [chosen]


async def test_channels_in_the_other_order_and_l16(serve: Serve, ended: Ended) -> None:
    media = [{"type": "audio", "format": "L16", "channels": ["internal", "external"], "rate": 8000}]
    async with serve() as gateway, AudioHook(gateway.port, CALL, media=media) as hook:
        data = interleave(AGENT, CALLER).tobytes()
        for at in range(0, len(data), 333):  # frames that end within a sample
            await hook.socket.send(data[at : at + 333])
        await hook.close()
        call = await ended(f"genesys-{CALL}")
    assert call.info.roles == ("caller", "agent")
    assert call.pcm(0) == CALLER.tobytes()
    assert call.pcm(1) == AGENT.tobytes()


async def test_one_party_alone_keeps_its_role(serve: Serve, ended: Ended) -> None:
    async with serve() as gateway, AudioHook(gateway.port, CALL, media=[L16_MONO]) as hook:
        await hook.socket.send(AGENT.tobytes())
        await hook.close()
        call = await ended(f"genesys-{CALL}")
    assert call.info.roles == ("agent",)
    assert call.pcm(0) == AGENT.tobytes()


async def test_a_probe_leaves_nothing(serve: Serve, bus: Recorder) -> None:
    async with serve() as gateway:
        async with AudioHook(gateway.port, NOBODY) as hook:
            assert hook.opened["media"] == []
            await hook.send("ping", {})
            await hook.expect("pong")
        await asyncio.sleep(0.05)
    assert not bus.events


async def test_paused_and_discarded_time_is_silence(serve: Serve, ended: Ended) -> None:
    async with serve() as gateway, AudioHook(gateway.port, CALL) as hook:
        await hook.speak(CALLER[:4000], AGENT[:4000])
        await hook.send("paused", {})
        await hook.send("resumed", {"start": "PT0.5S", "discarded": "PT2S"})
        await hook.speak(CALLER[:4000], AGENT[:4000])
        await hook.send("discarded", {"start": "PT3S", "discarded": "PT0.25S"})
        await hook.speak(CALLER[:4000], AGENT[:4000])
        await hook.close()
        call = await ended(f"genesys-{CALL}")
    assert call.seconds(0) == call.seconds(1) == 3.75
    assert pitch(call.between(0, 0, 0.5)) == pytest.approx(CALLER_HZ, abs=5)
    assert pitch(call.between(0, 0.5, 2.5)) == 0
    assert pitch(call.between(1, 2.5, 3.0)) == pytest.approx(AGENT_HZ, abs=5)
    assert pitch(call.between(0, 3.0, 3.25)) == 0
    assert pitch(call.between(0, 3.25, 3.75)) == pytest.approx(CALLER_HZ, abs=5)


async def test_a_call_goes_on_in_a_new_session(serve: Serve, ended: Ended) -> None:
    async with serve(resume_s=5) as gateway:
        async with AudioHook(gateway.port, CALL) as hook:
            await hook.speak(CALLER[:4000], AGENT[:4000], paced=True)
            await hook.die()
        await asyncio.sleep(0.3)
        continued = [{"id": hook.session, "serverseq": hook.serverseq, "clientseq": hook.seq}]
        async with AudioHook(gateway.port, CALL, continuedSessions=continued) as again:
            await again.speak(CALLER[:4000], AGENT[:4000], paced=True)
        call = await ended(f"genesys-{CALL}")
    assert call.seconds(0) == pytest.approx(1.3, abs=0.2)
    assert pitch(call.between(0, 0.52, 0.78)) == 0
    assert pitch(call.pcm(1)[-4000:]) == pytest.approx(AGENT_HZ, abs=5)


async def test_a_close_for_reconnect_keeps_the_call(serve: Serve, ended: Ended, bus: Recorder) -> None:
    async with serve(resume_s=5) as gateway:
        async with AudioHook(gateway.port, CALL) as hook:
            await hook.speak(CALLER, AGENT)
            await hook.close("reconnect")
        assert hear(bus.events)[f"genesys-{CALL}"].ended is None
        async with AudioHook(gateway.port, CALL, continuedSessions=[{"id": hook.session}]) as again:
            await again.speak(CALLER, AGENT)
        call = await ended(f"genesys-{CALL}")
    assert call.starts == 2
    assert call.seconds(0) >= 2.0


async def test_a_continuation_of_a_call_we_never_heard(serve: Serve, ended: Ended) -> None:
    before = str(uuid.uuid4())
    async with serve() as gateway:
        async with AudioHook(gateway.port, CALL, continuedSessions=[{"id": before}]) as hook:
            await hook.speak(CALLER, AGENT)
        await ended(f"genesys-{CALL}-{hook.session[:8]}")


async def test_a_second_agent_in_a_conversation_is_a_call_of_its_own(serve: Serve, ended: Ended) -> None:
    async with serve() as gateway, AudioHook(gateway.port, CALL) as first:
        async with AudioHook(gateway.port, CALL) as second:
            await second.speak(CALLER, AGENT)
        await first.speak(AGENT, CALLER)
        await first.close()
        assert (await ended(f"genesys-{CALL}-{second.session[:8]}")).seconds(0) == 1.0
        assert (await ended(f"genesys-{CALL}")).seconds(0) == 1.0


async def test_another_organisation_does_not_come_into_a_conversation(serve: Serve, ended: Ended) -> None:
    keys = {name: base64.b64encode(name.encode() * 8).decode() for name in ("ours", "theirs")}
    async with serve(insecure=False, genesys_keys=keys) as gateway:
        async with AudioHook(gateway.port, CALL, key="ours", secret=b"ours" * 8) as hook:
            await hook.speak(CALLER, AGENT)
            continued = [{"id": hook.session, "serverseq": hook.serverseq, "clientseq": hook.seq}]
            async with AudioHook(
                gateway.port, CALL, key="theirs", secret=b"theirs" * 8, continuedSessions=continued
            ) as other:
                await other.speak(AGENT, CALLER)
            await hook.speak(CALLER, AGENT)
        name = hashlib.sha256(b"ours").hexdigest()[:6]
        assert (await ended(f"genesys-{CALL}-{name}")).seconds(0) == 2.0


async def refused_with(hook: AudioHook) -> dict[str, Any]:
    """The disconnect, after which the platform closes in good order."""
    parameters = await hook.expect("disconnect")
    await hook.send("close", {"reason": "disconnect"})
    await hook.expect("closed")
    with pytest.raises(ConnectionClosed):
        await hook.socket.recv()
    return parameters


async def test_claimed_silence_does_not_run_ahead_of_the_clock(serve: Serve) -> None:
    async with serve() as gateway:
        hook = AudioHook(gateway.port, CALL)
        await hook.dial()
        await hook.open()
        for second in range(3):  # each alone could be
            await hook.send("discarded", {"start": f"PT{second}S", "discarded": "PT50S"})
            if second < 2:
                await hook.speak(CALLER[:800], AGENT[:800])
        assert "discarded" in (await refused_with(hook))["info"]


@pytest.mark.parametrize(
    ("envelope", "info"),
    [
        ({"seq": 7}, "seq"),
        ({"serverseq": 99}, "serverseq"),
        ({"id": "another"}, "session"),
        ({"version": "1"}, "version"),
        ({"type": "sing"}, "type"),
        ({"type": "open"}, "second open"),
        ({"parameters": {"start": "PT1S", "discarded": "5 s"}, "type": "discarded"}, "duration"),
        ({"parameters": {"start": "PT1S", "discarded": "PT9999H"}, "type": "discarded"}, "discarded"),
        ({"parameters": [], "type": "resumed"}, "object"),
    ],
)
async def test_errors_get_a_disconnect(serve: Serve, ended: Ended, envelope: dict[str, Any], info: str) -> None:
    async with serve() as gateway, AudioHook(gateway.port, CALL) as hook:
        await hook.speak(CALLER, AGENT)
        if envelope.get("type") == "open":
            envelope = {**envelope, "parameters": {"organizationId": "", "conversationId": CALL, "media": []}}
        await hook.send("ping", {}, envelope)
        parameters = await refused_with(hook)
        call = await ended(f"genesys-{CALL}")
    assert parameters["reason"] == "error"
    assert info in parameters["info"]
    assert call.ended is not None
    assert call.ended.failed
    assert call.seconds(0) == 1.0


@pytest.mark.parametrize("garbage", ["{", "[]", "x" * 70_000, json.dumps({"version": "2"})])
async def test_garbage_gets_a_disconnect(serve: Serve, bus: Recorder, garbage: str) -> None:
    async with serve() as gateway:
        hook = AudioHook(gateway.port, CALL)
        hook.session = ""
        await hook.dial()
        await hook.socket.send(garbage)
        assert (await hook.expect("disconnect"))["reason"] == "error"
    assert not bus.events


async def test_audio_before_open_is_an_error(serve: Serve) -> None:
    async with serve() as gateway:
        hook = AudioHook(gateway.port, CALL)
        hook.session = ""
        await hook.dial()
        await hook.socket.send(b"\xff" * 1600)
        assert "audio" in (await hook.expect("disconnect"))["info"]


async def test_another_organization_is_unauthorized(serve: Serve, bus: Recorder) -> None:
    async with serve(**SIGNED) as gateway:
        hook = AudioHook(gateway.port, CALL, key=KEY, secret=SECRET, organizationId=str(uuid.uuid4()))
        await hook.dial()
        await hook.send("open", hook._opening)
        assert (await hook.expect("disconnect"))["reason"] == "unauthorized"
    assert not bus.events


async def test_too_many_calls_are_told_so(serve: Serve) -> None:
    async with serve(max_calls=1) as gateway, AudioHook(gateway.port, CALL):
        hook = AudioHook(gateway.port, str(uuid.uuid4()))
        await hook.dial()
        await hook.send("open", hook._opening)
        assert "max_calls" in (await hook.expect("disconnect"))["info"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"created": int(time.time()) - 60},
        {"created": int(time.time()) + 3600},
        {"nonce": "tooshort"},
        {"keyid": "another"},
        {"secret": b"another secret"},
        {"key": "unknown"},
        {"covered": COVERED[1:]},
        {"authority": "evil.example.com"},
    ],
)
async def test_bad_signatures_are_refused(serve: Serve, wrong: dict[str, Any]) -> None:
    async with serve(**SIGNED) as gateway:
        session = str(uuid.uuid4())
        given = {"authority": f"127.0.0.1:{gateway.port}", "key": KEY, "secret": SECRET, "session": session} | wrong
        with pytest.raises(InvalidStatus) as refused:
            await AudioHook(gateway.port, CALL, headers=signed_headers(**given)).dial()
    assert refused.value.response.status_code == 403


async def test_a_signature_is_good_for_one_use(serve: Serve) -> None:
    async with serve(**SIGNED) as gateway:
        headers = signed_headers(f"127.0.0.1:{gateway.port}", KEY, SECRET, str(uuid.uuid4()))
        await AudioHook(gateway.port, CALL, headers=headers).dial()
        with pytest.raises(InvalidStatus) as refused:
            await AudioHook(gateway.port, CALL, headers=headers).dial()
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize("headers", [{}, {"Signature": "sig1=:AA==:", "Signature-Input": "sig1=("}])
async def test_unsigned_sessions_are_refused(serve: Serve, headers: dict[str, str]) -> None:
    async with serve(**SIGNED) as gateway:
        with pytest.raises(InvalidStatus) as refused:
            await AudioHook(gateway.port, CALL, headers=headers).dial()
    assert refused.value.response.status_code == 403


def test_the_example_of_the_platforms_documentation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers Genesys publishes for people who write servers."""
    headers = {
        "host": "audiohook.example.com",
        "audiohook-organization-id": "d7934305-0972-4844-938e-9060eef73d05",
        "audiohook-session-id": "30b0e395-84d3-4570-ac13-9a62d8f514c0",
        "audiohook-correlation-id": "e160e428-53e2-487c-977d-96989bf5c99d",
        "x-api-key": KEY,
        "signature": "sig1=:NZBwyBHRRyRoeLqy1IzOa9VYBuI8TgMFt2GRDkDuJh4=:",
        "signature-input": 'sig1=("@request-target" "@authority" "audiohook-organization-id" "audiohook-session-id"'
        f' "audiohook-correlation-id" "x-api-key");keyid="{KEY}";nonce="VGhpc0lzQVVuaXF1ZU5vbmNl";alg="hmac-sha256"'
        ";created=1641013200;expires=3282026430",
    }
    scope = {
        "type": "websocket",
        "path": "/api/v1/voicebiometrics/ws",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    keys = {KEY: SecretStr("TXlTdXBlclNlY3JldEtleVRlbGxOby0xITJAMyM0JDU=")}
    monkeypatch.setattr("ingest.gateway.genesys.signature.time.time", lambda: 1641013205.0)
    signature.check(HTTPConnection(scope), keys, "", signature.Nonces())
    scope["path"] = "/elsewhere"
    with pytest.raises(Unauthorized):
        signature.check(HTTPConnection(scope), keys, "", signature.Nonces())


async def test_transcripts_go_back_to_those_who_ask(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    async with open_bus(settings) as bus, serving(bus) as gateway:
        asking = AudioHook(gateway.port, CALL, customConfig={"transcripts": True})
        async with asking, AudioHook(gateway.port, str(uuid.uuid4())) as quiet:
            await asyncio.sleep(0.3)  # the follower begins at what is new
            final = Transcript(
                call=f"genesys-{CALL}",
                channel=1,
                role="agent",
                utterance="u/1",
                start_ms=1500,
                end_ms=2750,
                text="Good morning.",
                final=True,
                confidence=0.9,
            )
            interim = msgspec.structs.replace(final, utterance="u/~1", text="good", final=False)
            await bus.publish_many(TRANSCRIPTS, [interim, final])
            first = (await asking.expect("event"))["entities"][0]
            second = (await asking.expect("event"))["entities"][0]
            assert len(quiet.heard) == 1, "nobody else is told"
    assert first["type"] == second["type"] == "transcript"
    assert first["data"]["id"] == second["data"]["id"]
    assert (first["data"]["isFinal"], second["data"]["isFinal"]) == (False, True)
    assert second["data"]["channelId"] == "internal"
    assert (second["data"]["offset"], second["data"]["duration"]) == ("PT1.5S", "PT1.25S")
    best = second["data"]["alternatives"][0]
    assert best["confidence"] == 0.9
    assert best["interpretations"] == [{"type": "display", "transcript": "Good morning."}]


@pytest.mark.parametrize(("text", "ms"), [("PT1.5S", 1500), ("PT0S", 0), ("PT1H2M3.25S", 3723250), ("PT5M", 300000)])
def test_durations(text: str, ms: int) -> None:
    assert duration_ms(text) == ms


def test_durations_back() -> None:
    assert [duration(ms) for ms in (0, 20, 1500, 61000)] == ["PT0S", "PT0.02S", "PT1.5S", "PT61S"]
