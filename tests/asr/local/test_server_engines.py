"""The essentials again, on the real engines and a reading of Dickens that ships with one of them."""

from __future__ import annotations

import wave
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
import riva.client
import soxr
from riva.client.proto import riva_asr_pb2 as pb
from riva.client.proto.riva_audio_pb2 import AudioEncoding

from asr.local.stt.recognizer import LocalRecognizer
from asr.local.stt.types import Samples
from tenor.settings import RivaSettings
from tests.asr.local import recordings
from tests.asr.local.conftest import Running, running

QUIET = np.zeros(2 * 16000, np.int16)


@pytest.fixture(scope="module")
def reading() -> Samples:
    """The first six seconds at 16 kHz: it was the best of times, it was the worst of times."""
    with files("moonshine_voice").joinpath("assets/two_cities.wav").open("rb") as stored, wave.open(stored) as file:
        samples = np.frombuffer(file.readframes(int(5.9 * file.getframerate())), np.int16)
        resampled: Samples = soxr.resample(samples, file.getframerate(), 16000)
    return resampled


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    recognizer = LocalRecognizer(RivaSettings())
    with running(recognizer) as started:
        yield started
    assert recognizer.streams == 0
    recognizer.close()


def stream(server: Running, data: bytes, size: int = 3200, interim: bool = True, **fields: Any) -> list[Any]:
    sent = [data[start : start + size] for start in range(0, len(data), size)]
    config = pb.StreamingRecognitionConfig(config=pb.RecognitionConfig(**fields), interim_results=interim)
    responses = list(riva.client.ASRService(server.auth()).streaming_response_generator(sent, config))
    assert len(responses) - len(sent) in (0, 1)
    return [result for response in responses for result in response.results]


def text(results: list[Any]) -> str:
    return "".join(result.alternatives[0].transcript for result in results if result.is_final)


@pytest.mark.usefixtures("every_interim")
def test_interims_then_a_punctuated_final_with_word_times(server: Running, reading: Samples) -> None:
    results = stream(
        server,
        recordings.wav(np.concatenate([reading, QUIET])),
        enable_automatic_punctuation=True,
        enable_word_time_offsets=True,
    )
    interims = [result for result in results if not result.is_final]
    assert interims
    assert all(0 < result.stability < 1 for result in interims)
    assert all(result.alternatives[0].transcript.islower() for result in interims)
    final = next(result for result in results if result.is_final)
    best = final.alternatives[0]
    assert best.transcript.startswith("It was the best of times")
    assert best.transcript.endswith(" ")
    assert 0 < best.confidence <= 1
    assert best.transcript.split() == [word.word for word in best.words]
    times = [time for word in best.words for time in (word.start_time, word.end_time)]
    assert times == sorted(times)
    assert times[-1] <= final.audio_processed * 1000


def test_without_punctuation_it_is_lower_case(server: Running, reading: Samples) -> None:
    texts = text(stream(server, reading.tobytes(), interim=False))
    assert texts.startswith("it was the best of times it was the worst of times")


@pytest.mark.parametrize("form", ["mu-law", "A-law", "flac", "opus"])
def test_forms_of_the_telephone_and_the_web(server: Running, reading: Samples, form: str) -> None:
    narrow: Samples = soxr.resample(reading, 16000, 8000)
    fields: dict[str, Any] = {}
    if form == "mu-law":
        data, fields = recordings.mu_law(narrow), {"encoding": AudioEncoding.MULAW}
    elif form == "A-law":
        data, fields = recordings.a_law(narrow), {"encoding": AudioEncoding.ALAW, "sample_rate_hertz": 8000}
    else:
        data = recordings.flac(reading) if form == "flac" else recordings.ogg_opus(reading)
    assert "best of times" in text(stream(server, data, 1999, interim=False, **fields)).lower()


def test_the_end_of_an_utterance_comes_as_late_as_asked(server: Running, reading: Samples) -> None:
    data = np.concatenate([reading, QUIET]).tobytes()
    at = {}
    for stop in (400, 1200):
        endpointing = pb.EndpointingConfig(stop_history=stop)
        results = stream(server, data, interim=False, endpointing_config=endpointing)
        at[stop] = [result.audio_processed for result in results if result.is_final][-1]
    assert at[1200] - at[400] == pytest.approx(0.8, abs=0.15)


def test_the_first_pass(server: Running, reading: Samples) -> None:
    endpointing = pb.EndpointingConfig(stop_history=1200, stop_history_eou=400)
    results = stream(server, np.concatenate([reading, QUIET]).tobytes(), endpointing_config=endpointing)
    places = [place for place, result in enumerate(results) if result.stability == 1.0]
    assert places
    assert not results[places[-1]].is_final
    assert any(result.is_final for result in results[places[-1] :])


def test_boosting_can_be_heard(server: Running, reading: Samples) -> None:
    boost = pb.SpeechContext(phrases=["Thymes"], boost=50)
    assert "Thymes" in text(stream(server, reading.tobytes(), interim=False, speech_contexts=[boost]))


def test_forcing_the_end_and_going_on(server: Running, reading: Samples) -> None:
    def requests() -> Iterator[Any]:
        yield pb.StreamingRecognizeRequest(streaming_config=pb.StreamingRecognitionConfig())
        for _ in range(2):
            yield pb.StreamingRecognizeRequest(audio_content=reading.tobytes())
            yield pb.StreamingRecognizeRequest(runtime_config={"force_eou": "true"})

    responses = list(riva.client.ASRService(server.auth()).stub.StreamingRecognize(requests(), timeout=60))
    assert len(responses) == 4
    for forced in (responses[1], responses[3]):
        assert any("times" in result.alternatives[0].transcript for result in forced.results if result.is_final)


@pytest.mark.parametrize("model", ["whisper-tiny-en-US-asr-offline", "moonshine-tiny-en-US-asr-offline"])
def test_a_whole_recording_on_each_engine(server: Running, reading: Samples, model: str) -> None:
    response = riva.client.ASRService(server.auth()).offline_recognize(
        recordings.wav(reading), pb.RecognitionConfig(model=model)
    )
    assert "best of times" in response.results[0].alternatives[0].transcript
    assert response.results[0].audio_processed == pytest.approx(len(reading) / 16000)


def test_the_same_audio_is_the_same_text_however_it_was_cut(server: Running, reading: Samples) -> None:
    data = np.concatenate([reading, QUIET]).tobytes()
    texts = {text(stream(server, data, size, interim=False)) for size in (1111, 6400, 200_000)}
    assert len(texts) == 1
