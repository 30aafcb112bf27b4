"""Fixed ranges for the activations of a quantised model. Needs the extra `finetune`.

onnxruntime's dynamic quantisation measures the range of every activation anew, over the whole batch: a sentence's
scores then depend on its neighbours, and a call heard twice is not understood the same way twice. Measured once, on
sentences of the kind, and written into the graph, the ranges cost nothing in quality or speed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

DYNAMIC = "DynamicQuantizeLinear"
SHARE = 0.99
"""Of the sentences measured on; the few wildest would make the steps coarser for all others."""

Inputs = Mapping[str, NDArray[Any]]


def fix_ranges(path: Path, sentences: Iterable[Inputs]) -> None:
    """Replace every range that is measured at run time by one measured now, in place."""
    model = onnx.load(path)
    measured = [node for node in model.graph.node if node.op_type == DYNAMIC]
    ranges = _measured(model, sorted({node.input[0] for node in measured}), sentences)
    nodes = []
    for node in model.graph.node:
        if node.op_type == DYNAMIC:
            scale, zero = _steps(*ranges[node.input[0]])
            quantised, scale_name, zero_name = node.output
            model.graph.initializer.append(numpy_helper.from_array(np.array(scale, np.float32), scale_name))
            model.graph.initializer.append(numpy_helper.from_array(np.array(zero, np.uint8), zero_name))
            inputs = [node.input[0], scale_name, zero_name]
            node = helper.make_node("QuantizeLinear", inputs, [quantised], name=node.name)
        nodes.append(node)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    onnx.save(model, path)


def _measured(model: Any, names: list[str], sentences: Iterable[Inputs]) -> dict[str, tuple[float, float]]:
    """Least and greatest value of each activation, without the wildest sentences."""
    session = probed(model, names)
    seen = [[(float(v.min()), float(v.max())) for v in session.run(names, dict(one))] for one in sentences]
    extremes = np.array(seen)
    least = np.quantile(extremes[:, :, 0], 1 - SHARE, axis=0)
    most = np.quantile(extremes[:, :, 1], SHARE, axis=0)
    return {name: (float(a), float(b)) for name, a, b in zip(names, least, most, strict=True)}


def probed(model: Any, names: list[str]) -> Any:
    """A session of the model that also tells the named activations."""
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    probe.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # it warns of the outputs we have just added
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(probe.SerializeToString(), options, providers=["CPUExecutionProvider"])


def _steps(least: float, most: float) -> tuple[float, int]:
    """Size of a step and where zero lies; zero itself must be exact, since padding is zero."""
    least, most = min(least, 0.0), max(most, 0.0)
    scale = (most - least) / 255 or 1e-8
    return scale, round(-least / scale)
