"""A language model on onnxruntime: tokens in, one encoder pass, every head's answer out.

Its folder holds `model.onnx`, `tokenizer.json` and `model.json`: the name, the version, each head's labels
and what was measured when it was made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from nlp.inference.types import SentenceContext
from tenor.errors import BadInput
from tenor.model_store import no_model, read_card
from tenor.model_store.digest import sha256_of

EMBEDDING = "embedding"
LONGEST = 128
"""Tokens of a sentence that are read; the rest is not what it turns on."""
MOST_CHARACTERS = 2000
"""So that a megabyte without a full stop costs no more than a sentence."""
BATCH_SENTENCES, BATCH_TOKENS = 32, 768
"""A batch stays in the processor's cache, or batching costs more than it saves."""
KEPT_TOKENS = 128
"""The memory that a pass over so many tokens needs is kept for the next pass: calls that go on need no more."""

Floats = NDArray[np.float32]
Offsets = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Prediction:
    """What the heads say about one text."""

    sentence: Mapping[str, Floats]
    """Probabilities of each sentence head's labels."""
    tokens: Mapping[str, Floats]
    """Probabilities of each token head's labels, a row a token."""
    offsets: Offsets
    """Characters that each token covers."""
    words: Sequence[int | None]
    """The word each token is a piece of; None for the marks at both ends."""
    embedding: Floats
    """The sentence as a vector of length one."""


class OnnxModel:
    """Shared by every stage of a process; any thread may call it. `threads`: batches that are read at once."""

    def __init__(self, folder: Path, *, threads: int = 1) -> None:
        self.card, self.threads = read_card(folder), threads
        try:
            digest = sha256_of(folder / "model.onnx")
            vocabulary = (folder / "tokenizer.json").read_text("utf-8")
        except OSError as error:
            raise no_model(folder, error) from None
        if self.card.sha256 and digest != self.card.sha256:
            raise BadInput(f"{folder / 'model.onnx'} is not the file that {self.card.name} was published with")
        self._tokenizer = Tokenizer.from_str(vocabulary)
        self._tokenizer.enable_truncation(LONGEST)
        self._tokenizer.no_padding()
        self._session = open_session(folder / "model.onnx")
        self._readers = ThreadPoolExecutor(threads, "language") if threads > 1 else None
        wanted = {EMBEDDING, *self.card.heads}
        self._outputs = [output.name for output in self._session.get_outputs() if output.name in wanted]

    @property
    def id(self) -> str:
        return self.card.id

    def model_of(self, head: str) -> str:
        """The model that a head belongs to."""
        return self.id

    def predict(self, texts: Sequence[str], contexts: Sequence[SentenceContext] = ()) -> list[Prediction]:
        """A prediction of every text, in their order. Texts of like length go through together. It reads nothing but
        the texts."""
        short = [text[:MOST_CHARACTERS] for text in texts]
        # One alone is not worth waking other threads for.
        encodings = self._tokenizer.encode_batch(short) if len(short) != 1 else [self._tokenizer.encode(short[0])]
        batches = list(batched([len(encoding.ids) for encoding in encodings]))
        side_by_side = self._readers.map if self._readers and len(batches) > 1 else map
        answers = side_by_side(self._batch, ([encodings[index] for index in batch] for batch in batches))
        found = {
            index: prediction
            for batch, predictions in zip(batches, answers, strict=True)
            for index, prediction in zip(batch, predictions, strict=True)
        }
        return [found[index] for index in range(len(texts))]

    def _batch(self, encodings: Sequence[Encoding]) -> list[Prediction]:
        """One pass through the encoder; the last is the longest."""
        ids = np.zeros((len(encodings), len(encodings[-1].ids)), np.int64)
        mask = np.zeros_like(ids)
        for row, encoding in enumerate(encodings):
            ids[row, : len(encoding.ids)] = encoding.ids
            mask[row, : len(encoding.ids)] = 1
        outputs = run_session(self._session, self._outputs, {"input_ids": ids, "attention_mask": mask})
        named = dict(zip(self._outputs, outputs, strict=True))
        vectors = named.pop(EMBEDDING)
        likely = {head: softmax(logits / self.card.temperatures.get(head, 1.0)) for head, logits in named.items()}
        return [
            Prediction(
                {head: values[row] for head, values in likely.items() if values.ndim == 2},
                {head: values[row, : len(encoding.ids)] for head, values in likely.items() if values.ndim == 3},
                encoding.offsets,
                encoding.word_ids,
                vectors[row],
            )
            for row, encoding in enumerate(encodings)
        ]


def fingerprint(text: str) -> str:
    """Short name of an example; enough to tell whether a model has seen it."""
    return hashlib.sha256(" ".join(text.lower().split()).encode()).hexdigest()[:12]


def batched(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Indices of texts that go through together, short ones first; the last of each batch is its longest."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) == BATCH_SENTENCES or (len(batch) + 1) * lengths[index] > BATCH_TOKENS):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def open_session(graph: Path) -> onnxruntime.InferenceSession:
    """Of the file of a graph; its weights may lie beside it. Runs on the processor, in the thread that asks."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # By its path: a session made of bytes keeps them as long as it lives, beside the weights that it made of them.
    return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])


def run_session(session: onnxruntime.InferenceSession, outputs: list[str], inputs: Mapping[str, Any]) -> list[Any]:
    """One pass; the first two dimensions of the inputs are texts and tokens. What a large one needed is given back:
    otherwise a process that once read a list of examples is larger for good, by more than the model itself."""
    texts, tokens = next(iter(inputs.values())).shape[:2]
    found: list[Any] = session.run(outputs, inputs, _GIVES_BACK if texts * tokens > KEPT_TOKENS else None)
    return found


_GIVES_BACK = onnxruntime.RunOptions()
_GIVES_BACK.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")


def softmax(logits: Floats) -> Floats:
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)  # type: ignore[no-any-return]
