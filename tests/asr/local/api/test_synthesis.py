"""Speech out, as the official client sees it, on every voice that is on this machine."""

from __future__ import annotations

import io
import struct
import threading
import time
import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import grpc
import numpy as np
import pytest
import riva.client
from riva.client.proto import riva_tts_pb2 as pb
from riva.client.proto import riva_tts_pb2_grpc
from riva.client.proto.riva_audio_pb2 import AudioEncoding

from asr.local.errors import ApiError
from asr.local.options import ServerOptions
from asr.local.server import RivaServer
from asr.local.stt.types import Samples
from asr.local.tts.ssml import plain_text, split_sentences
from asr.local.tts.voices import HOW_TO_GET_ONE, ProgramVoice, Voice, find_voice
from tenor.errors import BadInput
from tests.asr.local.conftest import Running, running
from tests.asr.local.scripted import ScriptedRecognizer

TEXT = "Thank you for calling. How can I help you today?"


class ToneVoice:
    """Says 10 ms of a tone for every letter, and how it was asked."""

    name = "tone"
    languages = ("en-US", "de-DE")
    rate = 16000

    def __init__(self) -> None:
        self.said: list[str] = []
        self.hold = threading.Event()
        self.hold.set()

    def synthesize(self, text: str, language: str) -> Samples:
        if self.said:
            self.hold.wait(5)
        self.said.append(text)
        tone: Samples = (np.sin(np.arange(len(text) * 160) * 0.2) * 9000).astype(np.int16)
        return tone


@pytest.fixture
def voice() -> ToneVoice:
    return ToneVoice()


@pytest.fixture
def server(voice: ToneVoice) -> Iterator[Running]:
    with running(ScriptedRecognizer(), voice) as started:
        yield started


@pytest.fixture
def service(server: Running) -> Any:
    return riva.client.SpeechSynthesisService(server.auth())


def test_one_response_with_headerless_pcm_at_the_rate_asked_for(service: Any) -> None:
    response = service.synthesize(TEXT)
    assert len(response.audio) == pytest.approx(2 * 22050 * len(TEXT) / 100, rel=0.05)
    assert not response.audio.startswith(b"RIFF")
    assert (response.meta.text, response.meta.processed_text) == (TEXT, TEXT)
    assert len(response.meta.predicted_durations) == 2
    assert not response.meta.words
    assert not response.HasField("id")


@pytest.mark.parametrize(("rate", "expected"), [(0, 16000), (8000, 8000), (44100, 44100), (48000, 48000)])
def test_rates(service: Any, rate: int, expected: int) -> None:
    assert len(service.synthesize("Hello.", sample_rate_hz=rate).audio) == pytest.approx(2 * expected * 0.06, rel=0.01)


def test_word_times_are_in_order_and_within_the_audio(service: Any) -> None:
    response = service.synthesize(TEXT, enable_word_time_offsets=True, sample_rate_hz=16000)
    words = response.meta.words
    assert [word.word for word in words] == TEXT.split()
    times = [time for word in words for time in (word.start_time, word.end_time)]
    assert times == sorted(times)
    assert times[-1] <= len(response.audio) / 32


def test_streaming_gives_the_same_audio_in_pieces(service: Any, voice: ToneVoice) -> None:
    whole = service.synthesize(TEXT).audio
    pieces = list(service.synthesize_online(TEXT))
    assert b"".join(piece.audio for piece in pieces) == whole
    assert len(pieces) > 1
    assert voice.said[-2:] == ["Thank you for calling.", "How can I help you today?"]


def test_the_first_sentence_is_heard_before_the_second_is_made(service: Any, voice: ToneVoice) -> None:
    voice.hold.clear()
    pieces = service.synthesize_online(TEXT)
    first = next(pieces)
    assert voice.said == ["Thank you for calling."]
    assert first.meta.processed_text == "Thank you for calling."
    voice.hold.set()
    assert len(list(pieces)) >= 1


def test_a_conversation_of_texts_on_one_stream(server: Running) -> None:
    """Texts arrive while earlier ones are already being heard; ids go back with their own audio."""
    answered = threading.Event()

    def texts() -> Iterator[Any]:
        for number, text in enumerate(("One.", "Two two.")):
            request = pb.SynthesizeSpeechRequest(text=text, sample_rate_hz=16000)
            request.id.value = str(number)
            yield request
            assert answered.wait(5)

    with server.channel() as channel:
        call = riva_tts_pb2_grpc.RivaSpeechSynthesisStub(channel).SynthesizeOnline(texts(), timeout=10)
        first = next(call)
        answered.set()
        rest = list(call)
    assert (first.id.value, len(first.audio)) == ("0", 2 * 4 * 160)
    assert [(one.id.value, len(one.audio)) for one in rest] == [("1", 2 * 8 * 160)]


def test_no_streamed_piece_is_large(service: Any) -> None:
    pieces = list(service.synthesize_online("word " * 400, sample_rate_hz=48000))
    assert max(len(piece.audio) for piece in pieces) <= 64 * 1024
    assert sum(len(piece.audio) for piece in pieces) > 1_500_000


@pytest.mark.parametrize("rate", [0, 8000, 24000, 48000])
def test_opus_is_packets_with_their_length_before_them(service: Any, rate: int) -> None:
    audio = service.synthesize(TEXT, encoding=AudioEncoding.OGGOPUS, sample_rate_hz=rate).audio
    codec = av.AudioCodecContext.create("opus", "r")
    codec.extradata = b"OpusHead\x01\x01" + bytes(2) + struct.pack("<I", 48000) + bytes(3)
    at = samples = 0
    while at < len(audio):
        (size,) = struct.unpack_from("<i", audio, at)
        samples += sum(frame.samples for frame in codec.decode(av.Packet(audio[at + 4 : at + 4 + size])))
        at += 4 + size
    assert at == len(audio)
    assert samples / 48000 == pytest.approx(len(TEXT) / 100, abs=0.06)


@pytest.mark.parametrize(
    "name", ["", "English-US", "English-US.Female-1", "English-US-Female-1", "english-us.female-1"]
)
def test_names_of_the_voice(service: Any, name: str) -> None:
    assert service.synthesize("Hello.", name).audio


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {"voice_name": "foo", "language_code": "en-US"},
            "Model is not available on server: Voice foo for language en-US not found. "
            "Please specify the voice name in your SynthesizeSpeechRequest.",
        ),
        (
            {"language_code": "ru-RU"},
            "Model is not available on server: Voice  for language ru-RU not found. "
            "Please specify the voice name in your SynthesizeSpeechRequest.",
        ),
        ({"text": ""}, "text must not be empty"),
        ({"text": " \n "}, "text must not be empty"),
        ({"text": "<speak></speak>"}, "text must not be empty"),
        ({"sample_rate_hz": 4000}, "sample_rate_hz must be between 8000 and 48000, got 4000"),
        ({"sample_rate_hz": 96000}, "sample_rate_hz must be between 8000 and 48000, got 96000"),
        ({"encoding": AudioEncoding.FLAC}, "encoding FLAC is not offered"),
        ({"encoding": AudioEncoding.MULAW}, "encoding MULAW is not offered"),
        ({"encoding": AudioEncoding.ALAW}, "encoding ALAW is not offered"),
        ({"encoding": AudioEncoding.OGGOPUS, "sample_rate_hz": 22050}, "sample_rate_hz with OGGOPUS"),
        ({"zero_shot_data": pb.ZeroShotData(audio_prompt=b"1")}, "zero_shot_data"),
        ({"custom_dictionary": "tenor  t eh n er"}, "custom_dictionary"),
        ({"custom_configuration": {"exaggeration_factor": "1"}}, "exaggeration_factor"),
        ({"text": "<speak>Hello <break></speak>"}, "SSML"),
        ({"text": '<speak>Hello <break time="soon"/></speak>'}, "break"),
        ({"text": "<speak><!DOCTYPE a>Hello</speak>"}, "document type"),
        ({"text": "<speak><!-- aside -->Hello</speak>"}, "comment"),
    ],
)
def test_what_cannot_be_spoken(server: Running, fields: dict[str, Any], text: str) -> None:
    request = pb.SynthesizeSpeechRequest(**{"text": "Hello.", **fields})
    with server.channel() as channel:
        stub = riva_tts_pb2_grpc.RivaSpeechSynthesisStub(channel)
        for call in (lambda: stub.Synthesize(request), lambda: list(stub.SynthesizeOnline(iter([request])))):
            with pytest.raises(grpc.RpcError) as raised:
                call()
            assert raised.value.code() is grpc.StatusCode.INVALID_ARGUMENT
            assert text in raised.value.details()


def test_ssml_is_not_read_aloud_and_breaks_are_kept(service: Any, voice: ToneVoice) -> None:
    ssml = '<speak>Please <prosody rate="slow">wait</prosody>.<break time="1.5s"/>Thank you &amp; goodbye.</speak>'
    response = service.synthesize(ssml, sample_rate_hz=16000)
    assert voice.said == ["Please wait.", "Thank you & goodbye."]
    assert response.meta.processed_text == "Please wait. Thank you & goodbye."
    assert len(response.audio) // 2 == (12 + 20) * 160 + 24000
    quiet = np.frombuffer(response.audio, np.int16)[12 * 160 : 12 * 160 + 24000]
    assert not quiet.any()


def test_the_list_of_voices_as_the_stock_script_reads_it(service: Any) -> None:
    listed = service.stub.GetRivaSynthesisConfig(pb.RivaSynthesisConfigRequest()).model_config
    full = {
        model.parameters["language_code"]: [
            f"{model.parameters['voice_name']}.{sub.split(':')[0]}" for sub in model.parameters["subvoices"].split(",")
        ]
        for model in listed
    }
    assert full == {"en-US": ["English-US.Female-1"], "de-DE": ["German-DE.Female-1"]}
    assert listed[0].parameters["sample_rate_hz"] == "16000"
    assert not service.stub.GetRivaSynthesisConfig(pb.RivaSynthesisConfigRequest(model_name="x")).model_config


def test_without_a_voice_the_answer_says_how_to_get_one() -> None:
    with running(ScriptedRecognizer()) as server:
        service = riva.client.SpeechSynthesisService(server.auth())
        with pytest.raises(grpc.RpcError) as raised:
            service.synthesize("Hello.")
        assert raised.value.code() is grpc.StatusCode.UNIMPLEMENTED
        assert raised.value.details() == HOW_TO_GET_ONE
        assert not service.stub.GetRivaSynthesisConfig(pb.RivaSynthesisConfigRequest()).model_config


def test_a_voice_that_fails_ends_one_request_only(server: Running, voice: ToneVoice) -> None:
    service = riva.client.SpeechSynthesisService(server.auth())
    voice.synthesize, spoken = None, voice.synthesize  # type: ignore[method-assign, assignment]
    with pytest.raises(grpc.RpcError) as raised:
        service.synthesize("Hello.")
    assert raised.value.code() is grpc.StatusCode.INTERNAL
    voice.synthesize = spoken  # type: ignore[method-assign]
    assert service.synthesize("Hello.").audio


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Dr. Smith is here. Really? Yes!", ["Dr. Smith is here.", "Really?", "Yes!"]),
        ("It costs 3.50 dollars today", ["It costs 3.50 dollars today"]),
        ("First\n\nSecond", ["First", "Second"]),
        ('He said "stop." Then he left.', ['He said "stop.', "Then he left."]),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert [sentence.text for sentence in split_sentences(text)] == sentences


def test_a_text_without_any_end_is_cut_all_the_same() -> None:
    words = [f"word{place}" for place in range(500)]
    pieces = split_sentences(" ".join(words))
    assert max(len(piece.text) for piece in pieces) <= 301
    assert plain_text(pieces).split() == words
    assert len(split_sentences("x" * 1000)) == 4
    with pytest.raises(ApiError):
        split_sentences("")


INSTALLED: list[Voice] = []
for _name in ("ttspico", "flite", "espeak-ng"):
    try:
        _found = find_voice(_name)
    except BadInput:
        continue
    if _found is not None:
        INSTALLED.append(_found)


@pytest.mark.parametrize("real", INSTALLED, ids=lambda voice: voice.name)
def test_installed_voices_speak(real: Voice) -> None:
    with running(ScriptedRecognizer(), real) as server:
        service = riva.client.SpeechSynthesisService(server.auth())
        began = time.monotonic()
        pieces = service.synthesize_online(TEXT, "English-US.Female-1", "en-US", sample_rate_hz=16000)
        audio = next(pieces).audio
        assert time.monotonic() - began < 2
        audio += b"".join(piece.audio for piece in pieces)
        samples = np.frombuffer(audio, np.int16)
        assert 1.5 < len(samples) / 16000 < 8
        assert np.abs(samples.astype(int)).max() > 3000
        assert service.synthesize("-1 < 2 & 3 > 2; naïve café?").audio


@pytest.mark.parametrize("real", INSTALLED, ids=lambda voice: voice.name)
def test_the_same_text_is_always_the_same_sound(real: Voice) -> None:
    first = real.synthesize("Thank you for calling.", "en-US")
    real.synthesize("How can I help you today?", "en-US")
    assert np.array_equal(real.synthesize("Thank you for calling.", "en-US"), first)


def test_a_program_of_ones_own_can_be_the_voice(tmp_path: Path) -> None:
    """Piper in miniature: the sentence on standard input, a WAV file out."""
    spoken = io.BytesIO()
    with wave.open(spoken, "wb") as file:
        file.setparams((1, 2, 22050, 0, "NONE", ""))
        file.writeframes(bytes(2 * 22050))
    sample = tmp_path / "sample.wav"
    sample.write_bytes(spoken.getvalue())
    text_file = tmp_path / "text"
    voice = ProgramVoice(
        "copy", ("en-US",), 22050, lambda _, path: ("sh", "-c", f"cat > {text_file}; cp {sample} {path}")
    )
    assert len(voice.synthesize("Good morning", "en-US")) == 22050
    assert text_file.read_text() == "Good morning\n"


def test_choosing_a_voice() -> None:
    assert find_voice("none") is None
    with pytest.raises(BadInput, match="no voice 'nobody'"):
        find_voice("nobody")
    with pytest.raises(BadInput, match="'piper' is not installed"):
        find_voice("piper")


async def test_the_server_finds_the_voice_its_options_name() -> None:
    with pytest.raises(BadInput, match="no voice 'nobody'"):
        RivaServer(ServerOptions(voice="nobody"))
