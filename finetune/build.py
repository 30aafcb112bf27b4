"""A model's folder, made: trained, exported, calibrated, measured, described. Needs the extra `finetune`."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from finetune.corpus import datasets, mixture
from finetune.corpus.examples import LabelledText
from finetune.evaluate.calibration import calibrated, likely
from finetune.evaluate.report import Scores, all_scores
from finetune.evaluate.scores import accuracy
from finetune.export.model_card import written_card
from finetune.export.onnx_export import call_sentences, export, quantize
from finetune.train.network import Network
from finetune.train.token_head import fit_tokens
from finetune.train.trainer import TrainingOptions, train, train_intents
from nlp.inference.onnx_model import OnnxModel, fingerprint
from tenor.model_store import ModelCard
from tenor.taxonomy.intents import Taxonomy


def make_language(
    data: Path, taxonomy: Taxonomy, out: Path, options: TrainingOptions, *, name: str, version: str
) -> Scores:
    """The model that ships, in `out/<name>-<version>`; in full precision beside it, in `<name>-<version>-full`."""
    corpora = mixture.corpora(data, taxonomy, options.seed)
    network = train(corpora, options)
    fit_tokens(network, mixture.slot_corpus(data, options.seed), seed=options.seed)
    labels = {corpus.head: tuple(corpus.labels) for corpus in corpora}
    seen = frozenset(fingerprint(text) for intent in taxonomy.intents for text in intent.examples)
    card = ModelCard(name=name, version=version, heads={head: labels[head] for head in mixture.HEADS}, examples=seen)
    small, full = export_folders(network, mixture.HEADS, out / f"{name}-{version}", card)
    return describe(small, full, data, taxonomy)


def describe(small: Path, full: Path, data: Path, taxonomy: Taxonomy) -> Scores:
    """Calibrate an exported model, measure it in both precisions and write its card."""
    card = calibrated(OnnxModel(small).card, small, data, taxonomy)
    for folder in (small, full):
        _save(card, folder)
    figures = all_scores(OnnxModel(small), data, taxonomy)
    unshortened = all_scores(OnnxModel(full), data, taxonomy)
    used = [datasets.SOURCES[source] for source in mixture.USED]
    text = written_card(OnnxModel(small).card, used, figures, unshortened, small)
    (small / "README.md").write_text(text, "utf-8")
    return figures


def make_intents(
    train_rows: Sequence[LabelledText],
    test_rows: Sequence[LabelledText],
    out: Path,
    options: TrainingOptions,
    *,
    name: str,
) -> Scores:
    """An intent model on rows of one's own, in `out/<name>-1`, measured in int8 and in full precision."""
    labels = tuple(sorted({row.label for row in train_rows}))
    network = train_intents(train_rows, labels, options)
    card = ModelCard(name=name, version="1", heads={"intent": labels})
    figures = {}
    folders = export_folders(network, ["intent"], out / f"{name}-1", card)
    for folder, precision in zip(folders, ("int8", "fp32"), strict=True):
        _save(card, folder)
        predictions = OnnxModel(folder).predict([row.text for row in test_rows])
        figures[f"accuracy {precision}"] = accuracy(
            [row.label for row in test_rows], likely(predictions, "intent", labels)
        )
    return figures


def export_folders(network: Network, heads: list[str], small: Path, card: ModelCard) -> tuple[Path, Path]:
    """The folder that ships and the one in full precision."""
    full = small.with_name(f"{small.name}-full")
    for folder in (small, full):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "tokenizer.json").write_text(network.tokenizer, "utf-8")
    export(network, heads, full / "model.onnx")
    quantize(full / "model.onnx", small / "model.onnx", call_sentences(network.tokenizer))
    for folder in (small, full):
        _save(card, folder)
    return small, full


def _save(card: ModelCard, folder: Path) -> None:
    digest = hashlib.sha256((folder / "model.onnx").read_bytes()).hexdigest()
    values = msgspec.to_builtins(msgspec.structs.replace(card, sha256=digest))
    values["examples"] = sorted(values["examples"])
    (folder / "model.json").write_bytes(msgspec.json.format(msgspec.json.encode(values), indent=1) + b"\n")
