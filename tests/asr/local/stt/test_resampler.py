"""Every rate becomes 16 kHz, the same way however the samples arrive."""

from __future__ import annotations

import numpy as np
import pytest

from asr.local.stt.engines.base import Audio
from asr.local.stt.resampler import Resampler, frames_per_step
from asr.local.stt.types import Samples


def tone(rate: int, hertz: float, seconds: float = 1.0) -> Samples:
    return (8000 * np.sin(2 * np.pi * hertz * np.arange(int(rate * seconds)) / rate)).astype(np.int16)


def resampled(rate: int, samples: Samples, sizes: list[int]) -> Audio:
    resampler, frames, at = Resampler(rate), [], 0
    while at < len(samples):
        size = sizes[at % len(sizes)]
        resampler.feed(samples[at : at + size])
        at += size
        while (frame := resampler.frame()) is not None:
            frames.append(frame)
    while (frame := resampler.frame(last=True)) is not None:
        frames.append(frame)
    return np.concatenate(frames)


@pytest.mark.parametrize("rate", [8000, 11025, 16000, 22050, 44100, 48000, 96000])
def test_a_tone_stays_a_tone(rate: int) -> None:
    found = resampled(rate, tone(rate, 1000), [4000])
    expected = 8000 / 32768 * np.sin(2 * np.pi * 1000 * np.arange(len(found)) / 16_000)
    assert abs(len(found) - 16_000) <= 512
    assert np.abs(found[2000:14_000] - expected[2000:14_000]).max() < 0.001


def test_what_16_khz_cannot_hold_is_filtered_out() -> None:
    found = resampled(48_000, tone(48_000, 11_000), [4000])
    assert np.abs(found[2000:14_000]).max() < 0.001


@pytest.mark.parametrize("rate", [8000, 44100])
def test_the_size_of_messages_changes_nothing(rate: int) -> None:
    noise = np.random.default_rng(1).integers(-9000, 9000, rate).astype(np.int16)
    assert np.array_equal(resampled(rate, noise, [10, 333]), resampled(rate, noise, [20_000]))


@pytest.mark.parametrize("rate", [8000, 22050, 44100])
def test_a_restart_equals_a_new_stream(rate: int) -> None:
    noise = np.random.default_rng(2).integers(-9000, 9000, rate).astype(np.int16)
    at = 2 * frames_per_step(rate)
    one = Resampler(rate)
    one.feed(noise)
    for _ in range(at + 1):
        one.frame()
    one.restart(at)
    other = Resampler(rate)
    other.feed(noise[at * 32 * rate // 1000 :])
    first, second = one.frame(), other.frame()
    assert first is not None
    assert second is not None
    assert np.array_equal(first, second)
