"""Makes the CTC model that the tests of its engine hear with: every letter is a tone of its own.

    python -m tests.asr.local.stt.engines.tone_model        writes the folder `tones` anew

It is a real CTC model in everything but what it was taught: a spectrogram goes in, probabilities of tokens per 40 ms
come out, and the last output is the blank.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np

from asr.local.stt.engines.base import RATE, Audio
from asr.local.stt.engines.ctc_features import FrontEnd
from asr.local.stt.engines.ctc_folder import DESCRIPTION, WORD_START, CtcDescription
from asr.local.stt.engines.mel import filters

FOLDER = Path(__file__).parent / "tones"
TOKENS = (WORD_START, *"adehlorw")
SUBSAMPLING = 4
TONE_MS = 160
"""How long a letter sounds; there is as much silence after it."""
_FIRST_BAND, _BAND_STEP = 12, 7
_SHARPNESS, _THRESHOLD = 6.0, 1.9


def band(token: str) -> int:
    return _FIRST_BAND + _BAND_STEP * TOKENS.index(token)


def tones(text: str) -> Audio:
    """What the model hears as this text: a tone per letter, above some noise, and quiet at the end."""
    front = FrontEnd()
    centres = filters(front.bands, front.fft).argmax(axis=1) * RATE / front.fft
    times = np.arange(RATE * TONE_MS // 1000) / RATE
    quiet = np.zeros_like(times)
    parts = [quiet]
    for letter in text.replace(" ", WORD_START):
        parts += [0.5 * np.sin(2 * np.pi * centres[band(letter)] * times), quiet]
    sound = np.concatenate([*parts, *[quiet] * 6])
    noise = np.random.default_rng(3).standard_normal(len(sound))
    made: Audio = (sound + 0.01 * noise).astype(np.float32)
    return made


def make(folder: Path = FOLDER) -> Path:
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    front = FrontEnd()
    weights = np.zeros((len(TOKENS) + 1, front.bands, SUBSAMPLING), np.float32)
    for number, token in enumerate(TOKENS):
        weights[number, band(token)] = _SHARPNESS / SUBSAMPLING
    bias = np.zeros(len(TOKENS) + 1, np.float32)
    bias[-1] = _SHARPNESS * _THRESHOLD
    nodes = [
        helper.make_node(
            "Conv", ["audio_signal", "weights", "bias"], ["logits"],
            kernel_shape=[SUBSAMPLING], strides=[SUBSAMPLING], auto_pad="SAME_UPPER",
        ),
        helper.make_node("Transpose", ["logits"], ["frames"], perm=[0, 2, 1]),
        helper.make_node("LogSoftmax", ["frames"], ["logprobs"], axis=-1),
    ]  # fmt: skip
    graph = helper.make_graph(
        nodes,
        "tones",
        [
            helper.make_tensor_value_info("audio_signal", TensorProto.FLOAT, ["batch", front.bands, "time"]),
            helper.make_tensor_value_info("length", TensorProto.INT64, ["batch"]),
        ],
        [helper.make_tensor_value_info("logprobs", TensorProto.FLOAT, ["batch", "frames", len(TOKENS) + 1])],
        [numpy_helper.from_array(weights, "weights"), numpy_helper.from_array(bias, "bias")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    description = CtcDescription(front_end=front, tokens=TOKENS, subsampling=SUBSAMPLING)
    (folder / DESCRIPTION).write_bytes(msgspec.json.format(msgspec.json.encode(description), indent=1) + b"\n")
    return folder


if __name__ == "__main__":
    make()
