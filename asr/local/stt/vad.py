"""Voice activity detection (VAD): Silero VAD v6 on onnxruntime, one recurrent state for each stream."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime

from asr.local.stt.engines.base import RATE, Audio
from asr.local.stt.engines.weights import check_sha256

FRAME = 512
"""Samples in one frame: 32 ms."""
FRAME_MS = FRAME * 1000 // RATE
_CONTEXT = 64
_STATE = (1, 1, 128)
MODEL = Path(__file__).parent / "models" / "silero_vad_v6.onnx"
_SHA256 = "4cbf549b8326f60f80f2536d9eefeb450a9abe83365a098031c89719f1be17d2"
_FLOOR = np.float32(6 / 32768) ** 2
"""Mean square below which a frame is silence without asking: a hundred idle lines cost next to nothing."""


class VadModel:
    """The network, shared by all streams."""

    def __init__(self, path: Path = MODEL) -> None:
        options = onnxruntime.SessionOptions()
        options.inter_op_num_threads = 1
        options.intra_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 3
        check_sha256(path, _SHA256)
        self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


class VoiceActivityDetector:
    """One stream's detector. Frames go in one by one, always: a batch would round differently."""

    def __init__(self, model: VadModel) -> None:
        self._session = model.session
        self.reset()

    def reset(self) -> None:
        self._hidden = np.zeros(_STATE, dtype=np.float32)
        self._cell = np.zeros(_STATE, dtype=np.float32)
        self._context = np.zeros(_CONTEXT, dtype=np.float32)

    def probability(self, frame: Audio) -> float:
        """How likely this frame is speech."""
        # A constant offset is no sound.
        sound = frame - frame.mean()
        if sound.dot(sound) < _FLOOR * FRAME:
            self._context = frame[-_CONTEXT:]
            return 0.0
        window = np.concatenate([self._context, frame])[None]
        output, self._hidden, self._cell = self._session.run(
            None, {"input": window, "h": self._hidden, "c": self._cell}
        )
        self._context = frame[-_CONTEXT:]
        return float(output.reshape(-1)[0])
