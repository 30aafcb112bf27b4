"""Which encoder to train on: each of them on the same sentences, for one pass, with the same seed.

    python -m benchmarks.language.encoders --data DATA --encoders FOLDER [--share 0.4] [NAME...]

Prints a table: sentiment and intents on our frozen sentences, MELD (never trained on), intents of HWU64 given by ten
examples each, CLINC150 by likeness to ten examples each (a part of its training sentences is in the mixture); the size
in int8 and the milliseconds of a sentence on one core.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from finetune.corpus import call_sentences, datasets, mixture
from finetune.evaluate.calibration import calibrated
from finetune.evaluate.report import Scores, added_scores, intent_scores, outside_scores, sentiment_scores
from finetune.evaluate.scores import accuracy, percentile
from finetune.train.batches import HeadCorpus
from nlp.inference.local import LocalBackend
from nlp.inference.models.onnx_model import OnnxModel
from tenor.model_store import ModelCard
from tenor.taxonomy.intents import Taxonomy, read

if TYPE_CHECKING:  # needs torch, which most people have not installed
    from finetune.train.trainer import TrainingOptions

SHOTS = 10
"""Examples of each intent of CLINC150, whose mean stands for it."""


def main() -> None:
    from finetune.train.trainer import TrainingOptions

    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=["minilm", "bge-small", "e5-small"])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--encoders", type=Path, required=True)
    parser.add_argument("--share", type=float, default=0.4, help="of the sentences of every head")
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    taxonomy = read()
    corpora = _sampled(mixture.corpora(given.data, taxonomy, given.seed), given.share, Random(given.seed))
    print(f"{sum(len(corpus.examples) for corpus in corpora)} sentences, one pass, seed {given.seed}", flush=True)
    found: dict[str, Scores] = {}
    for name in given.names:
        options = TrainingOptions(epochs=1, seed=given.seed, encoder=name, encoders=given.encoders)
        found[name] = measure(corpora, options, given.data, taxonomy)
        print(name, {key: round(value, 4) for key, value in found[name].items()}, flush=True)
    print(table(found))


def measure(corpora: list[HeadCorpus], options: TrainingOptions, data: Path, taxonomy: Taxonomy) -> Scores:
    from finetune.build import export_folders
    from finetune.train.trainer import train

    started = time.perf_counter()
    network = train(corpora, options)
    took = time.perf_counter() - started
    labels = {corpus.head: tuple(corpus.labels) for corpus in corpora}
    with TemporaryDirectory() as folder:
        card = ModelCard(name=options.encoder, version="0", heads={head: labels[head] for head in mixture.HEADS})
        small, full = export_folders(network, list(mixture.HEADS), Path(folder) / "model", card)
        card = calibrated(
            OnnxModel(small), data, taxonomy, call_sentences.read(call_sentences.DEFAULT, taxonomy).calibration
        )
        figures = _figures(small, card, data, taxonomy)
        unshortened = _figures(full, card, data, taxonomy)
        kept = ("own macro-F1", "MELD dev macro-F1", "own intents accuracy")
        figures |= {f"fp32 {name}": unshortened[name] for name in kept}
        figures["MB int8"] = (small / "model.onnx").stat().st_size / 1e6
        figures |= _times(OnnxModel(small))
    return figures | {"minutes of training": took / 60}


def _figures(folder: Path, card: ModelCard, data: Path, taxonomy: Taxonomy) -> Scores:
    model = OnnxModel(folder)
    model.card = msgspec.structs.replace(card, sha256=model.card.sha256)
    backend = LocalBackend(model, taxonomy)
    figures = sentiment_scores(lambda texts: [one.sentiment for one in backend.analyze(texts)], data)
    figures |= intent_scores(backend) | outside_scores(backend, data) | added_scores(model, taxonomy, data)
    return figures | {"CLINC150, ten examples each": _few_shot(model, data)}


def _few_shot(model: OnnxModel, data: Path) -> float:
    """The intent whose examples a sentence resembles most."""
    folder = data / "nlu" / "clinc150"
    shown, rows = datasets.intents(folder / "train.jsonl.gz"), datasets.intents(folder / "test.jsonl.gz")[::3]
    names = sorted({row.label for row in shown})
    centres = []
    for name in names:
        texts = [row.text for row in shown if row.label == name][:SHOTS]
        centres.append(np.mean([one.embedding for one in model.predict(texts)], axis=0))
    lengths = np.linalg.norm(centres, axis=1)
    likeness = np.stack([one.embedding for one in model.predict([row.text for row in rows])]) @ np.array(centres).T
    return accuracy([row.label for row in rows], [names[best] for best in (likeness / lengths).argmax(axis=1)])


def _times(model: OnnxModel) -> Scores:
    taken = []
    for row in datasets.evaluation("sentiment") * 2:
        before = time.perf_counter()
        model.predict([row["text"]])
        taken.append(1000 * (time.perf_counter() - before))
    return {"ms p50": percentile(taken, 0.5), "ms p95": percentile(taken, 0.95)}


def _sampled(corpora: list[HeadCorpus], share: float, random: Random) -> list[HeadCorpus]:
    return [
        HeadCorpus(
            one.head, random.sample(list(one.examples), round(share * len(one.examples))), one.labels, one.weight
        )
        for one in corpora
    ]


def table(found: dict[str, Scores]) -> str:
    names = list(next(iter(found.values())))
    lines = ["| figure | " + " | ".join(found) + " |", "|---" * (1 + len(found)) + "|"]
    for name in names:
        scale = 1 if name.startswith(("ms", "MB", "minutes")) else 100
        lines.append(f"| {name} | " + " | ".join(f"{scale * one[name]:.1f}" for one in found.values()) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
