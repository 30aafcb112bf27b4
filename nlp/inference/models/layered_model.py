"""A language model that reads the shared encoder: upper layers, token heads, and sentence heads beside the graph.

    model.onnx   states of the text and of the sentence before -> pooled vector of the text, token heads
    heads.npz    the sentence heads: `<head>.weight` and `<head>.bias`, applied to the pooled vector here
    weights.npz  layers and heads in half precision, for those who go on training; not read here

The encoder reads the text alone, as it does for every other model. Who speaks and what was said before come in above
it: the tokens of both sentences go through the upper layers together, each marked by its segment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from nlp.inference.models.onnx_model import Floats, Prediction, batched, open_session, run_session, softmax
from nlp.inference.models.token_encoder import STATES, EncodedText, TokenEncoder, shared_encoder
from nlp.inference.types import SentenceContext
from tenor.errors import BadInput
from tenor.model_store import no_model, read_card
from tenor.model_store.digest import sha256_of

MASK, SEGMENT, POOLED = "attention_mask", "segments", "pooled"
HEADS = "heads.npz"
NOBODY, CALLER, AGENT, BEFORE = range(4)
"""Segments: a text of which nobody said who speaks, a caller's, an agent's, and the sentence before."""
SEGMENTS = 4
ROLES = {"caller": CALLER, "customer": CALLER, "agent": AGENT}
LONGEST_BEFORE = 32
"""Tokens of the sentence before that are read, its last: what was said just now counts most."""

SentenceHeads = dict[str, tuple[Floats, Floats]]
"""Weight and bias by head."""


@dataclass(frozen=True, slots=True)
class EncodedSentence:
    """A text with what it is read with."""

    text: EncodedText
    segment: int
    before: Floats | None = None

    def __len__(self) -> int:
        return len(self.text.states) + (0 if self.before is None else len(self.before))


class LayeredModel:
    """Shared by every stage of a process; any thread may call it. `threads`: batches that are read at once."""

    def __init__(self, folder: Path, encoder: TokenEncoder | None = None, *, threads: int = 1) -> None:
        self.card, self.threads = read_card(folder), threads
        try:
            digests = {name: sha256_of(folder / name) for name in ("model.onnx", HEADS)}
            stored = (folder / HEADS).read_bytes()
        except OSError as error:
            raise no_model(folder, error) from None
        for name, digest in digests.items():
            if self.card.files.get(name) != digest:
                raise BadInput(f"{folder / name} is not the file that {self.card.name} was published with")
        self.encoder = encoder or shared_encoder()
        if self.encoder.card.sha256 != self.card.encoder_sha256:
            raise BadInput(f"{self.card.name} was not made for the encoder {self.encoder.card.name}")
        self._heads = read_heads(stored, folder / HEADS)
        for head, (_, bias) in self._heads.items():
            if len(bias) != len(self.card.heads.get(head, ())):
                raise BadInput(f"{folder / HEADS}: {head} has {len(bias)} outputs and other labels in model.json")
        self._session = open_session(folder / "model.onnx")
        self._tokens = [one.name for one in self._session.get_outputs() if one.name in self.card.heads]
        self._readers = ThreadPoolExecutor(threads, "language") if threads > 1 else None

    @property
    def id(self) -> str:
        return self.card.id

    def model_of(self, head: str) -> str:
        """The model that a head belongs to."""
        return self.id

    def predict(self, texts: Sequence[str], contexts: Sequence[SentenceContext] = ()) -> list[Prediction]:
        """A prediction of every text, in their order. `contexts`: one for each, or none at all."""
        sentences = self.encode(texts, contexts)
        batches = list(batched([len(one) for one in sentences]))
        side_by_side = self._readers.map if self._readers and len(batches) > 1 else map
        answers = side_by_side(self._batch, ([sentences[index] for index in batch] for batch in batches))
        found = {
            index: prediction
            for batch, predictions in zip(batches, answers, strict=True)
            for index, prediction in zip(batch, predictions, strict=True)
        }
        return [found[index] for index in range(len(texts))]

    def pooled(self, texts: Sequence[str], contexts: Sequence[SentenceContext] = ()) -> Floats:
        """What the sentence heads read, a row for each text."""
        sentences = self.encode(texts, contexts)
        rows = np.zeros((len(texts), 2 * self.encoder.card.width), np.float32)
        for batch in batched([len(one) for one in sentences]):
            [rows[batch]] = run_session(self._session, [POOLED], together([sentences[index] for index in batch]))
        return rows

    def encode(self, texts: Sequence[str], contexts: Sequence[SentenceContext] = ()) -> list[EncodedSentence]:
        return encoded_sentences(self.encoder, texts, contexts, self._readers)

    def _batch(self, sentences: Sequence[EncodedSentence]) -> list[Prediction]:
        """One pass through the upper layers."""
        pooled, *tokens = run_session(self._session, [POOLED, *self._tokens], together(sentences))
        logits = {head: pooled @ weight.T + bias for head, (weight, bias) in self._heads.items()}
        likely = {head: softmax(values / self._temperature(head)) for head, values in logits.items()}
        labels = {
            head: softmax(values / self._temperature(head)) for head, values in zip(self._tokens, tokens, strict=True)
        }
        means = pooled[:, : self.encoder.card.width]
        vectors = means / np.linalg.norm(means, axis=1, keepdims=True)
        return [
            Prediction(
                {head: values[row] for head, values in likely.items()},
                {head: values[row, : len(one.text.states)] for head, values in labels.items()},
                one.text.offsets,
                one.text.words,
                vectors[row],
            )
            for row, one in enumerate(sentences)
        ]

    def _temperature(self, head: str) -> float:
        return self.card.temperatures.get(head, 1.0)


def encoded_sentences(
    encoder: TokenEncoder,
    texts: Sequence[str],
    contexts: Sequence[SentenceContext] = (),
    readers: ThreadPoolExecutor | None = None,
) -> list[EncodedSentence]:
    """Every text with its segment and what was said before it; a sentence that is both is encoded once."""
    known = contexts or [SentenceContext()] * len(texts)
    before = [context.before for context in known if context.before]
    encoded = encoder.encode([*texts, *before], readers)
    earlier = iter(encoded[len(texts) :])
    return [
        EncodedSentence(
            text,
            ROLES.get(context.role, NOBODY),
            next(earlier).states[-LONGEST_BEFORE:] if context.before else None,
        )
        for text, context in zip(encoded[: len(texts)], known, strict=True)
    ]


def together(sentences: Sequence[EncodedSentence]) -> dict[str, Floats]:
    """A batch as the graph takes it: the tokens of each text, then those of the sentence before it, then padding."""
    length, width = max(map(len, sentences)), sentences[0].text.states.shape[1]
    states = np.zeros((len(sentences), length, width), np.float32)
    mask = np.zeros((len(sentences), length), np.int64)
    segments = np.zeros_like(mask)
    for row, one in enumerate(sentences):
        own = len(one.text.states)
        states[row, :own] = one.text.states
        segments[row, :own] = one.segment
        if one.before is not None:
            states[row, own : len(one)] = one.before
            segments[row, own : len(one)] = BEFORE
        mask[row, : len(one)] = 1
    return {STATES: states, MASK: mask, SEGMENT: segments}  # type: ignore[dict-item]


def read_heads(stored: bytes, path: Path) -> SentenceHeads:
    """The sentence heads of a file; nothing in it is ever run."""
    try:
        with np.load(BytesIO(stored), allow_pickle=False) as arrays:
            found: Mapping[str, Floats] = {name: arrays[name].astype(np.float32) for name in arrays.files}
        names = sorted(name.removesuffix(".bias") for name in found if name.endswith(".bias"))
        heads = {name: (found[f"{name}.weight"], found[f"{name}.bias"]) for name in names}
    except (ValueError, KeyError, TypeError, AttributeError, OSError, EOFError, BadZipFile) as error:
        raise BadInput(f"{path} holds no heads: {error}") from None
    if any(weight.ndim != 2 or bias.shape != weight.shape[:1] for weight, bias in heads.values()):
        raise BadInput(f"{path} holds no heads: a weight is a row for each label, a bias a number")
    return heads


def write_heads(heads: SentenceHeads, path: Path) -> None:
    arrays: dict[str, Floats] = {}
    for name, (weight, bias) in sorted(heads.items()):
        arrays |= {f"{name}.weight": weight.astype(np.float32), f"{name}.bias": bias.astype(np.float32)}
    np.savez(path, **arrays)  # type: ignore[arg-type]
