"""Requests that nobody sends by mistake: each is refused by itself, in Riva's words, and the next call is served."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
import websockets
from riva.client.proto import health_pb2, health_pb2_grpc, riva_asr_pb2_grpc, riva_tts_pb2, riva_tts_pb2_grpc
from riva.client.proto import riva_asr_pb2 as pb

from asr.local.api.auth import MOST_HEALTH_CALLS
from asr.local.api.recognition_config import LONGEST_PHRASE, MOST_CUSTOM, MOST_PHRASES
from asr.local.errors import LONGEST_TEXT
from tests.asr.local.conftest import Running, running
from tests.asr.local.scripted import ScriptedRecognizer, speech

INVALID = grpc.StatusCode.INVALID_ARGUMENT
RECOGNIZE = "/nvidia.riva.asr.RivaSpeechRecognition/Recognize"
IDLE_S = 1.0


@pytest.fixture(scope="module")
def impatient() -> Iterator[Running]:
    with running(ScriptedRecognizer(), idle_s=IDLE_S, max_streams=4, max_syntheses=2) as server:
        yield server


def first(**fields: Any) -> Any:
    return pb.StreamingRecognizeRequest(
        streaming_config=pb.StreamingRecognitionConfig(config=pb.RecognitionConfig(**fields))
    )


def slowly(*messages: Any, every_s: float = 0.2, count: int = 100) -> Iterator[Any]:
    yield from messages[:-1]
    for _ in range(count):
        yield messages[-1]
        time.sleep(every_s)


def is_served(server: Running) -> bool:
    with server.channel() as channel:
        stub = riva_asr_pb2_grpc.RivaSpeechRecognitionStub(channel)
        config = pb.RecognitionConfig(sample_rate_hertz=16000, encoding=1)
        return bool(stub.Recognize(pb.RecognizeRequest(config=config, audio=speech(1).tobytes()), timeout=20).results)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"max_alternatives": 2**31 - 1}, "max_alternatives must be between 0 and 30"),
        ({"max_alternatives": -1}, "max_alternatives must be between 0 and 30"),
        ({"speech_contexts": [{"phrases": ["a"] * (MOST_PHRASES + 1)}]}, "speech_contexts must not hold more than"),
        ({"speech_contexts": [{"phrases": ["a" * (LONGEST_PHRASE + 1)]}]}, "phrases must not be longer than"),
        ({"speech_contexts": [{"phrases": ["a"], "boost": float("nan")}]}, "boost must be a number, got nan"),
        ({"speech_contexts": [{"phrases": ["a"], "boost": float("inf")}]}, "boost must be a number, got inf"),
        ({"custom_configuration": {"context": "a" * MOST_CUSTOM}}, "custom_configuration must not be longer than"),
        ({"custom_configuration": {"known_ms": "9" * 4000}}, "custom_configuration known_ms must be a whole number"),
        ({"custom_configuration": {"stop_history_eou": "-" + "9" * 400}}, "stop_history_eou must be a whole number"),
        ({"custom_configuration": {"max_utterance_ms": "nan"}}, "max_utterance_ms must be a whole number"),
        ({"endpointing_config": {"start_threshold": float("nan")}}, "start_threshold must be between 0 and 1, got nan"),
        ({"endpointing_config": {"stop_history": -(2**31)}}, "stop_history must be between"),
        ({"diarization_config": {"enable_speaker_diarization": True, "max_speaker_count": 2**31 - 1}}, "between 0 and"),
        ({"model": "m" * 3_000_000}, "Error: Unavailable model requested given these parameters: "),
    ],
)
def test_a_configuration_that_asks_for_too_much(impatient: Running, fields: dict[str, Any], said: str) -> None:
    with impatient.channel() as channel:
        stub = riva_asr_pb2_grpc.RivaSpeechRecognitionStub(channel)
        with pytest.raises(grpc.RpcError) as raised:
            list(stub.StreamingRecognize(iter([first(**fields)]), timeout=30))
    assert raised.value.code() is INVALID
    assert said in raised.value.details()
    assert len(raised.value.details()) <= LONGEST_TEXT
    assert is_served(impatient)


def test_messages_without_audio_do_not_keep_a_stream_open(impatient: Running) -> None:
    with impatient.channel() as channel:
        stub = riva_asr_pb2_grpc.RivaSpeechRecognitionStub(channel)
        nothing = pb.StreamingRecognizeRequest(audio_content=b"")
        with pytest.raises(grpc.RpcError) as raised:
            list(stub.StreamingRecognize(slowly(first(sample_rate_hertz=16000, encoding=1), nothing), timeout=30))
    assert (raised.value.code(), raised.value.details()) == (
        grpc.StatusCode.DEADLINE_EXCEEDED,
        "no audio received for 1 s",
    )


def test_syntheses_without_a_text_do_not_keep_their_places(impatient: Running) -> None:
    with impatient.channel() as channel:
        stub = riva_tts_pb2_grpc.RivaSpeechSynthesisStub(channel)
        told = [stub.SynthesizeOnline(_never(), timeout=30) for _ in range(2)]
        for one in told:
            with pytest.raises(grpc.RpcError) as raised:
                list(one)
            assert raised.value.details() == "no text received for 1 s"
    assert len(impatient.server._syntheses) == 0


def _never() -> Iterator[Any]:
    time.sleep(20)
    yield riva_tts_pb2.SynthesizeSpeechRequest()


def test_a_request_that_never_comes_whole_is_ended(impatient: Running) -> None:
    """The official stubs cannot send half a call; on the wire a single message is a stream of one."""
    with impatient.channel() as channel:
        call = channel.stream_unary(RECOGNIZE, lambda one: one, lambda one: one)
        with pytest.raises(grpc.RpcError) as raised:
            call(_never(), timeout=30)
        assert (raised.value.code(), raised.value.details()) == (
            grpc.StatusCode.DEADLINE_EXCEEDED,
            "no request within 1 s",
        )
        with pytest.raises(grpc.RpcError) as raised:
            call(iter(()), timeout=30)
        assert raised.value.code() is INVALID
    assert is_served(impatient)


@pytest.mark.slow
def test_who_connects_and_says_nothing_is_hung_up_on(impatient: Running) -> None:
    with socket.create_connection(("127.0.0.1", impatient.server.port), 30) as silent:
        heard = silent.recv(1 << 16)  # what the server says first
        while heard:
            heard = silent.recv(1 << 16)
    assert is_served(impatient)


def test_hundreds_of_half_open_streams_are_refused_and_the_next_is_served(impatient: Running) -> None:
    with impatient.channel() as channel:
        open_call = channel.stream_stream(
            "/nvidia.riva.asr.RivaSpeechRecognition/StreamingRecognize", lambda one: one, lambda one: one
        )
        calls = [open_call(_never()) for _ in range(200)]
        codes = {call.code() for call in calls}
        assert codes <= {grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.DEADLINE_EXCEEDED}
        assert grpc.StatusCode.RESOURCE_EXHAUSTED in codes
    assert is_served(impatient)


def test_who_watches_health_takes_nobodys_place(impatient: Running) -> None:
    with impatient.channel() as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        watches = [stub.Watch(health_pb2.HealthCheckRequest(), timeout=60) for _ in range(MOST_HEALTH_CALLS)]
        for watch in watches:
            next(watch)
        with pytest.raises(grpc.RpcError) as raised:
            next(stub.Watch(health_pb2.HealthCheckRequest(), timeout=60))
        assert raised.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert is_served(impatient)
        for watch in watches:
            watch.cancel()


async def test_json_of_nothing_but_brackets_is_no_event() -> None:
    with running(ScriptedRecognizer(), http_port=0) as server:
        async with websockets.connect(f"ws://{server.http}/v1/realtime?intent=transcription") as socket:
            assert json.loads(await socket.recv())["type"] == "conversation.created"
            await socket.send("[" * 200_000)
            error = json.loads(await socket.recv())["error"]
    assert (error["code"], error["message"]) == ("INVALID_ARGUMENT", "an event is a JSON object")
