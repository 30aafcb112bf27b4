"""Whisper in a hurry encodes the speech alone: the same words sooner, and a second look where it says them twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jiwer
import numpy as np
import pytest
from whisper_normalizer.english import EnglishTextNormalizer

from asr.local.stt.engines.base import RATE, Audio, DecodeOptions
from asr.local.stt.engines.whisper import WhisperEngine
from tests.asr.local.stt.conftest import recording

CUTS = ((0.2, 5.6), (5.6, 9.4), (20.7, 24.4), (24.4, 28.6), (20.7, 28.6))
"""Of a reading of Dickens: from short to long."""
normalise = EnglishTextNormalizer()


@pytest.fixture(scope="module")
def engine() -> Iterator[WhisperEngine]:
    engine = WhisperEngine(workers=1, window_s=15.0)
    yield engine
    engine.close()


def cut(start_s: float, end_s: float) -> Audio:
    return np.divide(recording("two_cities.wav", start_s, end_s, RATE), 32768, dtype=np.float32)


def text(engine: WhisperEngine, samples: Audio, **options: Any) -> str:
    hypotheses = engine.decode(samples, DecodeOptions(**options))
    return str(normalise(" ".join(word.text for word in hypotheses[0].words))) if hypotheses else ""


@pytest.mark.slow
def test_hurry_costs_hardly_a_word(engine: WhisperEngine) -> None:
    thorough, hurried = (
        [text(engine, cut(*part), low_latency=low_latency) for part in CUTS] for low_latency in (False, True)
    )
    assert all(thorough)
    assert jiwer.wer(thorough, hurried) < 0.05


@dataclass
class Encoding:
    """Counts what the encoder is given, and how often it is read."""

    model: Any
    seconds: list[float]
    read: int = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def encode(self, features: Any) -> Any:
        self.seconds.append(features.shape[2] / 100)
        return self.model.encode(features)

    def generate(self, *sound: Any, **options: Any) -> Any:
        self.read += 1
        return self.model.generate(*sound, **options)


@pytest.fixture
def encoding(engine: WhisperEngine, monkeypatch: pytest.MonkeyPatch) -> Encoding:
    counting = Encoding(engine._model, [])
    monkeypatch.setattr(engine, "_model", counting)
    return counting


@pytest.mark.slow
def test_in_a_hurry_only_the_speech_is_encoded(engine: WhisperEngine, encoding: Encoding) -> None:
    for seconds, looked_at in ((1.0, 15.0), (2.0, 9.0), (7.0, 11.0), (12.0, 15.0), (17.0, 18.0)):
        text(engine, cut(20.7, 20.7 + seconds), low_latency=True)
        assert encoding.seconds[0] == looked_at
        encoding.seconds.clear()
    text(engine, cut(20.7, 24.4), low_latency=False)
    assert encoding.seconds == [15.0]


def test_what_is_said_twice_is_checked_in_the_whole_window(engine: WhisperEngine, encoding: Encoding) -> None:
    once = cut(20.7, 22.6)
    twice = np.concatenate([once, np.zeros(RATE // 4, np.float32), once])
    said = text(engine, twice, low_latency=True)
    assert said.split()[: len(said.split()) // 2] == said.split()[len(said.split()) // 2 :]
    assert encoding.seconds == [9.0, 15.0]


@pytest.mark.parametrize("low_latency", [False, True])
def test_what_nobody_waits_for_any_more_is_not_read(
    engine: WhisperEngine, encoding: Encoding, low_latency: bool
) -> None:
    """The speaker went on while the sound was being encoded."""
    assert text(engine, cut(20.7, 24.4), low_latency=low_latency, wanted=lambda: not encoding.seconds) == ""
    assert len(encoding.seconds) == 1
    assert encoding.read == 0
