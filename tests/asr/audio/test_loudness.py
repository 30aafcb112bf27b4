"""How loud what was said is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asr.audio.loudness import LEAST, LoudnessMeter


def tone(level: float, ms: int, rate: int = 8000) -> bytes:
    """A sine whose mean square is `level` squared, in parts of full scale."""
    at = np.arange(ms * rate // 1000)
    wave = np.round(32768 * level * np.sqrt(2) * np.sin(2 * np.pi * 500 * at / rate))
    return bytes(wave.astype("<i2").tobytes())


def test_loudness_is_in_decibels_of_full_scale() -> None:
    meter = LoudnessMeter()
    meter.add(0, tone(0.1, 500) + tone(0.01, 500), 8000)
    assert meter.loudness([(0, 500)]) == -20.0
    assert meter.loudness([(500, 1000)]) == -40.0
    assert meter.loudness([(0, 1000)]) == pytest.approx(-23.0, abs=0.1)


def test_what_is_silent_short_or_forgotten() -> None:
    meter = LoudnessMeter()
    meter.add(0, bytes(16_000), 8000)
    assert meter.loudness([(0, 500)]) == LEAST
    assert meter.loudness([(103, 109)]) is None
    meter.forget(500)
    assert meter.loudness([(0, 500)]) is None
    assert meter.loudness([(0, 1000)]) == LEAST
    meter.clear()
    assert meter.loudness([(0, 1000)]) is None


@given(st.lists(st.integers(1, 700), max_size=20), st.integers(0, 300), st.sampled_from([8000, 16_000, 48_000]))
def test_it_does_not_depend_on_how_the_audio_came_nor_on_where_hearing_began(
    cuts: list[int], begin_ms: int, rate: int
) -> None:
    noise = np.random.default_rng(1).integers(-9000, 9000, rate, dtype=np.int16).astype("<i2").tobytes()
    whole = LoudnessMeter()
    whole.add(0, noise, rate)
    first = begin_ms * rate // 1000
    pieces, at = LoudnessMeter(), first
    for cut in [*cuts, rate]:
        pieces.add(at * 1000 / rate, noise[2 * at : 2 * (at + cut)], rate)
        at += cut
    words = [(begin_ms, begin_ms + 205), (begin_ms + 250, 980)]
    assert pieces.loudness(words) == whole.loudness(words)


@pytest.mark.parametrize("rate", [1, 7, 60, 99, 11_025])
def test_any_rate_a_source_may_claim(rate: int) -> None:
    meter = LoudnessMeter()
    for second in range(3):
        meter.add(second * 1000, np.full(rate, 3277, "<i2").tobytes(), rate)
    assert meter.loudness([(0, 3000)]) == -20.0
