"""What a CTC model of NeMo hears: a log-mel spectrogram in which every band has mean 0 and deviation 1.

samples --pre-emphasis--> windows of 25 ms, every 10 ms --> power, 80 mel bands, log --> normalised per band
"""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt

from asr.local.stt.engines.base import RATE, Audio
from asr.local.stt.engines.mel import filters

_TINY = 1e-5
"""Added to a deviation, so that a band in which nothing changes can be divided by it."""


class FrontEnd(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters that differ between models; a model is wrong about everything with those of another."""

    rate: int = RATE
    bands: int = 80
    fft: int = 512
    window: int = 400
    hop: int = 160
    preemphasis: float = 0.97
    log_guard: float = 2.0**-24
    """Added before the logarithm."""
    pad_to: int = 16
    """Frames come in multiples of this; 0: as many as there are."""


class FeatureExtractor:
    def __init__(self, front_end: FrontEnd) -> None:
        self._front_end = front_end
        self._bank = filters(front_end.bands, front_end.fft)
        window = np.zeros(front_end.fft)
        first = (front_end.fft - front_end.window) // 2
        window[first : first + front_end.window] = np.hanning(front_end.window)
        self._window = window

    def features(self, samples: Audio) -> tuple[npt.NDArray[np.float32], int]:
        """`bands x frames`, and how many of the frames hold sound; the others are zero."""
        front = self._front_end
        sound = samples.astype(np.float64)
        sound[1:] -= front.preemphasis * samples[:-1]
        frames, heard = len(samples) // front.hop + 1, max(len(samples) // front.hop, 1)
        padded = np.pad(sound, front.fft // 2)
        pieces = np.lib.stride_tricks.sliding_window_view(padded, front.fft)[:: front.hop][:frames]
        power = np.abs(np.fft.rfft(pieces * self._window, axis=-1)) ** 2
        spectrum = np.log(self._bank @ power.T + front.log_guard)[:, :heard]
        mean = spectrum.mean(axis=1, keepdims=True)
        deviation = spectrum.std(axis=1, ddof=1, keepdims=True) if heard > 1 else np.zeros_like(mean)
        step = max(front.pad_to, 1)
        normal = np.zeros((front.bands, -(-frames // step) * step), np.float32)
        normal[:, :heard] = (spectrum - mean) / (deviation + _TINY)
        return normal, heard
