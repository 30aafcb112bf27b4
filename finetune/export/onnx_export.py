"""From the trained network to the files that ship: ONNX, then int8. Needs the extra `finetune`."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic

from finetune.corpus.datasets import own_intents, own_sentiment
from finetune.corpus.examples import LabelledText
from finetune.export.activation_ranges import Inputs, fix_ranges
from finetune.export.saturation import leave_headroom
from finetune.export.smooth_quant import smooth
from finetune.train.batches import HeadCorpus, batches, load_tokenizer
from finetune.train.network import ExportedNetwork, Network
from nlp.inference.models.onnx_model import EMBEDDING

SENTENCES = 300
"""Enough to know the ranges of activations."""


def export(network: Network, heads: list[str], path: Path) -> None:
    """All heads in one graph, in full precision; batch and length are free."""
    example = (torch.ones(2, 8, dtype=torch.int64), torch.ones(2, 8, dtype=torch.int64))
    free = {"input_ids": {0: "batch", 1: "length"}, "attention_mask": {0: "batch", 1: "length"}}
    answers = {head: {0: "batch", 1: "length"} if head in network.token_heads else {0: "batch"} for head in heads}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tracer's remarks about constants that are meant to be constants
        torch.onnx.export(
            ExportedNetwork(network, heads).eval(),
            example,
            str(path),
            input_names=list(free),
            output_names=[*heads, EMBEDDING],
            dynamic_axes={**free, **answers, EMBEDDING: {0: "batch"}},
            opset_version=17,
            dynamo=False,
        )


def quantize(full: Path, small: Path, sentences: Sequence[Inputs]) -> None:
    """Weights as 8-bit integers with a scale for each column and headroom, activations evened and in fixed ranges."""
    logging.getLogger().setLevel(logging.ERROR)  # it advises pre-processing, which changes nothing here
    with TemporaryDirectory() as folder:
        even = Path(folder) / "even.onnx"
        smooth(full, even, sentences)
        quantize_dynamic(str(even), str(small), weight_type=QuantType.QInt8, per_channel=True)
    leave_headroom(small)
    fix_ranges(small, sentences)


def call_sentences(tokenizer: str, *, seed: int = 7) -> list[Inputs]:
    """Sentences of our own, half of them punctuated, to see how large activations become."""
    random = Random(seed)
    rows = random.sample([*own_sentiment(random, most=2), *own_intents(random, most=2)], SENTENCES)
    written = [LabelledText(_punctuated(row.text, random), row.label) for row in rows[::2]]
    corpus = HeadCorpus("ranges", [*rows[1::2], *written], sorted({row.label for row in rows}))
    singles = batches([corpus], load_tokenizer(tokenizer), random, size=1)
    return [{"input_ids": one.input_ids, "attention_mask": one.attention_mask} for one in singles]


def _punctuated(text: str, random: Random) -> str:
    words = text.split()
    words[random.randrange(len(words))] += random.choice([",", "...", " -", ""])
    return " ".join(words) + random.choice([".", "!", "?", "...", "!!"])
