"""A small language model on the shared encoder, made in a moment: nothing trained but what a test puts in its heads."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from nlp.inference.models.layered_model import BEFORE, HEADS, MASK, POOLED, SEGMENT, write_heads
from nlp.inference.models.onnx_model import Floats
from nlp.inference.models.token_encoder import STATES, shared_encoder
from tenor.model_store import ModelCard

WIDTH = 384
SLOTS = ("O", "B-date", "I-date")
ROLE_SHIFT = 0.05
"""How much a segment adds to every value of the pooled vector, for each step of its number."""


def write_layered(folder: Path, heads: Mapping[str, Sequence[str]], *, seed: int = 1) -> Path:
    """A model's folder. Its pooled vector is the mean of the text's states and their first, moved by the segment and
    by what was said before; its sentence heads are random."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(_graph(seed).SerializeToString())
    random = np.random.default_rng(seed)
    made: dict[str, tuple[Floats, Floats]] = {
        head: (random.normal(0, 0.02, (len(labels), 2 * WIDTH)).astype(np.float32), np.zeros(len(labels), np.float32))
        for head, labels in heads.items()
    }
    write_heads(made, folder / HEADS)
    files = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in ("model.onnx", HEADS)}
    labels = {head: tuple(names) for head, names in heads.items()} | {"slots": SLOTS}
    card = ModelCard(
        name="small", version="1", heads=labels, encoder_sha256=shared_encoder().card.sha256, files=files
    )  # fmt: skip
    (folder / "model.json").write_bytes(msgspec.json.encode(card))
    return folder


def _graph(seed: int) -> onnx.ModelProto:
    constants = {
        "before": np.array(BEFORE, np.int64),
        "last": np.array([-1], np.int64),
        "one": np.array([1], np.int64),
        "first": np.array(0, np.int64),
        "step": np.array(ROLE_SHIFT, np.float32),
        "slot_weight": np.random.default_rng(seed).normal(0, 0.05, (WIDTH, len(SLOTS))).astype(np.float32),
    }
    nodes = [
        helper.make_node("Equal", [SEGMENT, "before"], ["is_before"]),
        helper.make_node("Not", ["is_before"], ["is_own"]),
        helper.make_node("Cast", ["is_own"], ["own_whole"], to=TensorProto.INT64),
        helper.make_node("Mul", ["own_whole", MASK], ["own_mask"]),
        helper.make_node("Cast", ["own_mask"], ["own_float"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["own_float", "last"], ["weight"]),
        helper.make_node("Mul", [STATES, "weight"], ["own_states"]),
        helper.make_node("ReduceSum", ["own_states", "one"], ["sum"], keepdims=0),
        helper.make_node("ReduceSum", ["weight", "one"], ["tokens"], keepdims=0),
        helper.make_node("Div", ["sum", "tokens"], ["mean"]),
        helper.make_node("ReduceMax", [SEGMENT, "one"], ["segment"], keepdims=1),
        helper.make_node("Cast", ["segment"], ["segment_float"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["segment_float", "step"], ["shift"]),
        helper.make_node("Add", ["mean", "shift"], ["moved"]),
        helper.make_node("Gather", [STATES, "first"], ["mark"], axis=1),
        helper.make_node("Concat", ["moved", "mark"], [POOLED], axis=-1),
        helper.make_node("MatMul", [STATES, "slot_weight"], ["slots"]),
    ]
    free = ["batch", "length"]
    graph = helper.make_graph(
        nodes,
        "small",
        [
            helper.make_tensor_value_info(STATES, TensorProto.FLOAT, [*free, WIDTH]),
            helper.make_tensor_value_info(MASK, TensorProto.INT64, free),
            helper.make_tensor_value_info(SEGMENT, TensorProto.INT64, free),
        ],
        [
            helper.make_tensor_value_info(POOLED, TensorProto.FLOAT, ["batch", 2 * WIDTH]),
            helper.make_tensor_value_info("slots", TensorProto.FLOAT, [*free, len(SLOTS)]),
        ],
        [numpy_helper.from_array(values, name) for name, values in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
