"""The weights of a model that ships in int8, as numbers again: training can go on from them. Needs `onnx`.

What `onnx_export.quantize` did is undone: a weight is its integers times the scale of their column, and the factor
that evened its input goes back into its rows. What rounding took away stays away, some thousandths of a weight.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

Weights = dict[str, NDArray[np.float32]]
_EVEN, _QUANTIZED = "_even", "_quantized"


def float_weights(path: Path) -> Weights:
    """By the names that they have in the network: `layers.0.attention.self.query.weight`."""
    graph = onnx.load(path).graph
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    found = {name: values.astype(np.float32) for name, values in stored.items() if name.endswith((".weight", ".bias"))}
    for node in graph.node:
        if node.op_type != "MatMulInteger":
            continue
        name = node.input[1].removesuffix(_QUANTIZED)
        values = stored[node.input[1]].astype(np.float32) * stored[f"{name}_scale"]
        activation = node.input[0].removesuffix(_QUANTIZED)
        if activation.endswith(_EVEN):
            values = values * stored[f"{activation.removesuffix(_EVEN)}_factor"][:, None]
        layer = node.name.strip("/").rpartition("/")[0].replace("/", ".")
        found[f"{layer}.weight"] = np.ascontiguousarray(values.T, np.float32)
    return found
