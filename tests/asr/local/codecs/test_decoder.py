"""Audio in every form and cut at every place is the same audio."""

from __future__ import annotations

import contextlib
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from riva.client.proto.riva_audio_pb2 import AudioEncoding

from asr.local.codecs.decoder import AudioDecoder, DeclaredFormat
from asr.local.errors import ApiError
from asr.local.stt.types import Samples
from tenor.g711 import ALAW, ULAW
from tests.asr.local import recordings
from tests.asr.local.scripted import speech

TONE = speech(3, silence_ms=100)


def decode(decoder: AudioDecoder, data: bytes, cuts: list[int]) -> Samples:
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    parts = [part for start, end in itertools.pairwise(edges) for part in decoder.read(data[start:end])]
    parts += decoder.finish()
    return np.concatenate(parts) if parts else np.empty((0, 1), np.int16)


WAVS = {
    "plain": recordings.wav(TONE),
    "with a LIST chunk, data at byte 78": recordings.wav(TONE, extras=recordings.LIST_CHUNK),
    "size 0": recordings.wav(TONE, size=0),
    "size unknown": recordings.wav(TONE, size=0xFFFFFFFF),
    "extensible": recordings.wav(TONE, tag=0x100 + 1),
    "with a chunk behind the data": recordings.wav(TONE) + recordings.LIST_CHUNK,
}


@pytest.mark.parametrize("name", WAVS)
@settings(max_examples=25)
@given(cuts=st.lists(st.integers(0, 200), max_size=12) | st.lists(st.integers(0, 30_000), max_size=5))
def test_a_wav_file_cut_anywhere(name: str, cuts: list[int]) -> None:
    decoder = AudioDecoder(DeclaredFormat())
    samples = decode(decoder, WAVS[name], cuts)
    assert decoder.rate == 16000
    assert np.array_equal(samples[:, 0], TONE)


@settings(max_examples=25)
@given(cuts=st.lists(st.integers(0, 30_000), max_size=8))
def test_headerless_pcm_in_odd_pieces(cuts: list[int]) -> None:
    assert np.array_equal(decode(AudioDecoder(DeclaredFormat()), TONE.tobytes(), cuts)[:, 0], TONE)


@settings(max_examples=15)
@given(cuts=st.lists(st.integers(0, 30_000), max_size=20))
def test_flac_is_lossless_however_it_is_cut(cuts: list[int]) -> None:
    # NVIDIA's C++ client claims 16000 Hz mono for every FLAC file; the stream knows better.
    decoder = AudioDecoder(DeclaredFormat(encoding=AudioEncoding.FLAC, rate=16000, channels=1))
    long = np.tile(TONE, 10)
    samples = decode(decoder, recordings.flac(long, 44100), cuts)
    assert decoder.rate == 44100
    assert np.array_equal(samples[:, 0], long)


@settings(max_examples=15)
@given(cuts=st.lists(st.integers(0, 10_000), max_size=20))
def test_ogg_opus_is_as_long_as_what_went_in(cuts: list[int]) -> None:
    decoder = AudioDecoder(DeclaredFormat(rate=16000))
    samples = decode(decoder, recordings.ogg_opus(TONE), cuts)
    assert decoder.rate == 48000
    # Within the codec's own delay, which the file counts twice.
    assert abs(len(samples) - 3 * len(TONE)) <= 480
    assert abs(int(np.abs(samples).max()) - int(np.abs(TONE).max())) < 3000


@pytest.mark.parametrize(("law", "encoding"), [("mu_law", AudioEncoding.MULAW), ("a_law", AudioEncoding.ALAW)])
def test_companded_audio_without_header_is_a_telephone_s(law: str, encoding: int) -> None:
    decoder = AudioDecoder(DeclaredFormat(encoding=encoding))
    samples = decode(decoder, getattr(recordings, law)(TONE), [7, 100])
    assert decoder.rate == 8000
    assert np.abs(samples[:, 0].astype(int) - TONE).max() < 600


@pytest.mark.parametrize("tag", [6, 7, 0x106, 0x107])
def test_companded_audio_in_a_wav(tag: int) -> None:
    decoder = AudioDecoder(DeclaredFormat())
    samples = decode(decoder, recordings.wav(TONE, 8000, tag=tag), [50])
    assert decoder.rate == 8000
    assert np.abs(samples[:, 0].astype(int) - TONE).max() < 600


def test_companding_tables_at_the_points_g711_gives() -> None:
    assert (ULAW[0x00], ULAW[0x80], ULAW[0x7F], ULAW[0xFF]) == (-32124, 32124, 0, 0)
    assert (ALAW[0x2A], ALAW[0xAA], ALAW[0x55], ALAW[0xD5]) == (-32256, 32256, -8, 8)


def test_each_channel_of_a_stereo_recording() -> None:
    both = np.stack([TONE, TONE // 2], axis=1)
    for data in (recordings.wav(both), recordings.flac(both), recordings.wav(both, size=0)):
        decoder = AudioDecoder(DeclaredFormat(separate_channels=True))
        assert np.array_equal(decode(decoder, data, [3, 61, 999]), both)


@pytest.mark.parametrize(
    ("declared", "data"),
    [
        (DeclaredFormat(encoding=AudioEncoding.MULAW), WAVS["plain"]),
        (DeclaredFormat(rate=8000), WAVS["plain"]),
        (DeclaredFormat(channels=2, separate_channels=True), WAVS["plain"]),
        (DeclaredFormat(encoding=AudioEncoding.LINEAR_PCM), recordings.flac(TONE)),
    ],
)
def test_a_header_that_contradicts_the_configuration(declared: DeclaredFormat, data: bytes) -> None:
    with pytest.raises(ApiError, match=r"^Error: config format doesn't match with header format$"):
        list(AudioDecoder(declared).read(data))


@pytest.mark.parametrize(
    "data",
    [
        b"fLaC" + bytes(200),
        b"OggS" + bytes(300),
        recordings.ogg_opus(TONE).replace(b"OpusHead", b"Speex   "),
        recordings.wav(TONE)[:12] + b"data" + bytes(40),
        recordings.wav(TONE)[:20] + b"\x03\x00" + recordings.wav(TONE)[22:],
        b"RIFF" + bytes(4) + b"WAVEfmt " + b"\xff\xff\xff\x7f" + bytes(64),
    ],
)
def test_what_cannot_be_decoded_is_refused(data: bytes) -> None:
    with pytest.raises(ApiError) as refused:
        decode(AudioDecoder(DeclaredFormat()), data, [])
    assert refused.value.code.name == "INVALID_ARGUMENT"


MAGIC = [b"", b"RIFF1234WAVE", b"fLaC", b"OggS", b"RIFF1234WAVEfmt "]


@settings(max_examples=150)
@given(data=st.binary(max_size=400), magic=st.sampled_from(MAGIC))
def test_no_bytes_do_worse_than_a_refusal(data: bytes, magic: bytes) -> None:
    with contextlib.suppress(ApiError):
        decode(AudioDecoder(DeclaredFormat()), magic + data, [])


@settings(max_examples=60)
@given(
    kind=st.sampled_from(["flac", "ogg_opus"]),
    damage=st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 255)), min_size=1, max_size=6),
    cuts=st.lists(st.integers(0, 5000), max_size=3),
)
def test_no_damaged_recording_does_worse_than_a_refusal(
    kind: str, damage: list[tuple[int, int]], cuts: list[int]
) -> None:
    data = bytearray(getattr(recordings, kind)(TONE))
    for place, byte in damage:
        data[place % len(data)] = byte
    with contextlib.suppress(ApiError):
        decode(AudioDecoder(DeclaredFormat(separate_channels=True)), bytes(data), cuts)
