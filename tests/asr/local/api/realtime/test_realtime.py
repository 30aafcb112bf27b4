"""The realtime protocol with the clients that ship in the Riva wheel."""

from __future__ import annotations

import argparse
import asyncio
import base64
import contextlib
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import numpy as np
import pytest
import websockets
from riva.client.argparse_utils import add_asr_config_argparse_parameters, add_connection_argparse_parameters
from riva.client.argparse_utils import add_realtime_config_argparse_parameters as add_realtime
from riva.client.realtime import RealtimeClientASR, RealtimeClientTTS

from asr.local.api.realtime.client_secrets import ClientSecrets
from asr.local.api.request_memory import LARGEST_CHUNK
from tests.asr.local import recordings
from tests.asr.local.api.test_synthesis import TEXT, ToneVoice
from tests.asr.local.conftest import Running, running
from tests.asr.local.scripted import ScriptedRecognizer, speech

CALL = np.concatenate([speech(5, silence_ms=900), speech(3, silence_ms=100)])


@pytest.fixture
def server(recognizer: ScriptedRecognizer) -> Iterator[Running]:
    with running(recognizer, ToneVoice(), http_port=0) as started:
        yield started


def arguments(server: Running, *flags: str) -> argparse.Namespace:
    """What the official scripts parse."""
    parser = add_connection_argparse_parameters(argparse.ArgumentParser())
    parser = add_asr_config_argparse_parameters(parser, True, True, True)
    parser = add_realtime(parser)
    parser.add_argument("--mic", action="store_true")
    parser.add_argument("--sample-rate-hz", type=int, default=16000)
    parser.add_argument("--num-channels", type=int, default=1)
    parser.add_argument("--voice")
    parser.add_argument("--encoding", default="LINEAR_PCM")
    parsed: argparse.Namespace = parser.parse_args(["--server", server.http, *flags])
    return parsed


async def transcribe(args: argparse.Namespace, data: bytes, force: list[bool] | None = None) -> Any:
    client = RealtimeClientASR(args)
    await client.connect()
    chunks = [data[start : start + 3200] for start in range(0, len(data), 3200)]
    try:
        await asyncio.gather(client.send_audio_chunks(chunks, force), asyncio.wait_for(client.receive_responses(), 10))
    finally:
        await client.disconnect()
    return client


@pytest.mark.parametrize("rate", [16000, 48000])
async def test_a_file_with_its_header(server: Running, rate: int) -> None:
    samples = np.concatenate([speech(5, rate, silence_ms=900), speech(3, rate, silence_ms=100)])
    client = await transcribe(arguments(server, "--automatic-punctuation"), recordings.wav(samples, rate))
    assert client.final_transcript == "What is natural language processing? What is natural? "


async def test_a_microphone(
    server: Running, recognizer: ScriptedRecognizer, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--mic", "--sample-rate-hz", "8000", "--word-time-offsets", "--boosted-lm-words", "NetApp"]
    flags += ["--stop-history", "640", "--custom-configuration", "stop_history_eou:320", "--no-verbatim-transcripts"]
    client = await transcribe(arguments(server, *flags), speech(2, 8000).tobytes())
    assert client.final_transcript == "what is "
    [request] = recognizer.options
    assert (request.rate, request.boosts[0].phrase, request.verbatim) == (8000, "NetApp", False)
    assert (request.endpointing.stop_history_ms, request.endpointing.stop_history_eou_ms) == (640, 320)
    assert "Words Info:" in capsys.readouterr().out


async def test_forced_ends(server: Running, recognizer: ScriptedRecognizer) -> None:
    force = [False] * 3 + [True] + [False] * 4
    client = await transcribe(arguments(server, "--mic"), speech(4).tobytes(), force)
    assert client.final_transcript == "what is what is "
    assert recognizer.open == 0


async def conversation(server: Running, *events: dict[str, Any], intent: str = "transcription") -> list[Any]:
    """Everything the server says until it closes the socket."""
    received: list[Any] = []
    async with websockets.connect(f"ws://{server.http}/v1/realtime?intent={intent}") as socket:
        for event in events:
            await socket.send(json.dumps(event))
        with contextlib.suppress(websockets.ConnectionClosed):
            while True:
                received.append(json.loads(await socket.recv()))
    return received


async def test_the_order_of_events(server: Running) -> None:
    audio = {"type": "input_audio_buffer.append", "audio": base64.b64encode(CALL.tobytes()).decode()}
    events = await conversation(
        server,
        {"type": "transcription_session.update", "session": {"recognition_config": {"max_alternatives": 2}}},
        {"type": "something.unknown"},
        audio,
        {"type": "input_audio_buffer.commit"},
        {"type": "input_audio_buffer.done"},
    )
    kinds = [event["type"].removeprefix("conversation.item.input_audio_transcription.") for event in events]
    assert kinds == [
        "conversation.created",
        "transcription_session.updated",
        "input_audio_buffer.committed",
        "completed",
        "delta",
        "input_audio_buffer.committed",
        "completed",
        "completed",
    ]
    items = [event["item_id"] for event in events if event["type"].endswith(("delta", "completed"))]
    assert (len(set(items)), items[1] == items[2]) == (3, True)
    assert events[1]["session"]["recognition_config"]["max_alternatives"] == 2
    assert events[1]["session"]["input_audio_transcription"]["model"] == "whisper-tiny-en-US-asr-streaming"
    assert [event["is_last_result"] for event in events if "is_last_result" in event] == [False, False, True]
    assert events[-1]["transcript"] == "what is natural language processing what is natural "


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({"session": {"input_audio_transcription": {"language": "ru-RU"}}}, "Unavailable model requested"),
        ({"session": {"input_audio_format": "mp3"}}, "input_audio_format"),
        ({"session": {"recognition_config": {"max_alternatives": "many"}}}, "max_alternatives"),
        ({"session": {"endpointing_config": {"stop_threshold": 5}}}, "stop_threshold"),
        ({"session": []}, "session must be an object"),
        ({"session": {"word_boosting": 3}}, "session"),
        ({"type": "input_audio_buffer.append", "audio": "?"}, "base64"),
        ({"type": "input_audio_buffer.append", "audio": 7}, "audio must be a string"),
    ],
)
async def test_what_is_wrong_is_said_before_the_socket_closes(
    server: Running, event: dict[str, Any], said: str
) -> None:
    events = await conversation(server, {"type": "transcription_session.update", **event})
    assert events[-1]["type"] == "error"
    assert said in events[-1]["error"]["message"]


async def test_the_cap_and_idleness_hold_here_too(recognizer: ScriptedRecognizer) -> None:
    with running(recognizer, http_port=0, max_streams=1, idle_s=0.3) as server:
        async with websockets.connect(f"ws://{server.http}/v1/realtime?intent=transcription") as first:
            assert json.loads(await first.recv())["type"] == "conversation.created"
            [refused] = await conversation(server)
            assert refused["error"]["code"] == "RESOURCE_EXHAUSTED"
            assert refused["error"]["retry_after_ms"] == "1000"
            assert json.loads(await first.recv())["error"]["message"] == "no audio received for 0.3 s"
        assert (await conversation(server))[0]["type"] == "conversation.created"


async def test_an_engine_that_fails_is_an_internal_error(server: Running, recognizer: ScriptedRecognizer) -> None:
    recognizer.failure = ValueError("secret words")
    audio = {"type": "input_audio_buffer.append", "audio": base64.b64encode(bytes(3200)).decode()}
    events = await conversation(server, audio, {"type": "input_audio_buffer.commit"})
    assert events[-1]["error"]["message"] == "internal error: ValueError"
    assert recognizer.open == 0


async def test_stopping_tells_realtime_clients(server: Running) -> None:
    async with websockets.connect(f"ws://{server.http}/v1/realtime") as socket:
        await socket.recv()
        await asyncio.to_thread(server.call, server.server.stop(0.1))
        assert json.loads(await socket.recv())["error"]["code"] == "UNAVAILABLE"


async def synthesize(args: argparse.Namespace, texts: list[str | None]) -> bytes:
    async def generate() -> AsyncIterator[str | None]:
        for text in texts:
            yield text

    client = RealtimeClientTTS(args)
    audio: list[bytes] = []
    await client.connect()
    try:
        await asyncio.gather(client.send_text(generate()), asyncio.wait_for(client.receive_audio(audio), 10))
    finally:
        await client.disconnect()
    assert not client.error_occurred
    return b"".join(audio)


async def test_speech(server: Running) -> None:
    flags = ["--query-params", "intent=synthesize", "--language-code", "en-US", "--voice", "English-US.Female-1"]
    audio = await synthesize(arguments(server, *flags), [TEXT, None, "Good", "bye.", None])
    assert len(audio) == 2 * 160 * (len(TEXT) + len("Goodbye.") - 1)
    listed = await asyncio.to_thread(RealtimeClientTTS(arguments(server)).list_voices)
    assert listed["en-US"] == {"voices": ["English-US.Female-1"]}


@pytest.mark.parametrize(
    ("session", "said"),
    [
        ({"input_text_synthesis": {"voice_name": "foo"}}, "Voice foo for language en-US not found"),
        ({"output_audio_params": {"audio_format": "WAV"}}, "WAV"),
        ({"output_audio_params": {"sample_rate_hz": 1}}, "sample_rate_hz"),
        ({"custom_dictionary": {"a": "b"}}, "custom_dictionary"),
    ],
)
async def test_speech_that_cannot_be(server: Running, session: dict[str, Any], said: str) -> None:
    events = await conversation(server, {"type": "synthesize_session.update", "session": session}, intent="synthesize")
    assert said in events[-1]["error"]["message"]


async def test_the_key_opens_the_session_and_its_ticket_the_socket(recognizer: ScriptedRecognizer) -> None:
    with running(recognizer, http_port=0, api_key="sesame") as server:
        client = await transcribe(arguments(server, "--mint-api-key", "sesame"), recordings.wav(CALL))
        assert client.final_transcript
        for wrong in ([], ["--mint-api-key", "wrong"]):
            with pytest.raises(Exception, match="HTTP 401: a valid API key is needed"):
                await RealtimeClientASR(arguments(server, *wrong)).connect()
        with pytest.raises(websockets.InvalidStatus):
            await websockets.connect(f"ws://{server.http}/v1/realtime?intent=transcription")
        forged = websockets.Subprotocol("realtime-token.9999999999.abc")
        with pytest.raises(websockets.InvalidStatus):
            await websockets.connect(f"ws://{server.http}/v1/realtime", subprotocols=[forged])


def test_secrets_expire_and_cannot_be_altered(monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = ClientSecrets()
    secret, expires = secrets.issue()
    assert secrets.is_valid(secret)
    assert not ClientSecrets().is_valid(secret)
    assert not secrets.is_valid(secret.replace(str(expires), str(expires + 1)))
    assert not secrets.is_valid("")
    monkeypatch.setattr("time.time", lambda: expires + 1)
    assert not secrets.is_valid(secret)


async def test_health_over_http() -> None:
    with running(None, http_port=0) as server:
        async with httpx.AsyncClient(base_url=f"http://{server.http}") as client:
            loading = await client.get("/v1/health/ready")
            assert (loading.status_code, loading.json()) == (503, {"status": "not ready"})
            assert (await client.get("/v1/health/live")).json() == {"status": "live"}
            assert (await client.post("/v1/realtime/transcription_sessions")).status_code == 503

            async def wake() -> None:
                server.server.open(ScriptedRecognizer())

            await asyncio.to_thread(server.call, wake())
            ready = await client.get("/v1/health/ready")
            assert (ready.status_code, ready.json()) == (200, {"status": "ready"})
            session = (await client.post("/v1/realtime/transcription_sessions", json={})).json()
            assert session["id"].startswith("sess_")
            assert session["object"] == "realtime.transcription_session"


async def test_a_socket_takes_little_memory_whatever_is_sent(server: Running) -> None:
    address = f"ws://{server.http}/v1/realtime?intent=transcription"
    async with websockets.connect(address) as socket:
        await socket.recv()
        await socket.send("x" * (LARGEST_CHUNK + 1))
        with pytest.raises(websockets.ConnectionClosedError) as closed:
            await socket.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009
    event = json.dumps({"type": "input_audio_buffer.append", "audio": base64.b64encode(bytes(1 << 20)).decode()})
    async with websockets.connect(address) as socket:
        await socket.recv()
        for _ in range(LARGEST_CHUNK // (1 << 20) + 1):
            await socket.send(event)
        while (told := json.loads(await socket.recv()))["type"] != "error":
            pass
    assert told["error"]["message"] == "more than 4 MiB of audio were appended without a commit"
