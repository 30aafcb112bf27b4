"""A model's folder, made: trained, exported, calibrated, measured, described. Needs the extra `finetune`."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec

from finetune import language, sources
from finetune.calibration import calibrated, likely
from finetune.card import written_card
from finetune.evaluation import Figures, all_figures
from finetune.examples import Labelled
from finetune.export import export, quantize
from finetune.network import Network, encoder_folder
from finetune.scores import accuracy
from finetune.tagging import fit_tokens
from finetune.training import Course, train, train_intents
from nlp.model import Card, Model, fingerprint
from nlp.taxonomy import Taxonomy


def make_language(data: Path, taxonomy: Taxonomy, out: Path, course: Course, *, name: str, version: str) -> Figures:
    """The model that ships, in `out/<name>-<version>`; in full precision beside it, in `<name>-<version>-full`."""
    lessons = language.lessons(data, taxonomy, course.seed)
    network = train(lessons, course)
    fit_tokens(network, language.slot_lesson(data, course.seed), seed=course.seed)
    labels = {lesson.head: tuple(lesson.labels) for lesson in lessons}
    seen = frozenset(fingerprint(text) for intent in taxonomy.intents for text in intent.examples)
    card = Card(name=name, version=version, heads={head: labels[head] for head in language.HEADS}, examples=seen)
    small, full = _folders(network, language.HEADS, out / f"{name}-{version}", card)
    return describe(small, full, data, taxonomy)


def describe(small: Path, full: Path, data: Path, taxonomy: Taxonomy) -> Figures:
    """Calibrate an exported model, measure it in both precisions and write its card."""
    card = calibrated(Model(small).card, small, data, taxonomy)
    for folder in (small, full):
        _save(card, folder)
    figures = all_figures(Model(small), data, taxonomy)
    unshortened = all_figures(Model(full), data, taxonomy)
    used = [sources.SOURCES[source] for source in language.USED]
    text = written_card(Model(small).card, used, figures, unshortened, small)
    (small / "README.md").write_text(text, "utf-8")
    return figures


def make_intents(
    train_rows: Sequence[Labelled], test_rows: Sequence[Labelled], out: Path, course: Course, *, name: str
) -> Figures:
    """An intent model on rows of one's own, in `out/<name>-1`, measured in int8 and in full precision."""
    labels = tuple(sorted({row.label for row in train_rows}))
    network = train_intents(train_rows, labels, course)
    card = Card(name=name, version="1", heads={"intent": labels})
    figures = {}
    folders = _folders(network, ["intent"], out / f"{name}-1", card)
    for folder, precision in zip(folders, ("int8", "fp32"), strict=True):
        _save(card, folder)
        readings = Model(folder).read([row.text for row in test_rows])
        figures[f"accuracy {precision}"] = accuracy(
            [row.label for row in test_rows], likely(readings, "intent", labels)
        )
    return figures


def _folders(network: Network, heads: list[str], small: Path, card: Card) -> tuple[Path, Path]:
    """The folder that ships and the one in full precision."""
    full = small.with_name(f"{small.name}-full")
    for folder in (small, full):
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(encoder_folder() / "tokenizer.json", folder / "tokenizer.json")
    export(network, heads, full / "model.onnx")
    quantize(full / "model.onnx", small / "model.onnx")
    for folder in (small, full):
        _save(card, folder)
    return small, full


def _save(card: Card, folder: Path) -> None:
    digest = hashlib.sha256((folder / "model.onnx").read_bytes()).hexdigest()
    values = msgspec.to_builtins(msgspec.structs.replace(card, sha256=digest))
    values["examples"] = sorted(values["examples"])
    (folder / "model.json").write_bytes(msgspec.json.format(msgspec.json.encode(values), indent=1) + b"\n")
