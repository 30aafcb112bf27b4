"""A small model with an encoder of its own, as `finetune intents` makes them: it knows what some words mean."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from pathlib import Path

import msgspec
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer

from nlp.inference.models.onnx_model import EMBEDDING
from nlp.inference.models.token_encoder import DEFAULT

WIDTH = 8
CERTAIN = 9.0


def own_encoder_model(folder: Path, words: Mapping[str, str], head: str = "intent") -> Path:
    """`words`: the label that each word speaks for."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(DEFAULT / "tokenizer.json", folder / "tokenizer.json")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    labels = tuple(dict.fromkeys(words.values()))
    speaks = np.zeros((tokenizer.get_vocab_size(), len(labels)), np.float32)
    for word, label in words.items():
        speaks[tokenizer.token_to_id(word), labels.index(label)] = CERTAIN
    means = np.random.default_rng(7).normal(size=(len(speaks), WIDTH)).astype(np.float32)
    nodes = [
        helper.make_node("Unsqueeze", ["attention_mask", "last"], ["wide"]),
        helper.make_node("Cast", ["wide"], ["mask"], to=TensorProto.FLOAT),
        *_summed("speaks", head),
        *_summed("means", "mean"),
        helper.make_node("LpNormalization", ["mean"], [EMBEDDING], axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "words",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "t"])
            for name in ("input_ids", "attention_mask")
        ],
        [
            helper.make_tensor_value_info(head, TensorProto.FLOAT, ["n", len(labels)]),
            helper.make_tensor_value_info(EMBEDDING, TensorProto.FLOAT, ["n", WIDTH]),
        ],
        [
            numpy_helper.from_array(speaks, "speaks"),
            numpy_helper.from_array(means, "means"),
            numpy_helper.from_array(np.array([2]), "last"),
            numpy_helper.from_array(np.array([1]), "tokens"),
        ],
    )
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "model.onnx"
    )
    digest = hashlib.sha256((folder / "model.onnx").read_bytes()).hexdigest()
    card = {"name": "ours", "version": "2", "heads": {head: labels}, "sha256": digest}
    (folder / "model.json").write_bytes(msgspec.json.encode(card))
    return folder


def _summed(table: str, name: str) -> list[onnx.NodeProto]:
    """The rows of a table that the tokens name, added up."""
    return [
        helper.make_node("Gather", [table, "input_ids"], [f"{name} rows"]),
        helper.make_node("Mul", [f"{name} rows", "mask"], [f"{name} masked"]),
        helper.make_node("ReduceSum", [f"{name} masked", "tokens"], [name], keepdims=0),
    ]
