"""A few kilobytes that hold hours: decoded a piece at a time, and no further than anybody speaks."""

from __future__ import annotations

import itertools
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from riva.client.proto import riva_asr_pb2

from asr.local.api.recognition_config import read_config
from asr.local.api.session import RecognitionSession
from asr.local.codecs.decoder import AudioDecoder, DeclaredFormat
from asr.local.errors import ApiError
from asr.local.stt.types import RecognitionResult, Samples
from tests.asr.local import recordings
from tests.asr.local.scripted import ScriptedRecognizer, ScriptedStream
from tests.ingest.audio.sounds import silent_flac

HOURS = silent_flac(4 * 3600)


@contextmanager
def memory(most: int) -> Iterator[None]:
    """No more bytes than this at any time."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < most


def test_hours_of_silence_are_refused_after_one() -> None:
    assert len(HOURS) < 30_000
    heard: list[int] = []
    decoder = AudioDecoder(DeclaredFormat())
    with memory(5_000_000), pytest.raises(ApiError, match="unpack without end"):
        heard.extend(map(len, decoder.read(HOURS)))
    assert 3600 < sum(heard) / 8000 < 3600 + len(HOURS) / 10


def test_half_an_hour_of_silence_is_heard() -> None:
    data = silent_flac(1800)
    decoder = AudioDecoder(DeclaredFormat())
    pieces = [*decoder.read(data), *decoder.finish()]
    assert 1800 <= sum(map(len, pieces)) / 8000 < 1810


async def test_a_message_that_holds_much_is_recognised_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    fed: list[int] = []

    async def feed(stream: ScriptedStream, samples: Samples) -> list[RecognitionResult]:
        fed.append(len(samples))
        return []

    monkeypatch.setattr(ScriptedStream, "feed", feed)
    recognizer = ScriptedRecognizer()
    config = read_config(riva_asr_pb2.RecognitionConfig(), "online", recognizer.engines)
    with (
        memory(10_000_000),
        RecognitionSession(recognizer, config) as session,
        pytest.raises(ApiError, match="unpack without end"),
    ):
        await session.feed(HOURS)
    assert max(fed) < 10 * 8000 + 65_536
    assert sum(fed) > 3500 * 8000


def test_metadata_without_end_is_walked_once() -> None:
    decoder = AudioDecoder(DeclaredFormat())
    messages = itertools.chain([b"fLaC"], itertools.repeat(bytes((4, 0, 0, 0)) * 65_536))
    began = time.thread_time()
    with pytest.raises(ApiError, match="metadata does not end"):
        any(samples is None for message in messages for samples in decoder.read(message))
    assert time.thread_time() - began < 20


def test_more_channels_than_anybody_has() -> None:
    sound = np.zeros((100, 9), np.int16)
    with pytest.raises(ApiError, match="at most 8 channels"):
        list(AudioDecoder(DeclaredFormat(separate_channels=True)).read(recordings.wav(sound)))
    with pytest.raises(ApiError, match="at most 8 channels"):
        AudioDecoder(DeclaredFormat(channels=65_535, separate_channels=True))
