"""The real ears, loaded once, and real speech at telephone quality."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import soundfile
import soxr

from asr.local.stt.engines.weights import package_file
from asr.local.stt.recognizer import LocalRecognizer
from asr.local.stt.types import Samples
from tenor.settings import RivaSettings

RATE = 8000


@pytest.fixture(scope="session")
def recognizer() -> Iterator[LocalRecognizer]:
    recognizer = LocalRecognizer(RivaSettings())
    yield recognizer
    recognizer.close()


def recording(name: str, start_s: float, end_s: float, rate: int = RATE) -> Samples:
    """A cut of one of the recordings that come with an engine's package."""
    samples, own_rate = soundfile.read(package_file("moonshine_voice", "assets", name), dtype="float32")
    cut = samples[int(start_s * own_rate) : int(end_s * own_rate)]
    resampled: Samples = (soxr.resample(cut, own_rate, rate) * 32767).clip(-32768, 32767).astype(np.int16)
    return resampled


@pytest.fixture(scope="session")
def two_sentences() -> Samples:
    """ "We had everything before us, we had nothing before us." and "We were all going direct to heaven ..."."""
    return recording("two_cities.wav", 20.7, 28.6)


@pytest.fixture(scope="session")
def conversation(two_sentences: Samples) -> Samples:
    """Speech, a burst of noise, a long silence, and speech again, over the hiss of a line."""
    rng = np.random.default_rng(5)
    hiss = rng.normal(0, 12, RATE * 21)
    hiss[: len(two_sentences)] += two_sentences
    hiss[RATE * 9 : RATE * 10] += rng.normal(0, 3000, RATE)
    later = recording("beckett.wav", 0.0, 3.4)
    hiss[RATE * 17 : RATE * 17 + len(later)] += later
    return hiss.clip(-32768, 32767).astype(np.int16)
