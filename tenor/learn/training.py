"""One training: a recipe on a version of a dataset, as a run that writes itself down."""

from __future__ import annotations

import shutil
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from finetune.corpus.vocabulary import LEARNED, VocabularyFilter, common_words, read_vocabulary, within_vocabulary
from finetune.recipes.base import (
    JsonlRunRecord,
    Paused,
    Recipe,
    RunRecord,
    TrainingRow,
    find_recipe,
    kind_of_recipe,
    read_parameters,
)
from storage.datasets import DatasetVersion, open_dataset
from storage.db.engine import Database
from storage.registry.registry import Registry
from storage.runs import runs
from storage.runs.folders import RECORD, run_folder
from storage.runs.mlflow_mirror import MirroredRun, MlflowMirror
from storage.runs.record import StoredRunRecord
from storage.tables import Run
from storage.viewer import Viewer
from tenor.errors import BadInput, TenorError
from tenor.learn.dataset_check import check_dataset, refuse_errors
from tenor.learn.intent_examples import intent_examples
from tenor.learn.starting import PARAMETER, starting_model
from tenor.learn.validation import keep_answers
from tenor.model_store.card import Kind
from tenor.settings import Settings

FOR_OTHERS = ".nemo"
"""Ending of files that a recipe leaves beside the model, for NeMo and Riva; the registry does not take them."""
VOCABULARY = "vocabulary.json"
"""In a run's folder: which words were allowed."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """What came of a run."""

    run: int
    folder: Path
    """Where the model lies,"""
    model: str
    """and its name in the registry; empty if it was written to a folder of the user's own."""
    left_out: VocabularyFilter | None = None
    """What a vocabulary kept from being learned."""


def finetune(
    settings: Settings,
    database: Database,
    viewer: Viewer,
    dataset: str,
    *,
    recipe: str = "head",
    preset: str = "",
    values: Sequence[str] = (),
    name: str = "",
    out: Path | None = None,
    resume: int = 0,
    sweep: str = "",
    vocabulary: Path | None = None,
    rare: int = 0,
    progress: Progress = lambda *_: None,
) -> TrainedModel:
    """Train `recipe` on `dataset` (NAME@N, or the newest of NAME). The model becomes a candidate called `name` (the
    dataset's name), or is written to `out`. `resume`: the number of a paused run, which goes on where it stopped.
    `vocabulary`: a file of the words that are allowed, and `rare`: in how many rows a word must be; rows with other
    words are not learned from."""
    found = find_recipe(recipe)
    if out is not None and out.exists() and any(out.iterdir() if out.is_dir() else [out]):
        raise BadInput(f"{out} is there already", "name a folder that is not")
    registry = Registry(database, settings.models_folder)
    kind = kind_of_recipe(found)
    parameters, parent = (
        _resumed(database, resume, found) if resume else _parameters(settings, registry, found, preset, values)
    )
    with ExitStack() as stack:
        mirror = stack.enter_context(closing(MlflowMirror(database, settings.learn))) if settings.learn.mlflow else None
        opened = stack.enter_context(open_dataset(settings, dataset, viewer=viewer, progress=progress))
        version = opened.version
        if not resume:
            refuse_errors(check_dataset(settings, database, version, progress=progress))
        rows = training_rows(opened.rows())
        limits = _word_limits(run_folder(settings, resume) if resume else None, vocabulary, rare)
        rows, left_out = _within(rows, limits)
        if kind == "language" and hasattr(parameters, PARAMETER):
            rows = [*rows, *intent_examples(settings, getattr(parameters, PARAMETER), rows)]
        number = resume or runs.begin(
            database, viewer, recipe=recipe, dataset=version.reference, dataset_sha256=version.hash,
            parent=parent, preset=preset, sweep=sweep, parameters=msgspec.to_builtins(parameters),
        )  # fmt: skip
        if resume:
            runs.resume(database, resume)
        if mirror is not None:
            stack.enter_context(MirroredRun(mirror, number))
        folder = run_folder(settings, number)
        if limits is not None:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / VOCABULARY).write_bytes(msgspec.json.encode(limits, order="deterministic"))
        made = _trained(found, rows, parameters, folder, StoredRunRecord(database, number), left_out)
        if kind == "language":
            keep_answers(settings, folder, made, rows)
        if out is not None:
            out.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(made, out, dirs_exist_ok=True)
            for file in folder.glob(f"*{FOR_OTHERS}"):
                shutil.copyfile(file, out / file.name)
            return TrainedModel(number, out, "", left_out)
        model = _registered(registry, viewer, made, version, name or version.name, kind, number, parent)
        runs.set_model(database, number, model)
        return TrainedModel(number, made, model, left_out)


class RunRecords:
    """A record that is several: the database, and a file beside the run."""

    def __init__(self, *records: RunRecord) -> None:
        self._records = records

    def parameters(self, values: Any) -> None:
        for record in self._records:
            record.parameters(values)

    def point(self, step: int, name: str, value: float) -> None:
        for record in self._records:
            record.point(step, name, value)

    def note(self, text: str) -> None:
        for record in self._records:
            record.note(text)

    def artifact(self, path: Path) -> None:
        for record in self._records:
            record.artifact(path)


class WordLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Which words may be learned from. It stays with the run, so that this goes on with the same after a pause; of
    the dataset it holds no words."""

    words: frozenset[str] | None = None
    rare: int = 0

    def allowed(self, rows: Sequence[TrainingRow]) -> frozenset[str]:
        if not self.rare:
            return self.words or frozenset()
        common = common_words([row for row in rows if row.split in LEARNED], self.rare)
        return common if self.words is None else common & self.words


def _word_limits(before: Path | None, vocabulary: Path | None, rare: int) -> WordLimits | None:
    """`before`: the folder of a run that goes on, whose limits count."""
    if before is not None:
        kept = before / VOCABULARY
        return msgspec.json.decode(kept.read_bytes(), type=WordLimits) if kept.exists() else None
    if vocabulary is None and not rare:
        return None
    return WordLimits(words=read_vocabulary(vocabulary) if vocabulary else None, rare=rare)


def _within(
    rows: list[TrainingRow], limits: WordLimits | None
) -> tuple[list[TrainingRow], VocabularyFilter | None]:  # fmt: skip
    if limits is None:
        return rows, None
    found = within_vocabulary(rows, limits.allowed(rows))
    if not any(row.split == "train" for row in found.rows):
        raise BadInput("no row is left to train on: all have words outside the vocabulary", found.listed)
    return found.rows, found


def _trained(
    recipe: Recipe, rows: Sequence[TrainingRow], parameters: Any, folder: Path, record: StoredRunRecord,
    left_out: VocabularyFilter | None,
) -> Path:  # fmt: skip
    """The model's folder. However the run ends, its row says so."""
    lines = JsonlRunRecord(folder / RECORD)
    if left_out is not None:
        RunRecords(record, lines).note(left_out.summary)
    try:
        made = recipe.run(rows, parameters, folder, RunRecords(record, lines))
    except Paused:
        record.end("paused")
        raise
    except KeyboardInterrupt:
        record.end("stopped")
        raise
    except TenorError as error:
        record.end("failed", error=error.message)
        raise
    except Exception as error:  # a recipe of one's own may raise anything
        record.end("failed", error=f"{type(error).__name__}: {error}")
        lines.note(traceback.format_exc())
        raise BadInput(
            f"the recipe {recipe.name} failed: {type(error).__name__}: {error}", f"{folder / RECORD} says where"
        ) from error
    finally:
        lines.close()
    record.end("done")
    return made


def _parameters(
    settings: Settings, registry: Registry, recipe: Recipe, preset: str, values: Sequence[str]
) -> tuple[Any, str]:  # fmt: skip
    """The recipe's parameters and the model that it starts from."""
    start = starting_model(settings, registry, recipe, values)
    told = [f"{PARAMETER}={start.value}"] if start.value else []
    return read_parameters(recipe, preset, [*values, *told]), start.id


def _resumed(database: Database, number: int, recipe: Recipe) -> tuple[Any, str]:
    """A run that goes on keeps to what it began with, whatever was promoted meanwhile."""
    with database.session() as session:
        run = runs.find(session, number).run
    parameters = kept_parameters(run, recipe)
    if parameters is None:
        raise BadInput(f"run {number} is of another version of the recipe {recipe.name}", "train anew")
    return parameters, run.parent


def kept_parameters(run: Run, recipe: Recipe) -> Any:
    """Those that the run began with; None if the recipe has others by now."""
    try:
        return msgspec.convert(run.parameters, recipe.parameters)
    except msgspec.ValidationError:
        return None


def _registered(
    registry: Registry, viewer: Viewer, folder: Path, version: DatasetVersion, name: str, kind: Kind, number: int,
    parent: str,
) -> str:  # fmt: skip
    origin = {"run": str(number), "dataset": version.reference, "snapshot": version.snapshot, "parent": parent}
    kept = {key: value for key, value in origin.items() if value}
    return registry.add(viewer, folder, name=name, kind=kind, why=f"run {number}", origin=kept).id


def _row(row: Any) -> TrainingRow:
    """What storage gives as what recipes read; the two do not know each other."""
    return TrainingRow(**{name: getattr(row, name) for name in TrainingRow.__struct_fields__})


def training_rows(rows: Iterable[Any]) -> list[TrainingRow]:
    return [_row(row) for row in rows]
