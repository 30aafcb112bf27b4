"""Calls in which people really speak, cut from a reading of A Tale of Two Cities, for tests that hear with a real
recogniser."""

from __future__ import annotations

import random
from pathlib import Path

import moonshine_voice
import numpy as np
import soundfile
import soxr

RATE = 8000


def calls(count: int) -> list[tuple[bytes, bytes]]:
    """Calls of two channels, 6 to 14 s long, in 16-bit samples."""
    path = Path(moonshine_voice.__file__).parent / "assets" / "two_cities.wav"
    sound, rate = soundfile.read(path, dtype="float32")
    reading = np.round(soxr.resample(sound, rate, RATE) * 32767).astype(np.int16)
    chance = random.Random(1859)

    def side(number: int, lead_s: float) -> bytes:
        parts = [np.zeros(round(lead_s * RATE), np.int16)]
        for turn in range(2):
            start = round((number * 5.3 + turn * 2.9) * RATE) % (len(reading) - 3 * RATE)
            parts.append(reading[start : start + round(chance.uniform(1.5, 2.6) * RATE)])
            parts.append(np.zeros(round(chance.uniform(1.2, 3.5) * RATE), np.int16))
        return np.concatenate(parts).tobytes()

    return [(side(2 * number, 0.5), side(2 * number + 1, 2.5)) for number in range(count)]
