"""Any telephone or studio rate to the engines' 16 kHz, frame by frame."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from asr.local.stt.engines.base import RATE, Audio
from asr.local.stt.types import Samples
from asr.local.stt.vad import FRAME, FRAME_MS

_CROSSINGS = 24
"""Zero crossings of the kernel on each side: 3 ms of look-ahead at 8 kHz."""
_BETA = 8.0
_ROLLOFF = 0.95
_LONGEST_STEP = 5


def frames_per_step(rate: int) -> int:
    """After how many frames a whole number of samples has passed: 1 at 8 and 16 kHz, 5 at 44.1 kHz.

    Rates that have no such number soon take 1 and are cut at the sample before.
    """
    steps = (frames for frames in range(1, _LONGEST_STEP + 1) if frames * FRAME_MS * rate % 1000 == 0)
    return next(steps, 1)


class Resampler:
    """A windowed sinc over the samples since the start; before them and after the end is silence.

    Each frame is made in the same way from the same samples, however they arrived, so cutting a
    stream at a frame and starting a new one there changes nothing behind the cut.
    """

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._buffer = np.zeros(0, dtype=np.int16)
        self._length = 0
        self._frame = 0

    def feed(self, samples: Samples) -> None:
        needed = self._length + len(samples)
        if needed > len(self._buffer):
            grown = np.zeros(max(needed, 2 * len(self._buffer), self._rate // 2), dtype=np.int16)
            grown[: self._length] = self._buffer[: self._length]
            self._buffer = grown
        self._buffer[self._length : needed] = samples
        self._length = needed

    def frame(self, last: bool = False) -> Audio | None:
        """The next frame, or None until all its samples are there. `last`: only silence will follow."""
        start, phase = divmod(self._frame * FRAME * self._rate, RATE)
        before, first, weights = _kernel(self._rate, phase)
        width = weights.shape[1]
        begin, end = start - before, start - before + int(first[-1]) + width
        if end > self._length and not (last and start < self._length):
            return None
        self._frame += 1
        heard = np.zeros(end - begin, dtype=np.float32)
        low, high = max(begin, 0), min(end, self._length)
        heard[low - begin : high - begin] = self._buffer[low:high]
        if heard.min() == heard.max():
            return np.full(FRAME, heard[0] / np.float32(32768))
        # Every place a kernel could lie, without a copy; taking rows is much quicker than taking single samples.
        places = np.ndarray((len(heard) - width + 1, width), np.float32, heard, strides=(4, 4))
        result: Audio = np.einsum("ij,ij->i", places[first], weights)
        return result

    def restart(self, frame: int) -> None:
        """Forget everything before `frame`, which becomes the first."""
        cut = frame * FRAME * self._rate // RATE
        self._buffer = self._buffer[cut : self._length].copy()
        self._length = len(self._buffer)
        self._frame = 0


@lru_cache(maxsize=32)
def _kernel(rate: int, phase: int) -> tuple[int, npt.NDArray[np.intp], npt.NDArray[np.float32]]:
    """Samples needed before the frame, the first sample each output takes, and the weights of it and the next.

    `phase`: by how many 16000ths of a sample the frame begins after a whole one.
    """
    if rate == RATE:
        return 0, np.arange(FRAME), np.full((FRAME, 1), 1 / 32768, dtype=np.float32)
    stretch = max(1.0, rate / RATE)
    side = int(np.ceil(_CROSSINGS * stretch))
    whole, part = np.divmod(phase + np.arange(FRAME) * rate, RATE)
    reach = np.arange(1 - side, side + 1)
    distance = (reach[None, :] - (part / RATE)[:, None]) / stretch
    bell = np.i0(_BETA * np.sqrt(np.maximum(0.0, 1 - (distance / _CROSSINGS) ** 2))) / np.i0(_BETA)
    weights = np.sinc(_ROLLOFF * distance) * bell
    weights /= weights.sum(axis=1, keepdims=True) * 32768
    return side - 1, whole, weights.astype(np.float32)
