"""Weights whose sums every processor can hold. Needs `onnx`.

Processors without VNNI, the instructions for 8-bit networks, multiply two pairs of bytes and add the products in 16
bits. 255 * 127 + 255 * 127 is more than these hold, and what is more is cut off without a word: the same model answers
differently there, and worse. So a column of weights in which two neighbours could become too much gets a coarser scale,
as little coarser as it takes: a fifth on average, where the usual remedy, weights of 7 bits, makes all twice as coarse.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

MOST = 32767 // 255
"""What two neighbours of the same sign may be together, whatever they are multiplied with."""
STEP = 1.002

Weights = NDArray[np.int8]


def leave_headroom(path: Path) -> None:
    """Scale the columns of a quantised model that need it, in place."""
    model = onnx.load(path)
    tensors = {tensor.name: tensor for tensor in model.graph.initializer}
    for name in {node.input[1] for node in model.graph.node if node.op_type == "MatMulInteger"}:
        scale_name = f"{name.removesuffix('_quantized')}_scale"
        weights, factor = scaled(numpy_helper.to_array(tensors[name]))
        scale = numpy_helper.to_array(tensors[scale_name]) * factor
        tensors[name].CopyFrom(numpy_helper.from_array(weights, name))
        tensors[scale_name].CopyFrom(numpy_helper.from_array(scale.astype(np.float32), scale_name))
    onnx.save(model, path)


def scaled(weights: Weights) -> tuple[Weights, NDArray[np.float64]]:
    """The weights with headroom, and by how much each of their columns was divided."""
    factor = np.maximum(largest_pairs(weights) / MOST, 1.0)
    smaller = np.rint(weights / factor).astype(np.int8)
    while (over := largest_pairs(smaller) > MOST).any():  # rounding may have added one
        factor[over] *= STEP
        smaller = np.rint(weights / factor).astype(np.int8)
    return smaller, factor


def largest_pairs(weights: Weights) -> NDArray[np.int64]:
    """For every column, the most that two neighbours of one sign are together."""
    rows, columns = weights.shape
    even = np.zeros((rows + rows % 2, columns), np.int64)
    even[:rows] = weights
    pairs = even.reshape(-1, 2, columns)
    return np.maximum(np.maximum(pairs, 0).sum(axis=1), np.maximum(-pairs, 0).sum(axis=1)).max(axis=0)  # type: ignore[no-any-return]
