"""A small head grafted onto the lower layers of the shared encoder. Needs the extra `finetune`.

    model.onnx       embeddings and eight layers: 27 MB
    redaction.onnx   the first layers' weights by their place in model.onnx, a head of its own: half a megabyte

Names are told apart low in the encoder, so its first layers are enough and cost less than half the time. The
weights are not stored twice: ONNX lets a tensor say in which file and at which byte it lies.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import msgspec
import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, compose, helper
from onnx.utils import Extractor
from torch import Tensor, nn

from finetune.corpus import datasets, names_and_places
from finetune.corpus.examples import TaggedText, spoken
from finetune.evaluate.report import Scores
from finetune.export.model_card import with_redaction
from finetune.train.batches import IGNORED, TrainingBatch, load_tokenizer
from finetune.train.network import NeighbourTokenHead
from finetune.train.token_head import teach
from nlp.inference.name_finder import CARD, GRAPH, NameFinder, NameFinderCard

CERTAIN, DOUBTFUL = 0.35, 0.2
"""A name left in costs more than a word taken out."""
LAYERS = (0, 1, 2)
"""The first three: as far up as the time allows, and every one of them tells something of its own."""
WIDTH, INNER = 384, 64
ROUNDS, RATE, SIZE = 8, 1.5e-3, 32
_LAYER = "/encoder/encoder/layer.{}/output/LayerNorm/LayerNormalization_output_0"
_SHARED_BYTES = 1024
"""Larger tensors stay where they are."""

Kept = tuple[Tensor, Tensor, Tensor]


class ExportedTokenHead(nn.Module):  # type: ignore[misc]
    """The head with its inputs one by one, as the graph has them."""

    def __init__(self, head: NeighbourTokenHead) -> None:
        super().__init__()
        self.head = head

    def forward(self, mask: Tensor, *layers: Tensor) -> Tensor:
        return self.head(torch.cat(layers, dim=-1), mask)


def make_redaction(data: Path, folder: Path, *, seed: int, threads: int = 1) -> Scores:
    """Fit, graft and measure the head of the model in `folder`, and describe it there."""
    model, graph = folder / "model.onnx", folder / GRAPH
    head = fit(
        model,
        folder / "tokenizer.json",
        names_and_places.corpus(data, seed),
        names_and_places.LABELS,
        seed=seed,
        threads=threads,
    )
    graft(model, head, graph, "redaction")
    card = NameFinderCard(
        labels=names_and_places.LABELS,
        certain=CERTAIN,
        doubtful=DOUBTFUL,
        sha256=hashlib.sha256(graph.read_bytes()).hexdigest(),
        encoder_sha256=hashlib.sha256(model.read_bytes()).hexdigest(),
    )
    _save(card, folder)
    figures = names_and_places.figures(NameFinder(folder), seed)
    _save(msgspec.structs.replace(card, figures={name: round(value, 4) for name, value in figures.items()}), folder)
    sources = [datasets.SOURCES[name] for name in names_and_places.USED]
    readme = folder / "README.md"
    readme.write_text(with_redaction(readme.read_text("utf-8"), sources, figures, graph), "utf-8")
    return figures


def _save(card: NameFinderCard, folder: Path) -> None:
    (folder / CARD).write_bytes(msgspec.json.format(msgspec.json.encode(card), indent=1) + b"\n")


def lower(model: Path) -> onnx.ModelProto:
    """The model up to the last of the layers that are read."""
    whole = onnx.load(str(model))
    names = [_LAYER.format(layer) for layer in LAYERS]
    for name in names:
        whole.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", "length", WIDTH]))
    return Extractor(whole).extract_model(["input_ids", "attention_mask"], names)


def fit(
    model: Path, tokenizer: Path, examples: Sequence[TaggedText], labels: Sequence[str], *, seed: int, threads: int = 1
) -> NeighbourTokenHead:
    """The encoder is left alone, so its answers are computed once."""
    torch.manual_seed(seed)
    torch.set_num_threads(threads)
    random = Random(seed)
    kept = _answers(lower(model), tokenizer, examples, labels, random, threads)
    head = NeighbourTokenHead(len(LAYERS) * WIDTH, len(labels), INNER)
    teach(head, kept, ROUNDS, RATE, random)
    return head


def graft(model: Path, head: NeighbourTokenHead, path: Path, output: str) -> None:
    """Write the lower layers with the head as one graph beside `model`, whose bytes it refers to."""
    trunk = lower(model)
    trunk.graph.node.append(helper.make_node("Identity", ["attention_mask"], ["mask"]))
    trunk.graph.output.append(helper.make_tensor_value_info("mask", TensorProto.INT64, ["batch", "length"]))
    layers = [f"layer_{layer}" for layer in LAYERS]
    with TemporaryDirectory() as folder:
        file = Path(folder) / "head.onnx"
        example = (torch.ones(2, 8, dtype=torch.int64), *(torch.ones(2, 8, WIDTH) for _ in LAYERS))
        free = {name: {0: "batch", 1: "length"} for name in ("mask", *layers, output)}
        torch.onnx.export(
            ExportedTokenHead(head).eval(), example, str(file), input_names=["mask", *layers], output_names=[output],
            dynamic_axes=free, opset_version=17, dynamo=False,
        )  # fmt: skip
        crown = compose.add_prefix(onnx.load(str(file)), "head/", rename_inputs=False, rename_outputs=False)
    joints = [("mask", "mask"), *zip([_LAYER.format(layer) for layer in LAYERS], layers, strict=True)]
    crown.ir_version = trunk.ir_version
    whole = compose.merge_models(trunk, crown, io_map=joints, outputs=[output])
    del whole.graph.value_info[:]
    _share(whole, model)
    path.write_bytes(whole.SerializeToString())


def _share(whole: onnx.ModelProto, model: Path) -> None:
    """Say of every large tensor that `model` has too where its bytes lie there."""
    stored = model.read_bytes()
    for tensor in whole.graph.initializer:
        at = stored.find(tensor.raw_data) if len(tensor.raw_data) >= _SHARED_BYTES else -1
        if at < 0:
            continue
        place = {"location": model.name, "offset": at, "length": len(tensor.raw_data)}
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in place.items():
            tensor.external_data.add(key=key, value=str(value))


def _answers(
    trunk: onnx.ModelProto, tokenizer: Path, examples: Sequence[TaggedText], labels: Sequence[str],
    random: Random, threads: int,
) -> list[Kept]:  # fmt: skip
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(trunk.SerializeToString(), options, providers=["CPUExecutionProvider"])
    kept = []
    for batch in batches(tokenizer, examples, labels, random):
        found = session.run(None, {"input_ids": batch.input_ids, "attention_mask": batch.attention_mask})
        layers = torch.from_numpy(np.concatenate(found, axis=-1)).half()
        kept.append((layers, torch.from_numpy(batch.attention_mask), torch.from_numpy(batch.targets)))
    return kept


def batches(
    tokenizer: Path, examples: Sequence[TaggedText], labels: Sequence[str], random: Random
) -> list[TrainingBatch]:
    """All examples once, of like length together. A word's first piece decides for it, so only that is taught."""
    pieces = load_tokenizer(tokenizer)
    rows = [TaggedText(spoken(row.text), row.spans) if random.random() < 0.4 else row for row in examples]
    rows.sort(key=lambda row: len(row.text))
    numbers = {label: number for number, label in enumerate(labels)}
    made = []
    for first in range(0, len(rows), SIZE):
        part = rows[first : first + SIZE]
        encodings = pieces.encode_batch([row.text for row in part])
        width = max(len(encoding.ids) for encoding in encodings)
        ids = np.zeros((len(part), width), np.int64)
        mask = np.zeros_like(ids)
        targets = np.full(ids.shape, IGNORED, np.int64)
        for line, (row, encoding) in enumerate(zip(part, encodings, strict=True)):
            ids[line, : len(encoding.ids)] = encoding.ids
            mask[line, : len(encoding.ids)] = 1
            last = None
            for at, ((start, end), word) in enumerate(zip(encoding.offsets, encoding.word_ids, strict=True)):
                if word is not None and word != last:
                    span = next((span for span in row.spans if span[0] < end and start < span[1]), None)
                    targets[line, at] = numbers[f"I-{span[2]}"] if span else numbers["O"]
                last = word
        made.append(TrainingBatch("redaction", ids, mask, targets, 1.0))
    return made
