"""Voices as directions: stretches of speech in, a vector of length one for each out.

speech    |=============================|
windows   |-----------|
                 |-----------|
                        |-----------|    1.6 s each, as the network was trained on, every 0.8 s at most;
                                         shorter speech is one window
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnxruntime

from asr.local.stt.engines.base import RATE, Audio
from asr.local.stt.engines.mel import FRAMES_PER_SECOND, energies, filters
from asr.local.stt.engines.weights import check_sha256

MODEL = Path(__file__).parent / "models" / "voice_encoder.onnx"
_SHA256 = "e44239ad715225d33b1346a66a0ddc2f4ac355f9650703f8261b4da4e11c995b"
BANDS = 40
WINDOW_MS, _STEP_MS = 1600, 800
_FRAMES = WINDOW_MS * FRAMES_PER_SECOND // 1000
_LOUDNESS = 10 ** (-30 / 20)
"""Quieter speech is made this loud, as the network heard it in training."""
_TOGETHER = 16
"""Windows that go through the network at once; more would cost memory and are no quicker."""

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class VoiceWindow:
    """A stretch of speech, in ms of what it was cut from."""

    start_ms: int
    end_ms: int


class VoiceEncoder:
    """The network, shared by all streams. It is loaded when it is asked for the first time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._session: onnxruntime.InferenceSession | None = None
        self._bank = filters(BANDS)

    def encode(self, samples: Audio, start_ms: int, end_ms: int) -> tuple[list[VoiceWindow], Vectors]:
        """The windows of the speech from `start_ms` to `end_ms` of the samples, and the voice in each."""
        windows = cut(start_ms, end_ms)
        speech = samples[start_ms * RATE // 1000 : end_ms * RATE // 1000]
        level = float(np.sqrt(np.mean(np.square(speech), dtype=np.float64))) if len(speech) else 0.0
        mel = energies(speech * np.float32(max(1.0, _LOUDNESS / max(level, 1e-6))), self._bank)
        starts = [(window.start_ms - start_ms) * FRAMES_PER_SECOND // 1000 for window in windows]
        pieces = np.stack([mel[at : at + _FRAMES] for at in starts])
        session = self._loaded()
        found = [session.run(None, {"mel": pieces[at : at + _TOGETHER]})[0] for at in range(0, len(pieces), _TOGETHER)]
        return windows, np.concatenate(found)

    def _loaded(self) -> onnxruntime.InferenceSession:
        with self._lock:
            if self._session is None:
                options = onnxruntime.SessionOptions()
                options.inter_op_num_threads = 1
                options.intra_op_num_threads = 1
                options.enable_cpu_mem_arena = False
                options.log_severity_level = 3
                check_sha256(MODEL, _SHA256)
                self._session = onnxruntime.InferenceSession(str(MODEL), options, providers=["CPUExecutionProvider"])
        return self._session


def cut(start_ms: int, end_ms: int) -> list[VoiceWindow]:
    """Windows of like distance that cover everything."""
    length = end_ms - start_ms
    if length <= WINDOW_MS:
        return [VoiceWindow(start_ms, end_ms)]
    steps = math.ceil((length - WINDOW_MS) / _STEP_MS)
    starts = [start_ms + (length - WINDOW_MS) * step // steps for step in range(steps + 1)]
    return [VoiceWindow(start, start + WINDOW_MS) for start in starts]
