"""Audio that can be told apart: a tone for each party."""

from __future__ import annotations

import numpy as np

from tenor.g711 import Samples

CALLER_HZ = 440
AGENT_HZ = 1200


def tone(hertz: float, seconds: float, rate: int = 8000) -> Samples:
    at = np.arange(round(seconds * rate)) / rate
    return (8000 * np.sin(2 * np.pi * hertz * at)).astype(np.int16)


def pitch(pcm: bytes, rate: int = 8000) -> float:
    """The loudest frequency; 0 for silence."""
    samples = np.frombuffer(pcm, "<i2").astype(float)
    if not samples.size or np.abs(samples).max() < 100:
        return 0.0
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(samples.size)))
    return float(np.argmax(spectrum) * rate / samples.size)


def interleave(left: Samples, right: Samples) -> Samples:
    return np.column_stack([left, right]).ravel().astype(np.int16)
