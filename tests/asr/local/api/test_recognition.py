"""StreamingRecognize and Recognize as the official client sees them."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest
import riva.client
from riva.client.proto import riva_asr_pb2 as pb
from riva.client.proto import riva_asr_pb2_grpc
from riva.client.proto.riva_audio_pb2 import AudioEncoding

from asr.local.stt.types import Boost
from tests.asr.local import recordings
from tests.asr.local.conftest import Running
from tests.asr.local.scripted import ScriptedRecognizer, speech

CALL = np.concatenate([speech(5, silence_ms=1000), speech(3, silence_ms=200)])


def chunks(data: bytes, size: int = 3200) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


def config(interim: bool = True, **fields: Any) -> Any:
    return pb.StreamingRecognitionConfig(config=pb.RecognitionConfig(**fields), interim_results=interim)


def stream(server: Running, messages: Iterable[bytes], streaming_config: Any) -> list[Any]:
    return list(riva.client.ASRService(server.auth()).streaming_response_generator(messages, streaming_config))


def finals(responses: list[Any]) -> list[Any]:
    return [result for response in responses for result in response.results if result.is_final]


@pytest.mark.parametrize("rate", [16000, 48000, 8000])
@pytest.mark.parametrize("frames", [1600, 10, 100_000])
def test_the_stock_file_client_needs_no_flags(
    riva_server: Running, tmp_path: Path, recognizer: ScriptedRecognizer, rate: int, frames: int
) -> None:
    """As transcribe_file.py does it: whole file, header included, no encoding, no rate, no language."""
    samples = speech(5, rate, silence_ms=100) if frames == 10 else speech(5, rate, silence_ms=900)
    path = tmp_path / "call.wav"
    path.write_bytes(recordings.wav(samples, rate, extras=recordings.LIST_CHUNK))
    printed = io.StringIO()
    settings = riva.client.StreamingRecognitionConfig(
        config=riva.client.RecognitionConfig(
            language_code="",
            model="",
            max_alternatives=1,
            profanity_filter=False,
            enable_automatic_punctuation=False,
            verbatim_transcripts=True,
            enable_word_time_offsets=False,
        ),
        interim_results=True,
    )
    riva.client.add_word_boosting_to_config(settings, ["AntiBERTa", "ABlooper"], 4.0)
    riva.client.add_speaker_diarization_to_config(settings, False, 3)
    riva.client.add_endpoint_parameters_to_config(settings, -1, -1.0, -1, -1, -1.0, -1.0)
    riva.client.add_custom_configuration_to_config(settings, "")
    with riva.client.AudioChunkFileIterator(path, frames, None) as audio:
        riva.client.print_streaming(
            riva.client.ASRService(riva_server.auth()).streaming_response_generator(audio, settings),
            output_file=printed,
            show_intermediate=True,
        )
    assert "## what is natural language processing " in printed.getvalue()
    assert recognizer.options[0].rate == rate
    assert recognizer.options[0].boosts == (Boost("AntiBERTa", 4.0), Boost("ABlooper", 4.0))


def test_the_stock_offline_client(riva_server: Running, capsys: pytest.CaptureFixture[str]) -> None:
    service = riva.client.ASRService(riva_server.auth())
    response = service.offline_recognize(recordings.wav(CALL), pb.RecognitionConfig(enable_automatic_punctuation=True))
    riva.client.print_offline(response)
    assert "Final transcript: What is natural language processing? What is natural? " in capsys.readouterr().out
    assert [result.channel_tag for result in response.results] == [1, 1]
    assert {round(result.audio_processed, 3) for result in response.results} == {len(CALL) / 16000}
    later = service.offline_recognize(recordings.wav(CALL), pb.RecognitionConfig(), future=True)
    assert later.result() is not None


@pytest.mark.parametrize("interim", [True, False])
@pytest.mark.parametrize("tail_ms", [100, 1500])
@pytest.mark.parametrize("size", [333, 3200, 1_000_000])
def test_one_response_a_message(riva_server: Running, interim: bool, tail_ms: int, size: int) -> None:
    """NVIDIA's measuring client drops its report unless responses == requests or requests + 1."""
    sent = chunks(np.concatenate([CALL, np.zeros(tail_ms * 16, np.int16)]).tobytes(), size)
    responses = stream(riva_server, sent, config(interim))
    last = 1 if tail_ms < 500 else 0
    assert len(responses) == len(sent) + last
    assert [f.alternatives[0].transcript for f in finals(responses)] == [
        "what is natural language processing ",
        "what is natural ",
    ]
    if not interim:
        assert all(result.is_final for response in responses for result in response.results)


def test_the_final_travels_in_the_answer_to_the_chunk_that_brought_it(riva_server: Running) -> None:
    sent = chunks(CALL.tobytes())
    responses = stream(riva_server, sent, config())
    [at] = [place for place, response in enumerate(responses[:-1]) if any(r.is_final for r in response.results)]
    # 1 s of speech, 500 ms of silence, chunks of 100 ms.
    assert at == 14
    assert responses[at].results[0].is_final


def test_shape_of_interims_and_finals(riva_server: Running) -> None:
    responses = stream(riva_server, chunks(CALL.tobytes()), config(enable_word_time_offsets=True, max_alternatives=3))
    heard_until = 0.0
    hypotheses = []
    for response in responses:
        assert len(response.results) <= 2
        for result in response.results:
            assert result.channel_tag == 1
            assert result.audio_processed >= heard_until
            heard_until = result.audio_processed
            if result.is_final:
                assert result.stability == 0
                assert 1 <= len(result.alternatives) <= 3
                assert result.alternatives[0].transcript.endswith(" ")
                assert not result.alternatives[0].transcript.endswith("  ")
                assert 0 < result.alternatives[0].confidence <= 1
                assert not result.alternatives[1].words
            else:
                assert 0 < result.stability < 1
                assert len(result.alternatives) == 1
                assert not result.alternatives[0].words
                assert result.alternatives[0].confidence == 0
        if response.results and not response.results[0].is_final:
            hypotheses.append("".join(result.alternatives[0].transcript for result in response.results))
    assert hypotheses[-1] == "what is natural"
    assert "what is natural language processing" in hypotheses
    words = [word for final in finals(responses) for word in final.alternatives[0].words]
    assert [word.word for word in words[:2]] == ["what", "is"]
    times = [time for word in words for time in (word.start_time, word.end_time)]
    assert times == sorted(times)
    assert times[-1] > 2000


def test_flags_reach_the_ears(riva_server: Running, recognizer: ScriptedRecognizer) -> None:
    settings = config(
        sample_rate_hertz=8000,
        encoding=AudioEncoding.LINEAR_PCM,
        language_code="en",
        model="moonshine-tiny-en-US-asr-streaming",
        max_alternatives=2,
        profanity_filter=True,
        enable_word_time_offsets=True,
        enable_automatic_punctuation=True,
        verbatim_transcripts=True,
        custom_configuration={
            "clean_points": "true",
            "max_utterance_ms": "15000",
            "unknown": "x",
            "context": "Hi.\n\n Bye.",
        },
        speech_contexts=[
            pb.SpeechContext(phrases=["Net App", " "], boost=20),
            pb.SpeechContext(phrases=["uh"], boost=-5),
            pb.SpeechContext(),
        ],
        diarization_config=pb.SpeakerDiarizationConfig(enable_speaker_diarization=False),
        endpointing_config=pb.EndpointingConfig(start_threshold=0.0, stop_history=640, stop_history_eou=320),
    )
    stream(riva_server, [bytes(320)], settings)
    [request] = recognizer.options
    assert (request.rate, request.engine, request.alternatives) == (8000, "moonshine-tiny", 2)
    assert request.punctuation
    assert request.verbatim
    assert request.profanity_filter
    assert request.word_times
    assert request.interim
    assert request.clean_points
    assert request.boosts == (Boost("Net App", 20), Boost("uh", -5))
    assert request.context == ("Hi.", "Bye.")
    assert request.endpointing.start_threshold == 0.0
    assert (request.endpointing.stop_history_ms, request.endpointing.stop_history_eou_ms) == (640, 320)
    assert request.endpointing.max_utterance_ms == 15000


@pytest.mark.parametrize(("asked", "most"), [(0, 8), (2, 2)])
def test_who_asks_for_speakers_gets_them_on_the_words(
    riva_server: Running, recognizer: ScriptedRecognizer, asked: int, most: int
) -> None:
    settings = config(enable_word_time_offsets=False)
    riva.client.add_speaker_diarization_to_config(settings, True, asked)
    [final] = finals(stream(riva_server, chunks(speech(3, silence_ms=1500).tobytes()), settings))
    assert recognizer.options[0].speakers == most
    assert [word.speaker_tag for word in final.alternatives[0].words] == [1, 2, 1]


def test_stop_history_moves_the_final(riva_server: Running) -> None:
    speaking = np.concatenate([speech(3, silence_ms=2000)])
    processed = {}
    for stop in (400, 1200):
        settings = config(endpointing_config=pb.EndpointingConfig(stop_history=stop))
        processed[stop] = finals(stream(riva_server, chunks(speaking.tobytes()), settings))[0].audio_processed
    assert processed[1200] - processed[400] == pytest.approx(0.8, abs=0.05)


@pytest.mark.parametrize("how", ["endpointing", "custom"])
def test_first_pass_of_the_end_of_an_utterance(riva_server: Running, how: str) -> None:
    fields: dict[str, Any] = {"custom_configuration": {"stop_history_eou": "240"}}
    if how == "endpointing":
        fields = {"endpointing_config": pb.EndpointingConfig(stop_history=800, stop_history_eou=240)}
    responses = stream(riva_server, chunks(speech(3, silence_ms=1200).tobytes()), config(**fields))
    stabilities = [round(result.stability, 1) for response in responses for result in response.results]
    first_pass = [r for response in responses for r in response.results if r.stability == 1.0]
    assert [r.alternatives[0].transcript for r in first_pass] == ["what is natural"]
    assert not first_pass[0].is_final
    assert stabilities.index(1.0) < len(stabilities) - 1
    assert finals(responses)[0].audio_processed == pytest.approx(1.4, abs=0.05)


def raw(server: Running, requests: Iterable[Any]) -> Iterator[Any]:
    channel = server.channel()
    try:
        yield from riva_asr_pb2_grpc.RivaSpeechRecognitionStub(channel).StreamingRecognize(iter(requests), timeout=20)
    finally:
        channel.close()


def test_force_eou_on_an_empty_message(riva_server: Running) -> None:
    audio = [pb.StreamingRecognizeRequest(audio_content=chunk) for chunk in chunks(speech(2).tobytes())]
    force = pb.StreamingRecognizeRequest(runtime_config={"force_eou": "true", "other": "1"})
    responses = list(
        raw(
            riva_server,
            [pb.StreamingRecognizeRequest(streaming_config=config()), *audio, force, *audio, force, force],
        )
    )
    assert len(responses) == 2 * len(audio) + 3
    assert [f.alternatives[0].transcript for f in finals(responses)] == ["what is ", "what is "]
    assert responses[len(audio)].results[0].is_final
    assert not responses[-1].results


def test_force_eou_beside_audio(riva_server: Running) -> None:
    said = pb.StreamingRecognizeRequest(audio_content=speech(2).tobytes(), runtime_config={"force_eou": "true"})
    quiet = pb.StreamingRecognizeRequest(audio_content=speech(1).tobytes(), runtime_config={"force_eou": "false"})
    first = pb.StreamingRecognizeRequest(streaming_config=config())
    responses = list(raw(riva_server, [first, said, quiet]))
    assert [any(r.is_final for r in response.results) for response in responses] == [True, False, True]


def test_ids_are_echoed_when_sent_and_only_then(riva_server: Running) -> None:
    first = pb.StreamingRecognizeRequest(streaming_config=config())
    audio = pb.StreamingRecognizeRequest(audio_content=bytes(3200))
    assert not any(response.HasField("id") for response in raw(riva_server, [first, audio]))
    first.id.value = "call 7"
    assert [response.id.value for response in raw(riva_server, [first, audio, audio])] == ["call 7"] * 3
    audio.id.value = "chunk 1"
    assert [response.id.value for response in raw(riva_server, [first, audio])] == ["chunk 1", "chunk 1"]


def test_a_silent_stream_still_gets_one_final(riva_server: Running) -> None:
    responses = stream(riva_server, [bytes(3200), bytes(3200)], config())
    assert len(responses) == 3
    assert [not response.results for response in responses] == [True, True, False]
    [final] = finals(responses)
    assert final.alternatives[0].transcript == ""
    assert len(stream(riva_server, [], config())) == 1


def test_silence_recognised_offline_has_an_alternative_to_index(riva_server: Running) -> None:
    response = riva.client.ASRService(riva_server.auth()).offline_recognize(bytes(32000), pb.RecognitionConfig())
    assert response.results[0].alternatives[0].transcript == ""


def test_two_channels_heard_apart(riva_server: Running) -> None:
    left, right = speech(2, silence_ms=1200), np.concatenate([np.zeros(6400, np.int16), speech(4, silence_ms=400)])
    both = np.stack([left[: len(right)], right[: len(left)]], axis=1)
    fields: dict[str, Any] = {
        "audio_channel_count": 2,
        "enable_separate_recognition_per_channel": True,
        "sample_rate_hertz": 16000,
    }
    responses = stream(riva_server, chunks(both.tobytes(), 6401), config(**fields))
    assert {(f.channel_tag, f.alternatives[0].transcript) for f in finals(responses)} == {
        (1, "what is "),
        (2, "what is natural language "),
    }
    whole = riva.client.ASRService(riva_server.auth()).offline_recognize(
        recordings.wav(both), pb.RecognitionConfig(enable_separate_recognition_per_channel=True)
    )
    assert [result.channel_tag for result in whole.results] == [1, 2]


def test_clean_points_and_voice_probabilities_only_for_who_asks(riva_server: Running) -> None:
    quiet = chunks(bytes(3 * 32000))
    assert not any(response.results for response in stream(riva_server, quiet, config())[:-1])
    asked = stream(riva_server, quiet, config(custom_configuration={"clean_points": "true"}))
    points = [result for response in asked for result in response.results if not result.is_final]
    assert [round(point.audio_processed, 2) for point in points] == [1.0, 2.0, 3.0]
    assert not any(point.alternatives for point in points)
    responses = stream(
        riva_server, chunks(speech(2).tobytes()), config(custom_configuration={"get_vad_probabilities": "true"})
    )
    states = [r for response in responses for r in response.results if r.HasField("pipeline_states")]
    assert states
    assert not any(state.alternatives for state in states)
    assert max(itertools.chain(*(state.pipeline_states.vad_probabilities for state in states))) == 1.0


def test_the_list_of_models(riva_server: Running) -> None:
    stub = riva.client.ASRService(riva_server.auth()).stub
    listed = stub.GetRivaSpeechRecognitionConfig(pb.RivaSpeechRecognitionConfigRequest()).model_config
    assert [model.model_name for model in listed] == [
        "whisper-tiny-en-US-asr-streaming",
        "whisper-tiny-en-US-asr-offline",
        "moonshine-tiny-en-US-asr-streaming",
        "moonshine-tiny-en-US-asr-offline",
    ]
    assert dict(listed[0].parameters) == {
        "type": "online",
        "language_code": "en-US",
        "sample_rate_hertz": "16000",
        "streaming": "True",
        "clean_points": "True",
        "clean_lead_ms": "320",
        "speaker_diarization": "True",
    }
    request = pb.RivaSpeechRecognitionConfigRequest(model_name="moonshine-tiny-en-US-asr-offline")
    [one] = stub.GetRivaSpeechRecognitionConfig(request).model_config
    assert one.parameters["type"] == "offline"
    assert not stub.GetRivaSpeechRecognitionConfig(pb.RivaSpeechRecognitionConfigRequest(model_name="x")).model_config


def test_a_client_s_default_for_nvidia_s_models_gets_ours(riva_server: Running, recognizer: ScriptedRecognizer) -> None:
    stream(riva_server, [bytes(320)], config(model="parakeet-1.1b-en-US-asr-streaming-silero-vad-sortformer"))
    assert recognizer.options[0].engine == ""
    with pytest.raises(grpc.RpcError) as raised:
        stream(riva_server, [bytes(320)], config(model="parakeet-of-nobody"))
    assert raised.value.details().startswith("Error: Unavailable model requested given these parameters: ")
