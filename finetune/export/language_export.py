"""A language model on the shared encoder as files: graph, sentence heads, training weights, card. Needs `finetune`.

model.onnx    upper layers and token heads, int8
heads.npz     sentence heads, which `nlp.inference.models.layered_model` applies
weights.npz   layers and heads in half precision, to go on training from
model.json    the card; golden.jsonl: sentences and the answers that the model must give
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from zipfile import BadZipFile

import msgspec
import numpy as np
import torch
from torch import nn

from finetune.corpus.examples import LanguageExample
from finetune.export.activation_ranges import Inputs
from finetune.export.language_folder import WEIGHTS, save_card
from finetune.export.onnx_export import quantize
from finetune.train.encoders import empty_layers
from finetune.train.language_layers import ExportedLayers, LanguageLayers
from finetune.train.language_trainer import Labels
from nlp.inference.models.layered_model import (
    HEADS,
    MASK,
    POOLED,
    SEGMENT,
    LayeredModel,
    encoded_sentences,
    together,
    write_heads,
)
from nlp.inference.models.token_encoder import STATES, TokenEncoder
from nlp.inference.types import SentenceContext
from tenor.errors import BadInput
from tenor.model_store import ModelCard

RANGES = 400
"""Sentences to know the ranges of activations from."""


def export_language(
    network: LanguageLayers, labels: Labels, card: ModelCard, rows: Sequence[LanguageExample], encoder: TokenEncoder,
    folder: Path, *, precise: bool = False,
) -> Path:  # fmt: skip
    """The model's folder. `labels` are those of the heads that ship; `precise` leaves out quantisation."""
    folder.mkdir(parents=True, exist_ok=True)
    token_heads = [head for head in labels if head in network.token_heads]
    full = folder / ("model.onnx" if precise else "full.onnx")
    _export(network, token_heads, full)
    if not precise:
        quantize(full, folder / "model.onnx", _inputs(rows, encoder))
        full.unlink()
    write_heads(
        {
            head: (module.weight.detach().float().numpy(), module.bias.detach().float().numpy())
            for head, module in network.sentence_heads.items()
            if head in labels
        },
        folder / HEADS,
    )
    write_weights(network, list(labels), folder / WEIGHTS)
    heads = {head: tuple(names) for head, names in labels.items()}
    save_card(msgspec.structs.replace(card, heads=heads, encoder_sha256=encoder.card.sha256), folder)
    return folder


def int8_kept(
    small: LayeredModel, network: LanguageLayers, rows: Sequence[LanguageExample], encoder: TokenEncoder
) -> float:
    """Of the right answers of the network in full precision, the share that its int8 form gives, too: the least of the
    sentence heads."""
    with TemporaryDirectory() as folder:
        precise = export_language(network, small.card.heads, small.card, rows, encoder, Path(folder), precise=True)
        full = LayeredModel(precise, encoder)
        texts, contexts = [row.text for row in rows], [SentenceContext(row.role, row.before) for row in rows]
        answers = [[one.sentence for one in model.predict(texts, contexts)] for model in (full, small)]
    kept = [1.0]
    for head, names in small.card.heads.items():
        asked = [at for at, row in enumerate(rows) if head in row.labels]
        if asked:
            whole, quantised = (
                sum(names[int(one[at][head].argmax())] in rows[at].labels[head] for at in asked) for one in answers
            )
            kept.append(quantised / max(whole, 1))
    return min(kept)


def _export(network: LanguageLayers, token_heads: Sequence[str], path: Path) -> None:
    free = {0: "batch", 1: "length"}
    example = (torch.ones(2, 8, network.width), *(torch.ones(2, 8, dtype=torch.int64) for _ in range(2)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tracer's remarks about constants that are meant to be constants
        torch.onnx.export(
            ExportedLayers(network, token_heads).eval(), example, str(path), input_names=[STATES, MASK, SEGMENT],
            output_names=[POOLED, *token_heads], opset_version=17, dynamo=False,
            dynamic_axes=dict.fromkeys((STATES, MASK, SEGMENT, *token_heads), free) | {POOLED: {0: "batch"}},
        )  # fmt: skip


def _inputs(rows: Sequence[LanguageExample], encoder: TokenEncoder) -> list[Inputs]:
    """Every sentence as a batch of its own."""
    chosen = Random(7).sample(list(rows), min(RANGES, len(rows)))
    contexts = [SentenceContext(row.role, row.before) for row in chosen]
    return [together([one]) for one in encoded_sentences(encoder, [row.text for row in chosen], contexts)]


# -- weights to go on training from


def write_weights(network: LanguageLayers, heads: Sequence[str], path: Path) -> None:
    """In half precision and compressed. Heads that do not ship are left out."""
    kept = {
        name: values.detach().half().numpy()
        for name, values in network.state_dict().items()
        if not name.startswith(("sentence_heads.", "token_heads.")) or name.split(".")[1] in heads
    }
    np.savez_compressed(path, **kept)


def read_weights(path: Path, *, dropout: float = 0.1) -> LanguageLayers:
    """The network that a model was exported from, in full precision again; nothing in the file is ever run."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            weights = {name: torch.from_numpy(stored[name].astype(np.float32)) for name in stored.files}
        layers, width = empty_layers(weights), weights["segments.weight"].shape[1]
    except FileNotFoundError:
        raise BadInput(f"{path.parent} has no training weights", "choose a model that has weights.npz") from None
    except (ValueError, KeyError, TypeError, AttributeError, OSError, EOFError, BadZipFile) as error:
        raise BadInput(f"{path} holds no training weights: {error}") from None
    sizes = {
        kind: {
            name.split(".")[1]: len(values)
            for name, values in weights.items()
            if name.startswith(f"{kind}.") and name.endswith(last)
        }
        for kind, last in (("sentence_heads", ".bias"), ("token_heads", ".answer.bias"))
    }
    network = LanguageLayers(layers, width, sizes["sentence_heads"], sizes["token_heads"], dropout=dropout)
    try:
        network.load_state_dict(weights)
    except RuntimeError as error:
        raise BadInput(f"{path} holds other weights than this version trains: {str(error).splitlines()[0]}") from None
    for module in network.modules():
        if isinstance(module, nn.Dropout) and module.p:  # what has none, as attention, keeps none
            module.p = dropout
    return network
