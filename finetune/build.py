"""An intent model on sentences of one's own, made: trained, exported, measured. Needs the extra `finetune`."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from finetune.corpus.examples import LabelledText
from finetune.evaluate.calibration import likely
from finetune.evaluate.report import Scores
from finetune.evaluate.scores import accuracy
from finetune.export.onnx_export import call_sentences, export, quantize
from finetune.train.network import Network
from finetune.train.trainer import TrainingOptions, train_intents
from nlp.inference.models.onnx_model import OnnxModel
from tenor.model_store import ModelCard


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
