"""The gate, asked about a model of the registry: both models answer the hold-out, and people's labels decide."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import select
from sqlmodel import col

import finetune.gate
from finetune.export.language_folder import KEPT
from finetune.gate import (
    Evidence,
    FrozenAnswer,
    HeldOutSentence,
    ModelCost,
    Verdict,
    all_checks,
    confusion_of,
    figures,
    judge,
)
from finetune.recipes.base import TrainingRow
from nlp.inference.backend import open_local
from nlp.inference.local import LocalBackend
from nlp.inference.types import Backend, SentenceAnalysis
from storage.datasets import open_dataset
from storage.db.engine import Database
from storage.labels.trust.agreement import ENOUGH, KINDS, agreement, current_answers, pairs_of
from storage.registry.registry import ModelVersion, Registry
from storage.tables import Gate
from storage.viewer import HOUSE, Viewer
from tenor.errors import BadInput
from tenor.learn.hearing import HeardHoldout, megabytes
from tenor.learn.training import training_rows
from tenor.learn.validation import answers_of
from tenor.model_store import read_card
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
    terms: Sequence[str] = (),
    progress: Progress = lambda *_: None,
) -> Verdict:
    """Whether `model` is better than `against` (the model in force) on the hold-out of `dataset` (the one that it was
    trained on). `terms`: business terms that a recogniser must not miss more often, else those that calls expect. What
    the gate says is kept with the model."""
    registry = Registry(database, settings.models_folder)
    candidate = registry.version(model)
    champion = champion_for(registry, candidate, against)
    with opened_holdout(settings, viewer, candidate, dataset) as (reference, rows):
        judge = HoldoutJudge(settings, database, registry, rows, terms, progress)
        verdict = judge.alone(champion, candidate)
    registry.record_gate(
        viewer, candidate.id, passed=verdict.passed, verdict=verdict.conclusion, against=champion.id,
        figures={**verdict.document(), "holdout": judge.holdout, "dataset": reference},
    )  # fmt: skip
    return verdict


def champion_for(registry: Registry, candidate: ModelVersion, against: str = "") -> ModelVersion:
    champion = registry.version(against) if against else registry.champion(candidate.kind)
    if champion.id == candidate.id:
        raise BadInput(f"{candidate.id} is in force already", "judge it against another with --against")
    return champion


@contextmanager
def opened_holdout(
    settings: Settings, viewer: Viewer, candidate: ModelVersion, dataset: str
) -> Iterator[tuple[str, list[TrainingRow]]]:
    """The dataset's name and version, and the rows that no version was trained on."""
    reference = dataset or (candidate.row.dataset if candidate.row else "")
    if not reference:
        raise BadInput(f"nobody knows on which dataset {candidate.id} was trained", "name one with --dataset")
    with open_dataset(settings, reference, viewer=viewer) as opened:
        rows = training_rows(opened.rows(HOLDOUT))
        if not rows:
            raise BadInput(
                f"{reference} has no hold-out to judge with",
                "label random sentences on Review, then `tenor dataset make` a new version",
            )
        yield reference, rows


class HoldoutJudge:
    """Judges models with one hold-out. What a recogniser hears of it is heard once."""

    def __init__(
        self, settings: Settings, database: Database, registry: Registry, rows: Sequence[TrainingRow],
        terms: Sequence[str], progress: Progress,
    ) -> None:  # fmt: skip
        self._settings, self._database, self._registry = settings, database, registry
        self._rows, self._progress = rows, progress
        self._terms = terms or settings.speech.boosted
        self.heard = HeardHoldout(settings, registry, rows, progress)
        self.holdout = _holdout_hash(rows)

    def attempt(self, candidate: ModelVersion) -> int:
        return 1 + _attempts(self._database, self.holdout, candidate.id)

    def alone(self, champion: ModelVersion, candidate: ModelVersion) -> Verdict:
        """One model, while everything else stays as it is."""
        if candidate.kind == "speech":
            found = [self._speech(champion, candidate)]
        else:
            found = _language(self._settings, self._registry, champion, candidate, self._rows, self._progress)
        attempt = self.attempt(candidate)
        evidence = [
            replace(one, attempt=attempt, kinds=len(found), people_kappa=self._people_kappa(one.kind)) for one in found
        ]
        described = [one for one in evidence if one.sentences]
        checks = [[*all_checks(one), *([figures(one)] if one.sentences else [])] for one in evidence]
        return judge(evidence, checks, [confusion_of(one) for one in described])

    def _speech(self, champion: ModelVersion, candidate: ModelVersion) -> Evidence:
        if not self.heard.has_audio:
            raise BadInput(
                "the hold-out has no audio",
                "`tenor archive` keeps that of recordings (learn.audio), then `tenor dataset make` a new version",
            )
        versions = (champion, candidate)
        errors = self.heard.errors(versions, self._terms)
        if not errors:
            raise BadInput(
                "nobody has written down what is said in the hold-out", "correct the text of sentences on the Call page"
            )
        return Evidence(
            kind="speech", champion=champion.id, candidate=candidate.id, speech=errors, costs=self.heard.costs(versions)
        )

    def _people_kappa(self, kind: str) -> float | None:
        """How far people agree with each other, about all that two of them were asked."""
        if kind not in KINDS:
            return None
        with self._database.session() as session:
            said = current_answers(session, HOUSE, kind, held=False)
        answers: Counter[tuple[str, str]] = Counter()
        for pair in pairs_of(kind, said):
            answers.update(pair.answers)
        return agreement(answers).kappa if answers.total() >= ENOUGH else None


# -- language


def _language(
    settings: Settings, registry: Registry, champion: ModelVersion, candidate: ModelVersion,
    rows: Sequence[TrainingRow], progress: Progress,
) -> list[Evidence]:  # fmt: skip
    """Evidence of each kind of answer for which people left labels."""
    folders = [registry.path(one) for one in (champion, candidate)]
    backends = [language_backend(settings, folder) for folder in folders]
    frozen = _frozen_rows()
    answers: list[list[SentenceAnalysis]] = []
    on_transcripts: list[dict[str, str]] = []
    frozen_answers: list[list[SentenceAnalysis]] = []
    for number, backend in enumerate(backends):
        progress("answers", number, len(backends))
        answers.append(answers_of(backend, rows, [row.recognised or row.text for row in rows]))
        on_transcripts.append(_on_transcripts(backend, rows))
        frozen_answers.append(list(backend.analyze([row["text"] for row in frozen])))
    costs = _costs(backends, folders, [row["text"] for row in frozen])
    worth = sentiments_in_force(settings.language)
    kinds = [kind for kind in ("sentiment", "intent") if any(getattr(row, kind) for row in rows)]
    found = []
    for kind in kinds:
        known = _labels(answers[0], kind)
        new = {getattr(row, kind) for row in rows} - known - {None}  # the champion cannot be right about these
        labelled = [
            HeldOutSentence(
                id=row.id, call=row.call or row.group, human=getattr(row, kind),
                champion=getattr(before, kind), candidate=getattr(after, kind), groups=_groups(row),
                champion_on_transcript=on_transcripts[0].get(row.id, ""),
                candidate_on_transcript=on_transcripts[1].get(row.id, ""),
            )
            for row, before, after in zip(rows, *answers, strict=True)
            if getattr(row, kind)
        ]  # fmt: skip
        found.append(
            Evidence(
                kind=kind, champion=champion.id, candidate=candidate.id,
                sentences=[one for one in labelled if one.human in known],
                unjudged=[one for one in labelled if one.human not in known],
                worth=worth if kind == "sentiment" else {}, frozen=_frozen(frozen, frozen_answers, kind), costs=costs,
                new_labels=tuple(sorted(new)),
            )
        )  # fmt: skip
    if not found:
        raise BadInput("nobody has labelled a sentence of the hold-out", "label random sentences on Review")
    return found


def language_backend(settings: Settings, folder: Path) -> LocalBackend:
    return open_local(settings.language.model_copy(update={"model": ""}), folder)


def _on_transcripts(backend: Backend, rows: Sequence[TrainingRow]) -> dict[str, str]:
    """The sentiment of sentences whose words people put right, by their ids."""
    corrected = [row for row in rows if row.recognised and row.written]
    found = answers_of(backend, corrected, [row.text for row in corrected])
    return {row.id: one.sentiment for row, one in zip(corrected, found, strict=True)}


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
        ModelCost(
            p95_ms=sorted(own)[int(0.95 * len(own))],
            megabytes=megabytes(folder),
            kept=read_card(folder).figures.get(KEPT),
        )
        for own, folder in zip(times, folders, strict=True)
    ]
    return costs[0], costs[1]


def _milliseconds(backend: Backend, text: str) -> float:
    """Of a text that nobody remembers."""
    began = time.process_time()
    backend.analyze([text])
    return 1000 * (time.process_time() - began)


# -- attempts


def _holdout_hash(rows: Sequence[TrainingRow]) -> str:
    return hashlib.sha256("\n".join(sorted(row.id for row in rows)).encode()).hexdigest()[:16]


def _attempts(database: Database, holdout: str, model: str) -> int:
    """How many other models were judged with this hold-out. To judge one twice tells nothing new."""
    with database.session() as session:
        gates = session.scalars(select(Gate).where(col(Gate.model) != model))
        return len({gate.model for gate in gates if gate.figures.get("holdout") == holdout})
