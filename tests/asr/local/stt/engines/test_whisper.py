"""Whisper in a hurry encodes the speech alone: the same words sooner, and a second look where it says them twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
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
    """Counts what the encoder is given, how often it is read, and what the decoder is told."""

    model: Any
    seconds: list[float]
    read: int = 0
    prompts: list[list[int]] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def encode(self, features: Any) -> Any:
        self.seconds.append(features.shape[2] / 100)
        return self.model.encode(features)

    def generate(self, sound: Any, prompts: list[list[int]], **options: Any) -> Any:
        self.read += 1
        self.prompts += prompts
        return self.model.generate(sound, prompts, **options)


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


@pytest.mark.slow
def test_it_is_told_what_is_likely_to_be_said(engine: WhisperEngine, encoding: Encoding) -> None:
    part = cut(0.2, 5.6)
    assert "times" in text(engine, part)
    told = text(engine, part, context=("It was the best of Thymes, it was the worst of Thymes.",))
    assert "thymes" in told
    plain, prompted = encoding.prompts[0], encoding.prompts[-1]
    assert prompted[-len(plain) :] == plain
    assert engine._tokenizer.decode(prompted) == " It was the best of Thymes, it was the worst of Thymes."


@dataclass
class Parrot(Encoding):
    """Says everything twice when it is told something."""

    def generate(self, sound: Any, prompts: list[list[int]], **options: Any) -> Any:
        [found] = super().generate(sound, prompts, **options)
        told = "Harper" in self.tokenizer.decode(prompts[0])
        twice = [ids * 2 for ids in found.sequences_ids] if told else found.sequences_ids
        return [SimpleNamespace(sequences_ids=twice, scores=found.scores)]

    tokenizer: Any = None


@pytest.mark.slow
@pytest.mark.parametrize("low_latency", [True, False])
def test_what_it_says_twice_because_it_was_told_something_is_said_once(
    engine: WhisperEngine, monkeypatch: pytest.MonkeyPatch, low_latency: bool
) -> None:
    part = cut(5.6, 9.4)
    plain = text(engine, part, low_latency=low_latency)
    monkeypatch.setattr(engine, "_model", Parrot(engine._model, [], tokenizer=engine._tokenizer))
    assert text(engine, part, low_latency=low_latency, context=("Harper Valley.",)) == plain


class SecondParrot(Parrot):
    """Only its second hypothesis says everything twice."""

    def generate(self, sound: Any, prompts: list[list[int]], **options: Any) -> Any:
        [found] = super().generate(sound, prompts, **options)
        first = found.sequences_ids[0]
        plain = first[: len(first) // 2] if "Harper" in self.tokenizer.decode(prompts[0]) else first
        return [SimpleNamespace(sequences_ids=[plain, plain * 2], scores=[-0.2, -0.1])]


@pytest.mark.slow
def test_no_other_hypothesis_that_says_things_twice_can_be_chosen(
    engine: WhisperEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_model", SecondParrot(engine._model, [], tokenizer=engine._tokenizer))
    found = engine.decode(cut(5.6, 9.4), DecodeOptions(alternatives=2, context=("Harper Valley.",)))
    assert len(found) == 1


@pytest.mark.slow
def test_of_too_many_words_the_last_are_told(engine: WhisperEngine, encoding: Encoding) -> None:
    context = tuple(f"Sentence number {number} is here." for number in range(100))
    assert "times" in text(engine, cut(0.2, 5.6), context=context)
    said = engine._tokenizer.decode(encoding.prompts[-1])
    assert said.endswith("Sentence number 99 is here.")
    assert "Sentence number 9 is" not in said
    assert len(encoding.prompts[-1]) <= 210


@pytest.mark.slow
def test_what_it_is_told_is_not_said_in_silence_or_noise(engine: WhisperEngine) -> None:
    context = ("Hello, this is Harper Valley National Bank.", "How can I help you today?")
    noise = np.random.default_rng(1).normal(0, 0.003, 3 * RATE).astype(np.float32)
    for sound in (np.zeros(3 * RATE, np.float32), noise):
        heard = text(engine, sound, context=context)
        assert "harper" not in heard
        assert "help you" not in heard


def test_the_sound_judges_what_is_proposed(engine: WhisperEngine) -> None:
    """A wording that fits what was said is a hypothesis; one that does not is none, however like it is spelled."""
    asked: list[str] = []

    def proposals(words: Sequence[str]) -> list[list[str]]:
        asked.append(" ".join(words))
        return [[word.replace(*change) for word in words] for change in ((",", ""), ("best", "rest"))]

    options = DecodeOptions(alternatives=2, low_latency=True, proposals=proposals)
    found = [" ".join(word.text for word in one.words) for one in engine.decode(cut(0.2, 5.6), options)]
    assert "the best of times" in asked[0]
    assert any("it was the best of times it was" in one.lower() for one in found)
    assert not any("rest" in one for one in found)
