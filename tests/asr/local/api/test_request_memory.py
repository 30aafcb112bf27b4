"""What arrives takes no more memory than it may, and those who behave notice nothing of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import grpc
import pytest
import riva.client
from riva.client.proto import riva_asr_pb2 as pb
from riva.client.proto import riva_asr_pb2_grpc

from asr.local.api.request_memory import LARGEST_CHUNK, LARGEST_MESSAGE, allocated
from tests.asr.local.conftest import Running, running
from tests.asr.local.half_sent import HalfSent
from tests.asr.local.scripted import ScriptedRecognizer, speech

RECOGNIZE = "/nvidia.riva.asr.RivaSpeechRecognition/Recognize"
STREAM = "/nvidia.riva.asr.RivaSpeechRecognition/StreamingRecognize"
MEMORY_MB = 64
MB = 1 << 20
CONFIG = pb.RecognitionConfig(sample_rate_hertz=16000, encoding=1)


@pytest.fixture
def server() -> Iterator[Running]:
    with running(ScriptedRecognizer(), request_memory_mb=MEMORY_MB) as started:
        yield started


def live(server: Running, seconds: float) -> str:
    """Somebody who speaks meanwhile, and what was heard of them."""

    def said() -> Iterator[Any]:
        yield pb.StreamingRecognizeRequest(streaming_config=pb.StreamingRecognitionConfig(config=CONFIG))
        audio = speech(5).tobytes()
        for start in range(0, len(audio), 3200):
            yield pb.StreamingRecognizeRequest(audio_content=audio[start : start + 3200])
            time.sleep(seconds * 3200 / len(audio))

    with server.channel() as channel:
        stub = riva_asr_pb2_grpc.RivaSpeechRecognitionStub(channel)
        answers = list(stub.StreamingRecognize(said(), timeout=60))
    finals = [result for answer in answers for result in answer.results if result.is_final]
    return str(finals[-1].alternatives[0].transcript).strip()


@pytest.mark.slow
def test_messages_that_never_end_take_no_more_than_the_memory_for_requests(server: Running) -> None:
    before = allocated()
    with ThreadPoolExecutor() as elsewhere, ExitStack() as stack:
        speaking = elsewhere.submit(live, server, 6.0)
        calls = [stack.enter_context(HalfSent(server.server.port, STREAM, 100 * MB)) for _ in range(10)]
        for call in calls:
            call.send(40 * MB, within_s=5)
        until = time.monotonic() + 20
        while allocated() - before > MEMORY_MB * MB and time.monotonic() < until:
            time.sleep(0.1)
        assert allocated() - before < MEMORY_MB * MB
        for call in calls:
            call.listen(0.2)
        assert sum(b"grpc-status\x018" in call.answer for call in calls) >= 8, "RESOURCE_EXHAUSTED"
        assert speaking.result() == "what is natural language processing"


def test_a_message_that_says_that_it_is_too_large_is_refused_before_it_comes(server: Running) -> None:
    """gRPC's part: our limits rest on it."""
    for method in (RECOGNIZE, STREAM):
        with HalfSent(server.server.port, method, LARGEST_MESSAGE + MB) as call:
            call.send(40 * MB, within_s=5)
            assert b"grpc-status\x018" in call.answer
            assert call.sent < 8 * MB


def test_recordings_wait_until_there_is_room_for_them(server: Running) -> None:
    """As Riva's clients send them: whole, and several at once."""
    audio = speech(5, silence_ms=250_000).tobytes()
    assert len(audio) > 7 * MB
    service = riva.client.ASRService(server.auth())
    with HalfSent(server.server.port, RECOGNIZE, 100 * MB) as first:
        first.send(MB, within_s=5)
        with ThreadPoolExecutor(4) as clients:
            asked = [clients.submit(service.offline_recognize, audio, CONFIG) for _ in range(4)]
            time.sleep(0.5)
            assert not any(one.done() for one in asked), "the room is taken"
            first.__exit__()
            for one in asked:
                found = one.result(timeout=60).results
                assert found[0].alternatives[0].transcript.strip() == "what is natural language processing"


def test_a_whole_recording_is_no_chunk(server: Running) -> None:
    with server.channel() as channel:
        stub = riva_asr_pb2_grpc.RivaSpeechRecognitionStub(channel)
        streaming = pb.StreamingRecognitionConfig(config=CONFIG)
        sent = [
            pb.StreamingRecognizeRequest(streaming_config=streaming),
            pb.StreamingRecognizeRequest(audio_content=bytes(LARGEST_CHUNK + 1)),
        ]
        with pytest.raises(grpc.RpcError) as raised:
            list(stub.StreamingRecognize(iter(sent), timeout=30))
    assert raised.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert raised.value.details() == "a message must not be larger than 4 MB: Recognize takes whole recordings"
