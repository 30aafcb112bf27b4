"""From a plan of a window to the spectrogram that the model sees: read, made noisy, resampled, put together."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import soundfile

from asr.local.stt.engines.base import RATE, Audio, normalize_peak
from asr.local.stt.engines.mel import FRAMES_PER_SECOND, spectrogram
from asr.local.stt.resampler import Resampler
from asr.local.stt.types import Samples
from finetune.train.whisper.segments import SpeechSegment
from finetune.train.whisper.windows import JOINT_S, Piece, WindowPlan

_MASKED_BANDS, _MASKED_FRAMES = 10, 20
_MOST_S = 30.0


def window_audio(plan: WindowPlan, segments: Sequence[SpeechSegment], noise: Noise | None = None) -> Audio:
    """What the server would give its engine for this window."""
    heard = [resampled(*_read(piece, segments, noise)) for piece in plan.pieces]
    if not plan.joint:
        return heard[0]
    window = np.zeros(int(JOINT_S * RATE), np.float32)
    at = 0
    for piece, samples in zip(plan.pieces, heard, strict=True):
        room = window[at : at + len(samples)]
        room[:] = normalize_peak(samples)[: len(room)]
        at += len(samples) + piece.pause_ms * RATE // 1000
    return window


def features(plan: WindowPlan, audio: Audio, bank: Audio) -> Audio:
    seconds = min(max(plan.seconds, len(audio) / RATE + 1.0), _MOST_S)
    return spectrogram(normalize_peak(audio), int(seconds * FRAMES_PER_SECOND) // 2 * 2, bank)


class Noise:
    """Noise of a telephone line at a stated ratio of the speech's power to its own, in decibels."""

    def __init__(self, snr_db: float, seed: int) -> None:
        self.snr_db = snr_db
        self._random = np.random.default_rng(seed)

    def add(self, samples: Samples) -> Samples:
        """Pink noise: as much power in each octave, as rooms and lines have it."""
        if not samples.any():
            return samples
        speech = samples.astype(np.float64)
        spectrum = np.fft.rfft(self._random.standard_normal(len(speech)))
        spectrum[1:] /= np.sqrt(np.arange(1, len(spectrum)))
        spectrum[0] = 0
        noise = np.fft.irfft(spectrum, len(speech))
        power, wanted = np.mean(noise**2), np.mean(speech**2) / 10 ** (self.snr_db / 10)
        noisy: Samples = np.clip(speech + noise * np.sqrt(wanted / power), -32768, 32767).astype(np.int16)
        return noisy


def masked(spectrum: Audio, random: Random) -> Audio:
    """Light SpecAugment: a band and two short moments are hidden under the window's mean."""
    hidden = spectrum.copy()
    mean = spectrum.mean()
    width = random.randrange(_MASKED_BANDS + 1)
    at = random.randrange(hidden.shape[0] - width)
    hidden[at : at + width] = mean
    for _ in range(2):
        width = random.randrange(_MASKED_FRAMES + 1)
        at = random.randrange(hidden.shape[1] - width)
        hidden[:, at : at + width] = mean
    return hidden


def resampled(samples: Samples, rate: int) -> Audio:
    """At the engine's rate, by the server's own resampler."""
    resampler = Resampler(rate)
    resampler.feed(samples)
    frames = []
    while (frame := resampler.frame(last=True)) is not None:
        frames.append(frame)
    return np.concatenate(frames)[: len(samples) * RATE // rate] if frames else np.zeros(0, np.float32)


def _read(piece: Piece, segments: Sequence[SpeechSegment], noise: Noise | None) -> tuple[Samples, int]:
    segment = segments[piece.segments[0]]
    with soundfile.SoundFile(segment.audio) as file:
        start = min(max(piece.start_ms, 0) * file.samplerate // 1000, file.frames)
        file.seek(start)
        frames = max(piece.end_ms * file.samplerate // 1000 - start, 0)
        samples = file.read(frames, dtype="int16", always_2d=True)[:, segment.channel]
        heard = np.ascontiguousarray(samples)
        return noise.add(heard) if noise else heard, file.samplerate
