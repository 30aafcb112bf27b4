"""Every row of Riva's error table, by code and by text."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import numpy as np
import pytest
import riva.client
from riva.client.proto import riva_asr_pb2 as pb
from riva.client.proto import riva_asr_pb2_grpc

from tests.asr.local import recordings
from tests.asr.local.conftest import Running
from tests.asr.local.scripted import ScriptedRecognizer, speech

INVALID = grpc.StatusCode.INVALID_ARGUMENT
STEREO = recordings.wav(np.zeros((1600, 2), np.int16))


@pytest.fixture
def stub(riva_server: Running) -> Iterator[Any]:
    with riva_server.channel() as channel:
        yield riva_asr_pb2_grpc.RivaSpeechRecognitionStub(channel)


def first(**fields: Any) -> Any:
    return pb.StreamingRecognizeRequest(
        streaming_config=pb.StreamingRecognitionConfig(config=pb.RecognitionConfig(**fields))
    )


def audio(data: bytes = bytes(3200)) -> Any:
    return pb.StreamingRecognizeRequest(audio_content=data)


def streaming_error(stub: Any, *requests: Any) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.RpcError) as raised:
        list(stub.StreamingRecognize(iter(requests), timeout=20))
    return raised.value.code(), raised.value.details()


def offline_error(stub: Any, data: bytes, **fields: Any) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.RpcError) as raised:
        stub.Recognize(pb.RecognizeRequest(config=pb.RecognitionConfig(**fields), audio=data), timeout=20)
    return raised.value.code(), raised.value.details()


def test_e1_a_language_that_is_not_served(stub: Any) -> None:
    code, text = streaming_error(stub, first(language_code="ru-RU", sample_rate_hertz=16000), audio())
    assert code is INVALID
    assert text.startswith(
        "Error: Unavailable model requested given these parameters: "
        "language_code=ru-RU; sample_rate=16000; type=online; "
    )
    assert "Available: whisper-tiny-en-US-asr-streaming, whisper-tiny-en-US-asr-offline" in text
    assert "type=offline; " in offline_error(stub, bytes(320), language_code="ru-RU")[1]


@pytest.mark.parametrize("model", ["conformer", "whisper-tiny-en-US-asr-offline"])
def test_e1_a_model_that_is_not_served_for_streams(stub: Any, model: str) -> None:
    code, text = streaming_error(stub, first(model=model), audio())
    assert code is INVALID
    assert text.startswith("Error: Unavailable model requested given these parameters: ")
    assert f"model={model}; " in text


@pytest.mark.parametrize("fields", [{"sample_rate_hertz": 8000}, {"encoding": 3}, {"encoding": 2}])
def test_e2_a_header_that_contradicts_the_configuration(stub: Any, fields: dict[str, int]) -> None:
    text = "Error: config format doesn't match with header format"
    data = recordings.wav(speech(1))
    assert streaming_error(stub, first(**fields), audio(data)) == (INVALID, text)
    assert offline_error(stub, data, **fields) == (INVALID, text)


def test_e3_the_order_of_messages(stub: Any) -> None:
    assert streaming_error(stub, audio()) == (INVALID, "first message must contain streaming_config")
    assert streaming_error(stub) == (INVALID, "no messages received")
    code, text = streaming_error(stub, first(), audio(), first())
    assert (code, "streaming_config" in text) == (INVALID, True)


@pytest.mark.parametrize("rate", [4000, 96001, -1])
def test_e4_a_rate_nobody_can_hear(stub: Any, rate: int) -> None:
    text = f"sample_rate_hertz must be between 8000 and 96000, got {rate}"
    assert streaming_error(stub, first(sample_rate_hertz=rate)) == (INVALID, text)
    assert offline_error(stub, bytes(320), sample_rate_hertz=rate) == (INVALID, text)


def test_e4_in_a_header(stub: Any) -> None:
    assert "sample_rate_hertz" in offline_error(stub, recordings.wav(speech(1), 192000))[1]


def test_e5_encodings(stub: Any) -> None:
    assert streaming_error(stub, first(encoding=9))[0] is INVALID
    assert streaming_error(stub, first(), audio(b"fLaC" + bytes(100)))[0] is INVALID
    code, text = streaming_error(stub, first(encoding=4), audio())
    assert (code, text) == (INVALID, "undecodable audio: OGGOPUS was announced, but this is not it")


def test_e6_stereo(stub: Any) -> None:
    mono = (INVALID, "Only mono audio supported.")
    assert streaming_error(stub, first(audio_channel_count=2)) == mono
    assert streaming_error(stub, first(), audio(STEREO)) == mono
    assert offline_error(stub, STEREO) == mono


def test_e7_nothing_to_recognise(stub: Any) -> None:
    assert offline_error(stub, b"") == (INVALID, "empty audio")
    assert offline_error(stub, recordings.wav(np.empty(0, np.int16))) == (INVALID, "empty audio")


def test_e8_ears_that_are_full(stub: Any, recognizer: ScriptedRecognizer) -> None:
    recognizer.full = True
    call = stub.StreamingRecognize(iter([first(), audio()]), timeout=20)
    with pytest.raises(grpc.RpcError) as raised:
        list(call)
    assert raised.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert dict(call.trailing_metadata())["retry-after-ms"] == "250"


def test_e9_a_message_over_128_mib(stub: Any) -> None:
    code, text = offline_error(stub, bytes(129 * 1024 * 1024))
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "larger than max" in text


def test_e12_an_engine_that_fails_ends_one_request_only(
    stub: Any, riva_server: Running, recognizer: ScriptedRecognizer
) -> None:
    recognizer.failure = ValueError("what the caller said")
    code, text = streaming_error(stub, first(), audio())
    assert (code, text) == (grpc.StatusCode.INTERNAL, "internal error: ValueError")
    assert offline_error(stub, bytes(320))[0] is grpc.StatusCode.INTERNAL
    assert recognizer.open == 0
    recognizer.failure = None
    assert riva.client.ASRService(riva_server.auth()).offline_recognize(bytes(320), pb.RecognitionConfig()).results


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"endpointing_config": pb.EndpointingConfig(stop_history=100)}, "stop_history"),
        ({"endpointing_config": pb.EndpointingConfig(stop_history=10_001)}, "stop_history"),
        ({"endpointing_config": pb.EndpointingConfig(stop_threshold=1.5)}, "stop_threshold"),
        ({"endpointing_config": pb.EndpointingConfig(start_threshold=-0.1)}, "start_threshold"),
        ({"endpointing_config": pb.EndpointingConfig(stop_threshold_eou=7)}, "stop_threshold_eou"),
        ({"endpointing_config": pb.EndpointingConfig(stop_history=400, stop_history_eou=400)}, "stop_history_eou"),
        ({"custom_configuration": {"max_utterance_ms": "long"}}, "max_utterance_ms"),
        ({"custom_configuration": {"stop_history_eou": "-4"}}, "stop_history_eou"),
        ({"max_alternatives": -1}, "max_alternatives"),
        ({"audio_channel_count": -1}, "audio_channel_count"),
        (
            {"diarization_config": pb.SpeakerDiarizationConfig(enable_speaker_diarization=True, max_speaker_count=-1)},
            "diarization_config.max_speaker_count",
        ),
    ],
)
def test_a_configuration_that_cannot_be_served_names_the_field(stub: Any, fields: dict[str, Any], named: str) -> None:
    code, text = streaming_error(stub, first(**fields))
    assert code is INVALID
    assert named in text


def test_parallel_streams_do_not_know_of_each_other(stub: Any) -> None:
    """Eight on one channel, each with audio and wishes of its own."""

    def recognized(words: int) -> list[str]:
        said = speech(words).tobytes()
        pieces = [audio(said[start : start + 999]) for start in range(0, len(said), 999)]
        config = first(enable_automatic_punctuation=words % 2 == 0)
        call = stub.StreamingRecognize(iter([config, *pieces]), timeout=20)
        return [result.alternatives[0].transcript for answer in call for result in answer.results]

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(recognized, range(1, 9)))
    assert answers[:4] == [["what "], ["What is? "], ["what is natural "], ["What is natural language? "]]
    assert [len(answer[0].split()) for answer in answers] == list(range(1, 9))
