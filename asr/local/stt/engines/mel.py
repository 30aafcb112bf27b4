"""Mel filters, the energies in them, and Whisper's log-mel spectrogram."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from asr.local.stt.engines.base import RATE, Audio

_FFT = 400
_HOP = 160
FRAMES_PER_SECOND = RATE // _HOP
_WINDOW = np.hanning(_FFT + 1)[:-1].astype(np.float32)


def filters(bands: int, fft: int = _FFT) -> npt.NDArray[np.float32]:
    """Slaney's mel filters: linear up to 1 kHz, logarithmic above, each of equal energy."""
    mels = np.linspace(0.0, 45.245640471924965, bands + 2)
    hertz = np.where(mels < 15.0, mels * 200.0 / 3, 1000.0 * np.exp(np.log(6.4) / 27.0 * (mels - 15.0)))
    widths = np.diff(hertz)
    ramps = hertz[:, None] - np.fft.rfftfreq(fft, 1.0 / RATE)[None, :]
    rising, falling = -ramps[:-2] / widths[:-1, None], ramps[2:] / widths[1:, None]
    triangles = np.maximum(0.0, np.minimum(rising, falling))
    scaled: npt.NDArray[np.float32] = (triangles * (2.0 / (hertz[2:] - hertz[:-2]))[:, None]).astype(np.float32)
    return scaled


def spectrogram(samples: Audio, frames: int, bank: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """`bands x frames`, padded with silence or cut to the window of `frames`."""
    heard = min(len(samples), frames * _HOP)
    padded = np.zeros(frames * _HOP + _FFT, dtype=np.float32)
    padded[_FFT // 2 : _FFT // 2 + heard] = samples[:heard]
    if heard > _FFT // 2:
        padded[: _FFT // 2] = samples[_FFT // 2 : 0 : -1]
    # Only the frames that hold sound are transformed; silence has a known value.
    busy = min(frames, heard // _HOP + 3)
    spectrum = np.full((len(bank), frames), -10.0, dtype=np.float32)
    spectrum[:, :busy] = np.log10(np.maximum(bank @ _power(padded, busy).T, 1e-10))
    scaled: npt.NDArray[np.float32] = (np.maximum(spectrum, spectrum.max() - 8.0) + 4.0) / 4.0
    return scaled


def energies(samples: Audio, bank: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """`frames x bands`, a frame centred on every hundredth of a second; around the samples is silence."""
    frames = len(samples) // _HOP + 1
    found: npt.NDArray[np.float32] = _power(np.pad(samples, _FFT // 2), frames) @ bank.T
    return found


def _power(padded: Audio, frames: int) -> npt.NDArray[np.float32]:
    pieces = np.lib.stride_tricks.sliding_window_view(padded, _FFT)[: frames * _HOP : _HOP]
    power: npt.NDArray[np.float32] = np.abs(np.fft.rfft(pieces * _WINDOW, axis=-1).astype(np.complex64)) ** 2
    return power
