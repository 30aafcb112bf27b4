"""Sentence heads of a language model learned again, in minutes and without torch: softmax regression in numpy.

The encoder and the layers stay as they are, so every sentence is read once; what is learned is which pooled vector
means which label. A head starts where the deployed one is and is drawn back to it (L2 on the difference), so that a few
hundred labels move what they speak of and leave the rest. A label that the model lacks gets an output of its own.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from finetune.corpus.examples import LanguageExample
from finetune.evaluate.scores import accuracy, macro_f1
from finetune.export.language_folder import WEIGHTS, child_card, open_start, save_card, write_golden
from finetune.progress import progress
from finetune.recipes.base import (
    MODEL,
    Paused,
    RunRecord,
    StopRequest,
    TrainingRow,
    new_checkpoint,
    newest_checkpoint,
    stoppable,
)
from finetune.recipes.language_rows import (
    SENTENCE_HEADS,
    examples,
    grown,
    language_rows,
    own_texts,
    repeatable_encoder,
    replay,
)
from nlp.inference.models.layered_model import HEADS, LayeredModel, SentenceHeads, read_heads, write_heads
from nlp.inference.models.onnx_model import Floats
from nlp.inference.types import SentenceContext
from tenor.model_store.card import Kind

SUFFIX = ".npz"
KEY = 32
"""Bytes of a sentence's key."""
AT_ONCE = 256
"""Sentences between two looks at whether somebody wants it to stop."""
FIRST_BIAS = -4.0
"""Of a label that is new, below the others': it must be learned before it is answered."""
DECAY_1, DECAY_2, LEAST = 0.9, 0.999, 1e-8
"""Adam's."""

Doubles = NDArray[np.float64]


class HeadParameters(msgspec.Struct, frozen=True, kw_only=True):
    model: Annotated[str, Meta(description="Folder of the model to start from; empty: the one that ships.")] = ""
    epochs: Annotated[int, Meta(ge=1, description="How often every row is seen.")] = 30
    batch: Annotated[int, Meta(ge=1, description="Rows of one step.")] = 128
    rate: Annotated[float, Meta(gt=0, description="How far a step goes at most.")] = 0.01
    l2: Annotated[float, Meta(ge=0, description="How strongly a head is drawn back to the deployed one,")] = 0.2
    l2_new: Annotated[
        float, Meta(ge=0, description="and how strongly outputs for labels that it lacks are to nothing.")
    ] = 0.001
    replay: Annotated[int, Meta(ge=0, description="Sentences of our own that are learned again beside the rows.")] = (
        4000
    )
    validation_share: Annotated[
        float, Meta(ge=0, lt=1, description="Of the groups, to validate with, where no row is marked for it.")
    ] = 0.1
    seed: Annotated[int, Meta(description="The same seed gives the same model.")] = 7
    threads: Annotated[int, Meta(ge=1, description="Threads that read sentences.")] = 1


class HeadRecipe:
    name = "head"
    kind: Kind = "language"
    parameters = HeadParameters
    presets: Mapping[str, Mapping[str, Any]] = {
        "papers": {"batch": 128, "epochs": 10, "validation_share": 0.2},
    }

    def run(self, rows: Sequence[TrainingRow], parameters: HeadParameters, out: Path, record: RunRecord) -> Path:
        record.parameters(msgspec.to_builtins(parameters))
        start, card = open_start(parameters.model)
        training, validation = language_rows(rows, parameters.validation_share)
        labels = grown(card.heads, training)
        labels["slots"] = card.heads["slots"]  # values are not a sentence head's business
        model = LayeredModel(start, repeatable_encoder(), threads=parameters.threads)
        kept = replay(card.heads, parameters.replay, parameters.seed)
        taught, checked = examples(training), examples(validation)
        learned = [*taught, *kept]
        heads = read_heads((start / HEADS).read_bytes(), start / HEADS)
        with stoppable() as stop:
            reader = PooledVectors(model, out, record, stop)
            pooled, held = reader.read(learned), reader.read(checked)
            reader.save()
            for head in SENTENCE_HEADS:
                asked = [at for at, row in enumerate(learned) if head in row.labels]
                if not any(at < len(taught) for at in asked):
                    continue  # our own sentences alone have nothing new to say
                problem = HeadProblem(head, labels[head], [learned[at] for at in asked], pooled[asked])
                heads[head] = learned_head(problem, heads[head], parameters, record, stop)
                _validate(problem, heads[head], checked, held, parameters.epochs, record)
        folder = out / MODEL
        _write(start, folder, heads)
        new_card = save_card(child_card(card, labels), folder)
        write_golden(LayeredModel(folder, model.encoder), folder, own_texts(), seed=parameters.seed)
        record.note(f"{new_card.parent} with {len(taught)} rows and {len(kept)} of our own sentences")
        record.artifact(folder)
        return folder


class HeadProblem:
    """Which vectors mean which labels, for one head."""

    def __init__(self, head: str, labels: Sequence[str], rows: Sequence[LanguageExample], vectors: Floats) -> None:
        self.head, self.labels = head, labels
        self.mean, spread = vectors.mean(axis=0, dtype=np.float64), vectors.std(axis=0, dtype=np.float64)
        self.spread = np.maximum(spread, 1e-6)
        self.inputs = (vectors - self.mean) / self.spread
        self.targets = np.array([labels.index(row.labels[head][0]) for row in rows])
        self.weights = np.array([row.weight for row in rows])

    def inside(self, weight: Floats, bias: Floats) -> Doubles:
        """A head for the inputs as they are evened here: a row for each label, the bias at its end."""
        return np.column_stack([weight * self.spread, bias + weight @ self.mean])

    def outside(self, values: Doubles) -> tuple[Floats, Floats]:
        weight = values[:, :-1] / self.spread
        return weight.astype(np.float32), (values[:, -1] - weight @ self.mean).astype(np.float32)

    def answers(self, head: tuple[Floats, Floats], vectors: Floats) -> list[str]:
        """What a head says of other sentences."""
        return [self.labels[best] for best in (vectors @ head[0].T + head[1]).argmax(axis=1)]

    def gradient(self, values: Doubles, rows: NDArray[np.int64]) -> tuple[Doubles, float]:
        inputs = np.column_stack([self.inputs[rows], np.ones(len(rows))])
        logits = inputs @ values.T
        logits -= logits.max(axis=1, keepdims=True)
        likely = np.exp(logits)
        likely /= likely.sum(axis=1, keepdims=True)
        right = likely[np.arange(len(rows)), self.targets[rows]]
        loss = float(-(np.log(np.maximum(right, 1e-12)) * self.weights[rows]).mean())
        likely[np.arange(len(rows)), self.targets[rows]] -= 1
        return (likely * self.weights[rows, None]).T @ inputs / len(rows), loss


def learned_head(
    problem: HeadProblem, deployed_head: tuple[Floats, Floats], parameters: HeadParameters, record: RunRecord,
    stop: StopRequest,
) -> tuple[Floats, Floats]:  # fmt: skip
    """The head that comes of it: Adam in small batches, whose order is a function of the seed."""
    deployed = problem.inside(*_with_outputs(deployed_head, len(problem.labels)))
    drawn = np.full((len(deployed), 1), parameters.l2)
    drawn[len(deployed_head[1]) :] = parameters.l2_new  # few rows speak of them, and no answer is to be kept
    values, first, second = deployed.copy(), np.zeros_like(deployed), np.zeros_like(deployed)
    rows = len(problem.targets)
    per_epoch = -(-rows // parameters.batch)
    steps = parameters.epochs * per_epoch
    for epoch in range(parameters.epochs):
        order = np.random.default_rng([parameters.seed, epoch]).permutation(rows)
        total = 0.0
        for place in range(per_epoch):
            step = epoch * per_epoch + place + 1
            chosen = order[place * parameters.batch : (place + 1) * parameters.batch]
            gradient, loss = problem.gradient(values, chosen)
            gradient += drawn * (values - deployed)
            first = DECAY_1 * first + (1 - DECAY_1) * gradient
            second = DECAY_2 * second + (1 - DECAY_2) * gradient**2
            move = (first / (1 - DECAY_1**step)) / (np.sqrt(second / (1 - DECAY_2**step)) + LEAST)
            values = values - parameters.rate * (1 - (step - 1) / steps) * move
            total += loss * len(chosen)
        record.point(epoch + 1, f"{problem.head} loss", total / rows)
        _pause_if(stop)  # the vectors are in a checkpoint; fitting takes seconds and begins again
    return problem.outside(values)


def _with_outputs(head: tuple[Floats, Floats], labels: int) -> tuple[Floats, Floats]:
    """With an output for each label; new ones say nothing yet."""
    weight, bias = head
    new = labels - len(bias)
    low = np.full(new, bias.min() + FIRST_BIAS, np.float32)
    return np.vstack([weight, np.zeros((new, weight.shape[1]), np.float32)]), np.concatenate([bias, low])


def _validate(
    problem: HeadProblem, head: tuple[Floats, Floats], rows: Sequence[LanguageExample], vectors: Floats, epochs: int,
    record: RunRecord,
) -> None:  # fmt: skip
    asked = [at for at, row in enumerate(rows) if problem.head in row.labels]
    if asked:
        answers = problem.answers(head, vectors[asked])
        right = [rows[at].labels[problem.head][0] for at in asked]
        record.point(epochs, f"val {problem.head} accuracy", accuracy(right, answers))
        record.point(epochs, f"val {problem.head} macro-F1", macro_f1(right, answers))


class PooledVectors:
    """What the heads read of each sentence. Reading is what takes time, so it is what a checkpoint keeps."""

    def __init__(self, model: LayeredModel, out: Path, record: RunRecord, stop: StopRequest) -> None:
        self._model, self._out, self._stop = model, out, stop
        self._known: dict[bytes, Floats] = {}
        newest = newest_checkpoint(out, SUFFIX)
        if newest is not None:
            with np.load(newest, allow_pickle=False) as kept:
                if str(kept["model"]) == model.card.sha256:
                    stored = kept["keys"].tobytes()
                    keys = [stored[at : at + KEY] for at in range(0, len(stored), KEY)]
                    self._known = dict(zip(keys, kept["vectors"], strict=True))
                    record.note(f"goes on after {len(keys)} sentences")

    def read(self, rows: Sequence[LanguageExample]) -> Floats:
        keys = [_key(row) for row in rows]
        new = list({key: row for key, row in zip(keys, rows, strict=True) if key not in self._known}.items())
        with progress() as bar:
            for first in bar.track(range(0, len(new), AT_ONCE), description="reading"):
                part = new[first : first + AT_ONCE]
                contexts = [SentenceContext(row.role, row.before) for _, row in part]
                vectors = self._model.pooled([row.text for _, row in part], contexts)
                self._known |= zip((key for key, _ in part), vectors, strict=True)
                if self._stop.asked:
                    self.save()
                _pause_if(self._stop)
        width = 2 * self._model.encoder.card.width
        return np.stack([self._known[key] for key in keys]) if keys else np.zeros((0, width), np.float32)

    def save(self) -> None:
        with new_checkpoint(self._out, len(self._known), SUFFIX) as part, part.open("wb") as file:
            np.savez(
                file,
                model=np.array(self._model.card.sha256),
                keys=np.frombuffer(b"".join(self._known), np.uint8),
                vectors=np.stack(list(self._known.values())),
            )


def _key(row: LanguageExample) -> bytes:
    return hashlib.sha256("\0".join((row.text, row.role, row.before or "")).encode("utf-8", "replace")).digest()


def _pause_if(stop: StopRequest) -> None:
    if stop.asked:
        raise Paused("stopped, with a checkpoint", "the same command goes on from it")


def _write(start: Path, folder: Path, heads: SentenceHeads) -> None:
    """The deployed model with other heads, also in what one goes on training from."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(start / "model.onnx", folder / "model.onnx")
    write_heads(heads, folder / HEADS)
    if (start / WEIGHTS).is_file():
        with np.load(start / WEIGHTS, allow_pickle=False) as stored:
            weights = {name: stored[name] for name in stored.files}
        for head, (weight, bias) in heads.items():
            weights[f"sentence_heads.{head}.weight"] = weight.astype(np.float16)
            weights[f"sentence_heads.{head}.bias"] = bias.astype(np.float16)
        np.savez_compressed(folder / WEIGHTS, **weights)
