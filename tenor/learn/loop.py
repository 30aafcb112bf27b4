"""The whole loop, from what people corrected to a model in force, step by step.

    archive -> labels -> snapshot -> dataset -> train -> gate -> shadow -> promote

Every step finds what it made before: killed anywhere and started again, the result is that of an undisturbed run.
A step whose inputs have not changed is skipped and says so.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select
from sqlmodel import col

from storage.archive.archiver import archive
from storage.archive.parts import newest, root_hash
from storage.archive.sealing.place import ArchivePlace
from storage.datasets.making import TEXT, check_search, make
from storage.datasets.manifest import DatasetVersion
from storage.datasets.manifest import find as find_dataset
from storage.datasets.splits import plain_words
from storage.db.engine import Database
from storage.labels.trust.checks import hold_suspects, trusted_labels
from storage.labels.trust.contradictions import find_contradictions, labelled_words
from storage.place import Place
from storage.registry.registry import ModelVersion, Registry
from storage.snapshots import current_or_taken, listing
from storage.tables import Label
from storage.viewer import Viewer
from tenor.errors import BadInput
from tenor.learn.candidates import Candidates, values_by_recipe
from tenor.learn.dataset_check import check_dataset, refuse_errors
from tenor.learn.judging import judge_model
from tenor.learn.pairs import judge_together
from tenor.learn.shadowing import shadow_kept
from tenor.learn.steps import StepName, StepRecords, StepReport, hash_of, only_one
from tenor.learn.verdicts import kept_pair, kept_verdict, pair_summary, summary
from tenor.model_store.card import Kind
from tenor.model_store.promotion_log import Promotion
from tenor.runtime.frozen import frozen_sentences
from tenor.runtime.models import check_model, wake_workers
from tenor.settings import Settings

NAME = "house"
KINDS = ("sentiment", "intent", "slots")
"""Labels that models learn from."""

Told = Callable[[StepReport], None]
Progress = Callable[[StepName, int, int], None]
Work = Callable[[], tuple[str, dict[str, Any]]]
"""Does a step: the line that people read, and the figures in it."""


@dataclass(frozen=True, slots=True)
class LearnResult:
    """What came of it."""

    steps: tuple[StepReport, ...]
    dataset: str
    models: tuple[str, ...]
    """What the gate was asked about, one for each kind of model."""
    passed: bool
    """Whether all of them are certainly better, or in force already."""
    promoted: tuple[str, ...]
    """Those that are in force now."""


def learn(
    settings: Settings,
    database: Database,
    viewer: Viewer,
    *,
    name: str = NAME,
    search: str = "",
    recipes: Sequence[str] = (),
    values: Sequence[str] = (),
    promote: bool | None = None,
    samples: bool = False,
    told: Told = lambda _: None,
    progress: Progress = lambda *_: None,
) -> LearnResult:
    """Learn from what people labelled. `name`: of the dataset and the models; `search`: which sentences, all by
    default; `recipes`: those of `learn.recipes`, of each kind of model the best on validation is judged; `values`:
    parameters as `name=value`, or `recipe.name=value` for one recipe; `promote`: whether to put it in force, else as
    `learn.promote` says; `samples`: whether calls that were made up count. `told` hears of each step when it is done,
    `progress` while it works."""
    viewer.must_train("train models")
    recipes = tuple(recipes or settings.learn.recipes)
    values_by_recipe(recipes, values)  # what is misspelt is told now, and not when the first has been trained
    check_search(database, settings, name, search, viewer)
    with only_one(settings):
        loop = LearningLoop(settings, database, viewer, name, told, progress, samples=samples)
        return loop.run(search, recipes, tuple(values), _promotes(settings, promote))


class LearningLoop:
    def __init__(
        self, settings: Settings, database: Database, viewer: Viewer, name: str, told: Told, progress: Progress,
        *, samples: bool = False,
    ) -> None:  # fmt: skip
        self._samples = samples
        self._settings, self._database, self._viewer, self._name = settings, database, viewer, name
        self._told, self._progress = told, progress
        self._place = ArchivePlace(settings)
        records = Place(str(settings.home / "learn")) if self._place.worm else self._place
        self._records = StepRecords(records, name)
        self._registry = Registry(database, settings.models_folder)
        self._steps: list[StepReport] = []

    def run(
        self, search: str, recipes: tuple[str, ...], values: tuple[str, ...], promotes: bool
    ) -> LearnResult:  # fmt: skip
        self._archive()
        self._labels()
        version = self._dataset(search, self._snapshot())
        candidates = Candidates(
            self._settings, self._database, self._registry, self._viewer, version, self._name, recipes, values
        )
        models = self._train(candidates)
        passed = self._gate(models, version) and not self._rolled_back(models)
        self._shadow(models)
        promoted = self._promote(models, passed, promotes)
        return LearnResult(tuple(self._steps), version.reference, tuple(models.values()), passed, promoted)

    # -- ingest

    def _archive(self) -> None:
        def work() -> tuple[str, dict[str, Any]]:
            counts = archive(
                self._database, self._settings, lambda done, total, _: self._progress("archive", done, total)
            )
            news = f"{_number(counts.changed_days, 'day')} changed" if counts.changed_days else "nothing is new"
            text = f"{_number(counts.calls, 'call')}, {counts.sentences:,} sentences, {counts.labels:,} labels; {news}"
            text += (
                f"; {_number(len(counts.faults), 'day')} as before: `tenor archive` says why" if counts.faults else ""
            )
            return text, {"changed_days": counts.changed_days, "calls": counts.calls, "labels": counts.labels}

        self._do("archive", work)

    # -- preparation

    def _labels(self) -> None:
        """Who is clearly unlike everybody else is held now, before anything is learned from them."""

        def work() -> tuple[str, dict[str, Any]]:
            experts = self._settings.learn.experts
            with self._database.begin() as session:
                held_now = hold_suspects(session, experts)
            if held_now:  # so that the archive knows it, too
                archive(self._database, self._settings)
            with self._database.session() as session:
                trusted = sum(len(trusted_labels(session, kind, experts)) for kind in KINDS)
                held = select(func.count(), func.count(col(Label.author).distinct())).where(col(Label.held))
                held_labels, held_authors = session.execute(held).one()
                corrected = session.scalar(
                    select(func.count(col(Label.sentence).distinct())).where(col(Label.kind) == TEXT, ~col(Label.held))
                )
                contradictions = len(find_contradictions(labelled_words(session)))
            if not trusted and not corrected:
                raise BadInput(
                    "nobody has labelled anything that could be learned from",
                    "label sentences on Review (`tenor dashboard`), or bring labels in with `tenor labels import FILE`",
                )
            text = f"{trusted:,} trusted, " + (f"{corrected:,} texts put right, " if corrected else "")
            text += f"{held_labels:,} held"
            text += f" (of {_number(held_authors, 'person', 'people')}: decide on Review)" if held_labels else ""
            text += f", {_number(contradictions, 'contradiction')}" + (" to settle on Review" if contradictions else "")
            figures = {"trusted": trusted, "corrected": corrected, "held": held_labels}
            return text, {**figures, "contradictions": contradictions}

        self._do("labels", work, lambda: {"labels": self._root("labels"), "experts": self._settings.learn.experts})

    def _snapshot(self) -> str:
        def work() -> tuple[str, dict[str, Any]]:
            taken = current_or_taken(
                self._settings, by=self._viewer.name, job=f"learn-{self._name}", viewer=self._viewer
            )
            return f"{taken.name}  +{taken.new_bytes / 1e6:.1f} MB", {"snapshot": taken.name, "root": taken.root}

        def is_there(figures: Mapping[str, Any]) -> bool:
            return any(one.name == figures["snapshot"] for one in listing(self._place))

        figures = self._do("snapshot", work, lambda: {"archive": self._root()}, is_there)
        return str(figures["snapshot"])

    def _dataset(self, search: str, snapshot: str) -> DatasetVersion:
        """Whoever makes it again from the same gets the same version."""
        frozen = {plain_words(text) for text in frozen_sentences()}

        def work() -> tuple[str, dict[str, Any]]:
            made = make(
                self._database, self._settings, self._name, search, snapshot=snapshot, by=self._viewer.name,
                viewer=self._viewer, samples=self._samples, frozen=frozen,
            )  # fmt: skip
            report = check_dataset(
                self._settings, self._database, made,
                progress=lambda done, total: self._progress("dataset", done, total),
            )  # fmt: skip
            refuse_errors(report)
            counts = "  ".join(
                f"{split} {made.counts.get(split, 0):,}" for split in ("train", "val", "test", "holdout")
            )
            odd = sum(finding.level == "warning" for finding in report.findings)
            told = f"; {_number(odd, 'warning')} by `tenor dataset check`" if odd else ""
            return f"{made.reference}  {counts}  no leaks{told}", {"dataset": made.reference, "hash": made.hash}

        inputs = {
            "archive": self._root(),
            "search": search,
            "samples": self._samples,
            "frozen": hash_of({"texts": sorted(frozen)}),
        }
        figures = self._do("dataset", work, lambda: inputs, self._has_dataset)
        return find_dataset(self._place, str(figures["dataset"]))

    def _has_dataset(self, figures: Mapping[str, Any]) -> bool:
        try:
            return bool(find_dataset(self._place, figures["dataset"]).hash == figures["hash"])
        except BadInput:
            return False

    # -- training

    def _train(self, candidates: Candidates) -> dict[Kind, str]:
        def work() -> tuple[str, dict[str, Any]]:
            best = candidates.train(lambda done, total: self._progress("train", done, total))
            return best.text, {"models": best.models, "runs": best.runs}

        figures = self._do("train", work, candidates.inputs, lambda made: self._has_models(made["models"].values()))
        return dict(figures["models"])

    def _has_models(self, models: Any) -> bool:
        return {*models} <= {version.id for version in self._registry.versions()}

    def _gate(self, models: Mapping[Kind, str], version: DatasetVersion) -> bool:
        """Both or neither: of each kind of model the best is judged, and all must pass."""

        def work() -> tuple[str, dict[str, Any]]:
            if {"speech", "language"} <= models.keys():
                text, good = self._together(models, version)
                return text, {"passed": good}
            told, passed = [], True
            for kind, model in models.items():
                text, good = self._verdict(model, self._registry.champion(kind), version)
                told.append(text)
                passed &= good
            return "; ".join(told), {"passed": passed}

        figures = self._do("gate", work, lambda: self._against(models) | {"dataset": version.hash})
        return bool(figures["passed"])

    def _verdict(self, model: str, champion: ModelVersion, version: DatasetVersion) -> tuple[str, bool]:
        candidate = self._registry.version(model)
        known = kept_verdict(candidate, champion, version.reference)
        if known is None:
            if not version.counts.get("holdout"):
                return f"{model}: cannot tell yet, no random sentence has a label that two people agree on", False
            known = judge_model(
                self._settings, self._database, self._viewer, model, version.reference,
                progress=lambda _, done, total: self._progress("gate", done, total),
            )  # fmt: skip
        return summary(known), known.passed

    def _together(self, models: Mapping[Kind, str], version: DatasetVersion) -> tuple[str, bool]:
        """A recogniser and a language model: each alone, and the four pairs."""
        both = (models["speech"], models["language"])
        speech, language = map(self._registry.version, both)
        champions = [self._registry.champion(one.kind) for one in (speech, language)]
        known = kept_pair(speech, language, champions, version.reference)
        if known is None:
            if not version.counts.get("holdout"):
                return f"{' and '.join(both)}: cannot tell yet, no random sentence has a label", False
            known = judge_together(
                self._settings, self._database, self._viewer, both, version.reference,
                progress=lambda _, done, total: self._progress("gate", done, total),
            )  # fmt: skip
        return pair_summary(known), known.passed

    # -- deployment

    def _shadow(self, models: Mapping[Kind, str]) -> None:
        def work() -> tuple[str, dict[str, Any]]:
            told, figures = [], {}
            for kind, model in models.items():
                champion = self._registry.champion(kind)
                if kind == "speech" or champion.id == model:
                    continue
                found = shadow_kept(
                    self._settings, self._registry, self._viewer, self._registry.version(model), champion,
                    progress=lambda done, total: self._progress("shadow", done, total),
                )  # fmt: skip
                told.append(f"{model} would change {100 * found.share:.1f} % of {found.sentences:,} sentences of a day")
                figures[model] = {"sentences": found.sentences, "changed": found.changed}
            return "; ".join(told) or "nothing to compare", figures

        self._do("shadow", work, lambda: self._against(models))

    def _promote(self, models: Mapping[Kind, str], passed: bool, promotes: bool) -> tuple[str, ...]:
        def work() -> tuple[str, dict[str, Any]]:
            waiting = [model for kind, model in models.items() if self._registry.champion(kind).id != model]
            if not waiting:
                return f"{', '.join(models.values())} in force already", {"promoted": [*models.values()]}
            if back := self._rolled_back(models):
                told = f"no: {', '.join(back)} was rolled back; `tenor models promote {back[0]} --force --why REASON`"
                return f"{told} puts it in force again", {"promoted": []}
            if not passed:
                return "no: the model in force stays", {"promoted": []}
            if not promotes:
                commands = "; ".join(f"tenor models promote {model}" for model in waiting)
                return f"`{commands}` puts it in force", {"promoted": []}
            made = self._put_in_force(waiting)
            told = ", ".join(f"{one.model} replaces {one.previous}" for one in made)
            return f"{told}, for calls that begin now", {"promoted": [*models.values()]}

        return tuple(self._do("promote", work)["promoted"])

    def _rolled_back(self, models: Mapping[Kind, str]) -> list[str]:
        """Somebody took these out of force, whatever the gate says."""
        versions = [self._registry.version(model) for model in models.values()]
        return [one.id for one in versions if one.state == "rejected" and one.gate is not None and one.gate.passed]

    def _put_in_force(self, models: Sequence[str]) -> list[Promotion]:
        """All or none."""

        def loads(version: ModelVersion) -> None:
            check_model(version.kind, self._registry.path(version), self._settings.riva)

        why = f"tenor learn {self._name}: passed the gate"
        made = self._registry.promote_all(self._viewer, models, why, check=loads)
        with ThreadPoolExecutor(1) as apart:  # a notebook has an event loop of its own
            for one in made:
                apart.submit(asyncio.run, wake_workers(self._settings, one)).result()
        return made

    # -- how a step is done

    def _do(
        self,
        step: StepName,
        work: Work,
        inputs: Callable[[], Mapping[str, Any]] | None = None,
        still_there: Callable[[Mapping[str, Any]], bool] = lambda _: True,
    ) -> dict[str, Any]:
        """Do a step, unless it was done with the same inputs and what it made is still there. Its figures. Without
        inputs it is done always: it looks for itself what has changed."""
        began = time.monotonic()
        known = self._records.unchanged(step, hash_of(inputs())) if inputs else None
        if known is not None and still_there(known.figures):
            report = StepReport(step=step, text=known.text, skipped=True, figures=known.figures)
        else:
            text, figures = work()
            report = StepReport(step=step, text=text, seconds=round(time.monotonic() - began, 1), figures=figures)
            self._records.write(report, hash_of(inputs()) if inputs else "")
        self._steps.append(report)
        self._told(report)
        return report.figures

    def _root(self, kind: str = "") -> str:
        return root_hash(part for part in newest(self._place).parts if kind in ("", part.kind))

    def _against(self, models: Mapping[Kind, str]) -> dict[str, Any]:
        """Which models are compared. One that is in force by now was compared with the one before it."""
        champions = {kind: self._registry.champion(kind) for kind in models}
        return {
            "models": models,
            "champions": {
                kind: one.gate.against if one.gate and models[kind] == one.id else one.id
                for kind, one in champions.items()
            },
        }


def _promotes(settings: Settings, promote: bool | None) -> bool:
    return settings.learn.promote == "auto" if promote is None else promote


def _number(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"
