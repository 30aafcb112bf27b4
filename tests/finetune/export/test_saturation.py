"""A quantised model answers alike on every processor, also on those that add two products in 16 bits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from finetune.export.saturation import MOST, Weights, largest_pairs, leave_headroom, scaled
from nlp.inference import name_finder
from nlp.inference.assistant import assistant_model
from nlp.inference.models import token_encoder
from nlp.inference.models.language_model import DEFAULT

ROWS, COLUMNS = 7, 5


def exact(said: NDArray[np.uint8], weights: Weights) -> NDArray[np.int64]:
    return said.astype(np.int64) @ weights.astype(np.int64)


def in_16_bits(said: NDArray[np.uint8], weights: Weights) -> NDArray[np.int64]:
    """As VPMADDUBSW does it: the sum of two products is cut off at what 16 bits hold."""
    products = said.astype(np.int64)[:, None] * weights.astype(np.int64)
    padded = np.vstack([products, np.zeros((len(products) % 2, products.shape[1]), np.int64)])
    pairs: NDArray[np.int64] = padded.reshape(-1, 2, padded.shape[1]).sum(axis=1)
    return np.asarray(np.clip(pairs, -32768, 32767).sum(axis=0))


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 30, 127]))
@settings(max_examples=200)
def test_nothing_is_cut_off_and_little_is_lost(seed: int, largest: int) -> None:
    random = np.random.default_rng(seed)
    weights = random.integers(-largest, largest, (ROWS, COLUMNS), np.int8, endpoint=True)
    smaller, factor = scaled(weights)
    for said in (np.full(ROWS, 255, np.uint8), *random.choice(np.array([0, 7, 255], np.uint8), (20, ROWS))):
        assert (in_16_bits(said, smaller) == exact(said, smaller)).all()
    assert (np.abs(smaller * factor - weights) <= factor / 2 + 1e-9).all()
    assert (factor[largest_pairs(weights) <= MOST] == 1).all()


def test_weights_as_they_were_would_be_cut_off() -> None:
    weights = np.full((2, 1), 127, np.int8)
    said = np.full(2, 255, np.uint8)
    assert in_16_bits(said, weights) != exact(said, weights)
    assert scaled(weights)[0].ravel().tolist() == [64, 64]


def test_a_model_says_the_same_with_it(tmp_path: Path) -> None:
    weights = np.random.default_rng(7).integers(-127, 127, (64, 8), np.int8, endpoint=True)
    scale = np.linspace(0.001, 0.002, 8, dtype=np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("MatMulInteger", ["said", "w_quantized"], ["sum"]),
            helper.make_node("Cast", ["sum"], ["float"], to=TensorProto.FLOAT),
            helper.make_node("Mul", ["float", "w_scale"], ["answer"]),
        ],
        "model",
        [helper.make_tensor_value_info("said", TensorProto.UINT8, ["n", 64])],
        [helper.make_tensor_value_info("answer", TensorProto.FLOAT, ["n", 8])],
        [numpy_helper.from_array(weights, "w_quantized"), numpy_helper.from_array(scale, "w_scale")],
    )
    path = tmp_path / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    said = np.random.default_rng(8).integers(0, 255, (3, 64), np.uint8, endpoint=True)
    leave_headroom(path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (answer,) = session.run(None, {"said": said})
    wanted = exact(said, weights) * scale
    assert answer == pytest.approx(wanted, abs=0.05 * np.abs(wanted).max())
    assert _over(path) == []


def test_what_ships_has_headroom() -> None:
    assert _over(DEFAULT / "model.onnx") == []
    assert _over(name_finder.DEFAULT / "redaction.onnx") == []
    assert _over(token_encoder.DEFAULT / "model.onnx") == []
    assert _over(assistant_model.DEFAULT / "model.onnx") == []


def _over(path: Path) -> list[str]:
    """The weights in which two neighbours are too much."""
    model = onnx.load(path)
    names = {node.input[1] for node in model.graph.node if node.op_type == "MatMulInteger"}
    weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer if tensor.name in names}
    assert weights
    return [name for name, values in weights.items() if (largest_pairs(values) > MOST).any()]
