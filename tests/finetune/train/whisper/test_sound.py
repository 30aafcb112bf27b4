"""What the model hears in training is what the server would give it, with the noise that was asked for."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
import soundfile

from asr.local.stt.engines.base import RATE
from asr.local.stt.engines.mel import filters
from finetune.train.whisper.segments import SpeechSegment
from finetune.train.whisper.sound import Noise, features, masked, resampled, window_audio
from finetune.train.whisper.windows import Piece, WindowPlan


@pytest.fixture
def tone() -> np.ndarray:
    return (8000 * np.sin(2 * np.pi * 440 * np.arange(3 * 8000) / 8000)).astype(np.int16)


@pytest.fixture
def segments(tone: np.ndarray, tmp_path: Path) -> list[SpeechSegment]:
    stereo = np.stack([np.zeros_like(tone), tone], axis=1)
    soundfile.write(tmp_path / "a.flac", stereo, 8000)
    return [SpeechSegment(tmp_path / "a.flac", 1, start, start + 1000, "la", "train") for start in (200, 1500)]


@pytest.mark.parametrize("snr_db", [5.0, 20.0])
def test_noise_has_the_stated_ratio_and_comes_from_its_seed(tone: np.ndarray, snr_db: float) -> None:
    noisy = Noise(snr_db, seed=3).add(tone)
    noise = noisy.astype(float) - tone
    assert 10 * np.log10(np.mean(tone.astype(float) ** 2) / np.mean(noise**2)) == pytest.approx(snr_db, abs=0.3)
    assert (Noise(snr_db, seed=3).add(tone) == noisy).all()
    assert (Noise(snr_db, seed=4).add(tone) != noisy).any()


def test_noise_over_silence_and_nothing_is_silence_and_nothing() -> None:
    assert not Noise(10, 1).add(np.zeros(800, np.int16)).any()
    assert len(Noise(10, 1).add(np.zeros(0, np.int16))) == 0


def test_a_joint_window_holds_its_channels_pieces_with_pauses_between(segments: list[SpeechSegment]) -> None:
    pieces = (Piece((0,), 100, 1250, 400), Piece((1,), 1400, 2600, 300))
    plan = WindowPlan(pieces, 29.0, joint=True)
    audio = window_audio(plan, segments)
    assert len(audio) == 28 * RATE
    heard = np.abs(audio.reshape(-1, RATE // 100)).max(axis=1) > 0.1
    assert heard[:114].all()
    assert not heard[116:154].any()
    assert heard[156:274].all()
    assert not heard[276:].any()
    assert audio.max() == pytest.approx(0.9, abs=0.01)
    assert features(plan, audio, filters(80)).shape == (80, 2900)


def test_a_live_window_is_as_long_as_the_server_makes_it(segments: list[SpeechSegment]) -> None:
    plan = WindowPlan((Piece((0, 1), 100, 2600),), 15.0, joint=False)
    audio = window_audio(plan, segments)
    assert len(audio) == 2.5 * RATE
    assert features(plan, audio, filters(80)).shape == (80, 1500)


def test_a_piece_beyond_the_recording_is_cut_there(segments: list[SpeechSegment]) -> None:
    plan = WindowPlan((Piece((1,), 2900, 3400),), 15.0, joint=False)
    assert len(window_audio(plan, segments)) == 0.1 * RATE
    assert len(resampled(np.zeros(0, np.int16), 8000)) == 0


def test_masking_hides_little_and_comes_from_its_seed() -> None:
    spectrum = np.random.default_rng(1).standard_normal((80, 1500)).astype(np.float32)
    hidden = masked(spectrum, Random(5))
    assert 0 < (hidden != spectrum).mean() < 0.2
    assert (masked(spectrum, Random(5)) == hidden).all()
