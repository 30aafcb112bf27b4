"""The gate, asked about a model of the registry: both models answer the hold-out, and people's labels decide."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import select
from sqlmodel import col
from whisper_normalizer.english import EnglishTextNormalizer

import finetune.gate
from asr.local.stt.engines.ctc_folder import is_ctc_folder
from finetune.gate import CallErrors, Evidence, FrozenAnswer, HeldOutSentence, ModelCost, Verdict, all_checks, judge
from finetune.recipes.base import TrainingRow
from nlp.evaluation.alignment import word_errors
from nlp.inference.backend import open_local
from nlp.inference.types import Backend, SentenceAnalysis
from storage.datasets import open_dataset
from storage.db.engine import Database
from storage.registry.registry import ModelVersion, Registry
from storage.tables import Gate
from storage.viewer import Viewer
from tenor.errors import BadInput
from tenor.learn.training import training_rows
from tenor.learn.validation import answers_of
from tenor.runtime import transcribe
from tenor.runtime.profiles import PATIENT, change_settings
from tenor.settings import Settings
from tenor.taxonomy.in_force import sentiments_in_force

HOLDOUT = "holdout"
TIMED = 200
"""Sentences whose time is measured,"""
ROUNDS = 3
"""and how often."""
GROUPS = ("queue", "site", "codec")

Progress = Callable[[str, int, int], None]


def judge_model(
    settings: Settings,
    database: Database,
    viewer: Viewer,
    model: str,
    dataset: str = "",
    *,
    against: str = "",
    progress: Progress = lambda *_: None,
) -> Verdict:
    """Whether `model` is better than `against` (the model in force) on the hold-out of `dataset` (the one that it was
    trained on). What the gate says is kept with the model."""
    registry = Registry(database, settings.models_folder)
    candidate = registry.version(model)
    champion = registry.version(against) if against else registry.champion(candidate.kind)
    if champion.id == candidate.id:
        raise BadInput(f"{model} is in force already", "judge it against another with --against")
    reference = dataset or (candidate.row.dataset if candidate.row else "")
    if not reference:
        raise BadInput(f"nobody knows on which dataset {model} was trained", "name one with --dataset")
    with open_dataset(settings, reference, viewer=viewer) as opened:
        rows = training_rows(opened.rows(HOLDOUT))
        if not rows:
            raise BadInput(
                f"{reference} has no hold-out to judge with",
                "label random sentences on Review, then `tenor dataset make` a new version",
            )
        holdout = _holdout_hash(rows)
        attempt = 1 + _attempts(database, holdout, candidate.id)
        if candidate.kind == "speech":
            found = [_speech(settings, registry, champion, candidate, rows)]
        else:
            found = _language(settings, registry, champion, candidate, rows, progress)
    evidence = [replace(one, attempt=attempt, kinds=len(found)) for one in found]
    verdict = judge(evidence, [all_checks(one) for one in evidence])
    registry.record_gate(
        viewer, candidate.id, passed=verdict.passed, verdict=verdict.conclusion, against=champion.id,
        figures={
            **verdict.document(), "holdout": holdout, "dataset": reference,
            "accuracy": {one.kind: one.accuracy() for one in evidence if one.sentences},
        },
    )  # fmt: skip
    return verdict


# -- language


def _language(
    settings: Settings, registry: Registry, champion: ModelVersion, candidate: ModelVersion,
    rows: Sequence[TrainingRow], progress: Progress,
) -> list[Evidence]:  # fmt: skip
    """Evidence of each kind of answer for which people left labels."""
    folders = [registry.path(one) for one in (champion, candidate)]
    backends = [open_local(settings.language.model_copy(update={"model": ""}), folder) for folder in folders]
    frozen = _frozen_rows()
    answers: list[list[SentenceAnalysis]] = []
    frozen_answers: list[list[SentenceAnalysis]] = []
    for number, backend in enumerate(backends):
        progress("answers", number, len(backends))
        answers.append(answers_of(backend, rows))
        frozen_answers.append(list(backend.analyze([row["text"] for row in frozen])))
    costs = _costs(backends, folders, [row["text"] for row in frozen])
    worth = sentiments_in_force(settings.language)
    kinds = [kind for kind in ("sentiment", "intent") if any(getattr(row, kind) for row in rows)]
    found = []
    for kind in kinds:
        known = _labels(answers[0], kind)
        new = {getattr(row, kind) for row in rows} - known - {None}  # the champion cannot be right about these
        there = [
            HeldOutSentence(
                id=row.id, call=row.call or row.group, human=getattr(row, kind),
                champion=getattr(before, kind), candidate=getattr(after, kind), groups=_groups(row),
            )
            for row, before, after in zip(rows, *answers, strict=True)
            if getattr(row, kind) in known
        ]  # fmt: skip
        found.append(
            Evidence(
                kind=kind, champion=champion.id, candidate=candidate.id, sentences=there,
                worth=worth if kind == "sentiment" else {}, frozen=_frozen(frozen, frozen_answers, kind), costs=costs,
                new_labels=tuple(sorted(new)),
            )
        )  # fmt: skip
    if not found:
        raise BadInput("nobody has labelled a sentence of the hold-out", "label random sentences on Review")
    return found


def _labels(answers: Iterable[SentenceAnalysis], kind: str) -> set[str]:
    """What the champion could have said."""
    scores = (one.sentiment_scores if kind == "sentiment" else one.intent_scores for one in answers)
    return {label for one in scores for label in one}


def _groups(row: TrainingRow) -> dict[str, str]:
    known = {name: row.origin[name] for name in GROUPS if row.origin.get(name)}
    return known | ({"role": row.role} if row.role else {})


def _frozen_rows() -> list[dict[str, Any]]:
    """Sentences whose answers are settled: `must` ones of the gate's own, and those that models are measured on."""
    must = (resources.files(finetune.gate) / "must.jsonl").read_bytes().splitlines()
    rows = [{**msgspec.json.decode(line), "must": True} for line in must]
    for kind, file in (("sentiment", "sentiment.jsonl"), ("intent", "intents.jsonl")):
        lines = (resources.files("nlp.evaluation") / file).read_bytes().splitlines()
        decoded = [msgspec.json.decode(line) for line in lines]
        rows += [{"text": row["text"], kind: row["label"]} for row in decoded]
    return rows


def _frozen(
    rows: Sequence[Mapping[str, Any]], answers: Sequence[Sequence[SentenceAnalysis]], kind: str
) -> list[FrozenAnswer]:
    return [
        FrozenAnswer(
            text=row["text"], wanted=row[kind], champion=getattr(before, kind), candidate=getattr(after, kind),
            must=bool(row.get("must")),
        )
        for row, before, after in zip(rows, *answers, strict=True)
        if row.get(kind)
    ]  # fmt: skip


def _costs(backends: Sequence[Backend], folders: Sequence[Path], texts: Sequence[str]) -> tuple[ModelCost, ModelCost]:
    """Processor time of each sentence, the least of a few: what else the machine does at the time does not count."""
    times: list[list[float]] = [[], []]
    for number, text in enumerate(texts[:TIMED]):
        for backend, own in zip(backends, times, strict=True):
            own.append(min(_milliseconds(backend, f"{text} {number}{'.' * again}") for again in range(ROUNDS)))
    costs = [
        ModelCost(p95_ms=sorted(own)[int(0.95 * len(own))], megabytes=_megabytes(folder))
        for own, folder in zip(times, folders, strict=True)
    ]
    return costs[0], costs[1]


def _milliseconds(backend: Backend, text: str) -> float:
    """Of a text that nobody remembers."""
    began = time.process_time()
    backend.analyze([text])
    return 1000 * (time.process_time() - began)


def _megabytes(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.iterdir() if file.is_file()) / 1e6


# -- speech


def _speech(
    settings: Settings, registry: Registry, champion: ModelVersion, candidate: ModelVersion,
    rows: Sequence[TrainingRow],
) -> Evidence:  # fmt: skip
    """Word errors of whole channels, as `tenor transcribe` hears them."""
    written: dict[str, list[TrainingRow]] = {}
    for row in rows:
        if row.audio:
            written.setdefault(row.audio, []).append(row)
    if not written:
        raise BadInput("the hold-out has no audio", "`tenor archive` keeps it where recordings are kept")
    normal = EnglishTextNormalizer()
    errors: list[dict[str, int]] = []
    files = sorted(written)
    for version in (champion, candidate):
        path = "" if version.ships else str(registry.path(version))
        chosen = _hearing(settings, path)
        heard = {}
        for file, result in zip(files, transcribe(files, chosen), strict=True):
            if result.error:
                raise BadInput(f"{file} could not be heard: {result.error.message}", result.error.hint)
            said = " ".join(utterance.text for utterance in result.utterances)
            wanted = " ".join(row.text for row in sorted(written[file], key=lambda row: row.start_ms))
            heard[file] = word_errors(str(normal(wanted)).split(), str(normal(said)).split())
        errors.append(heard)
    words = {file: len(str(normal(" ".join(row.text for row in written[file]))).split()) for file in files}
    speech = [
        CallErrors(
            call=written[file][0].call or file, words=words[file], champion=errors[0][file], candidate=errors[1][file]
        )
        for file in files
    ]
    return Evidence(kind="speech", champion=champion.id, candidate=candidate.id, speech=speech)


def _hearing(settings: Settings, folder: str) -> Settings:
    """As `tenor transcribe` hears, with another recogniser."""
    ctc = bool(folder) and is_ctc_folder(Path(folder))
    paths = {"whisper_path": "" if ctc else folder, "ctc_path": folder if ctc else ""}
    changes: dict[str, dict[str, Any]] = {"riva": paths, "speech": {"redact": "off"}}
    for name, value in PATIENT.items():
        section, _, field = name.partition(".")
        changes.setdefault(section, {})[field] = value
    return change_settings(settings, **changes)


# -- attempts


def _holdout_hash(rows: Sequence[TrainingRow]) -> str:
    return hashlib.sha256("\n".join(sorted(row.id for row in rows)).encode()).hexdigest()[:16]


def _attempts(database: Database, holdout: str, model: str) -> int:
    """How many other models were judged with this hold-out. To judge one twice tells nothing new."""
    with database.session() as session:
        gates = session.scalars(select(Gate).where(col(Gate.model) != model))
        return len({gate.model for gate in gates if gate.figures.get("holdout") == holdout})
