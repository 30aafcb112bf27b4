"""Activations made even before they are quantised (Xiao et al. 2023, SmoothQuant). Needs the extra `finetune`.

A few columns of an activation are many times larger than the rest and would take all the steps of a common scale.
Each column is divided by its size, and the weights that meet it are multiplied by the same: the product stays, the
steps get finer. It costs one multiplication a value at run time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from finetune.export.activation_ranges import Inputs, probed

STRENGTH = 0.8
"""0 leaves everything as it is, 1 moves all unevenness into the weights."""
LEAST = 1e-5

Column = NDArray[np.float32]


def smooth(full: Path, even: Path, sentences: Iterable[Inputs]) -> None:
    """The same network with even activations, in full precision."""
    model = onnx.load(full)
    weights = {weight.name: weight for weight in model.graph.initializer}
    readers: dict[str, list[Any]] = defaultdict(list)  # activation -> the multiplications that read it
    for node in model.graph.node:
        if node.op_type == "MatMul" and node.input[1] in weights:
            readers[node.input[0]].append(node)
    sizes = _sizes(model, list(readers), sentences)
    nodes = []
    made: set[str] = set()
    for node in model.graph.node:
        name = node.input[0] if node.op_type == "MatMul" and node.input[1] in weights else ""
        if name:
            if name not in made:
                made.add(name)
                factor = _factor(sizes[name], [_array(weights[reader.input[1]]) for reader in readers[name]])
                for reader in readers[name]:
                    scaled = _array(weights[reader.input[1]]) * factor[:, None]
                    weights[reader.input[1]].CopyFrom(numpy_helper.from_array(scaled, reader.input[1]))
                model.graph.initializer.append(numpy_helper.from_array(1 / factor, f"{name}_factor"))
                nodes.append(helper.make_node("Mul", [name, f"{name}_factor"], [f"{name}_even"], name=f"{name}_smooth"))
            node.input[0] = f"{name}_even"
        nodes.append(node)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    onnx.save(model, even)


def _sizes(model: Any, names: list[str], sentences: Iterable[Inputs]) -> dict[str, Column]:
    """The largest value of each column of each activation."""
    session = probed(model, names)
    largest: dict[str, Column] = {}
    for one in sentences:
        for name, values in zip(names, session.run(names, dict(one)), strict=True):
            columns = np.abs(values).reshape(-1, values.shape[-1]).max(axis=0)
            largest[name] = np.maximum(largest.get(name, columns), columns)
    return largest


def _factor(sizes: Column, weights: list[Column]) -> Column:
    rows = np.max([np.abs(weight).max(axis=1) for weight in weights], axis=0)
    factor = np.maximum(sizes, LEAST) ** STRENGTH / np.maximum(rows, LEAST) ** (1 - STRENGTH)
    factor /= np.exp(np.log(factor).mean())
    return np.maximum(factor, 1e-3).astype(np.float32)  # type: ignore[no-any-return]


def _array(weight: Any) -> Column:
    return np.asarray(numpy_helper.to_array(weight), np.float32)
