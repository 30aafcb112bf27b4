"""Models that a version of a dataset can give: a run per recipe, and of each kind the best on validation.

The runs of one dataset, with the same recipes and parameters, from the same models, belong together (`Run.sweep`): by
that a loop that was killed finds them again, goes on with the one that was cut short and registers none twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import fields
from sqlalchemy import select
from sqlmodel import Session, col

from finetune.recipes.base import find_recipe, kind_of_recipe, read_parameters
from storage.datasets.manifest import DatasetVersion
from storage.db.engine import Database
from storage.registry.registry import Registry
from storage.runs import runs
from storage.tables import Run
from storage.viewer import Viewer
from tenor.learn.intent_examples import examples_hash
from tenor.learn.starting import starting_model
from tenor.learn.steps import hash_of
from tenor.learn.training import finetune, kept_parameters
from tenor.model_store.card import Kind
from tenor.settings import Settings

VALIDATION, SCORE = "val ", "accuracy"
"""How the curves are called by which recipes are compared."""


@dataclass(frozen=True, slots=True)
class BestModels:
    models: dict[Kind, str]
    runs: list[int]
    text: str


class Candidates:
    def __init__(
        self,
        settings: Settings,
        database: Database,
        registry: Registry,
        viewer: Viewer,
        version: DatasetVersion,
        name: str,
        recipes: Sequence[str],
        values: Sequence[str],
    ) -> None:
        self._settings, self._database, self._registry, self._viewer = settings, database, registry, viewer
        self._version, self._name = version, name
        self._recipes = {recipe: find_recipe(recipe) for recipe in recipes}
        self._values = values_by_recipe(recipes, values)
        about = {
            "dataset": version.hash,
            "recipes": [*recipes],
            "values": [*values],
            "name": name,
            **examples_hash(settings),
        }
        self._sweep = f"learn-{hash_of(about)[:12]}"

    def inputs(self) -> dict[str, Any]:
        return {"sweep": self._sweep, "parents": {recipe: self._parent(recipe) for recipe in sorted(self._recipes)}}

    def train(self, progress: Callable[[int, int], None]) -> BestModels:
        """What is trained already is not trained again."""
        made: dict[Kind, list[tuple[float, int, str]]] = {}
        told = []
        for recipe, found in self._recipes.items():
            number, model = self._trained(recipe, progress)
            with self._database.session() as session:
                view = runs.find(session, number)
            score = validation_score(view) or 0.0
            made.setdefault(kind_of_recipe(found), []).append((score, number, model))
            told.append(f"run {number} {recipe} {int(view.seconds // 60):02}:{int(view.seconds % 60):02}")
        best = {kind: max(tried, key=lambda one: one[0]) for kind, tried in made.items()}
        text = "  ".join(told)
        if len(self._recipes) > len(best):
            text += f"  best on val: {', '.join(f'run {number}' for _, number, _ in best.values())}"
        text += f"  {', '.join(model for _, _, model in best.values())}"
        numbers = sorted(number for tried in made.values() for _, number, _ in tried)
        return BestModels({kind: model for kind, (_, _, model) in best.items()}, numbers, text)

    def _trained(self, recipe: str, progress: Callable[[int, int], None]) -> tuple[int, str]:
        """The run and its model: one that is there, one that goes on, or a new one."""
        earlier = self._earlier(recipe)
        if earlier is not None and earlier.id is not None:
            known = {one.row.run: one.id for one in self._registry.versions() if one.row is not None}
            if model := known.get(str(earlier.id)):
                runs.set_model(self._database, earlier.id, model)
                return earlier.id, model
        trained = finetune(
            self._settings, self._database, self._viewer, self._version.reference, recipe=recipe,
            values=self._values[recipe], name=self._name, resume=(earlier.id or 0) if earlier else 0,
            sweep=self._sweep, progress=progress,
        )  # fmt: skip
        return trained.run, trained.model

    def _earlier(self, recipe: str) -> Run | None:
        """The newest run of this recipe for the same purpose that did not fail."""
        parent = self._parent(recipe)
        wanted = select(Run).where(col(Run.sweep) == self._sweep, col(Run.recipe) == recipe)
        with self._database.session() as session:
            found = session.scalars(wanted.order_by(col(Run.id).desc())).all()
        return next(
            (
                run
                for run in found
                if run.state != "failed"
                and run.parent == parent
                and kept_parameters(run, self._recipes[recipe]) is not None
            ),
            None,
        )

    def _parent(self, recipe: str) -> str:
        """What training starts from, as runs say it; if that came of these runs, what they started from."""
        found = self._recipes[recipe]
        champion = self._registry.champion(kind_of_recipe(found))
        with self._database.session() as session:
            run = _run_of(session, champion.row.run if champion.row else "")
        if run is not None and run.sweep == self._sweep:
            return run.parent
        return starting_model(self._settings, self._registry, found, self._values[recipe]).id


def values_by_recipe(recipes: Sequence[str], values: Sequence[str]) -> dict[str, list[str]]:
    """Which of `values` are whose: NAME=VALUE is every recipe's that has such a parameter, RECIPE.NAME=VALUE that
    recipe's. BadInput for one that no recipe knows."""
    found = {recipe: find_recipe(recipe) for recipe in recipes}
    names = {recipe: {field.name for field in fields(one.parameters)} for recipe, one in found.items()}
    own: dict[str, list[str]] = {recipe: [] for recipe in recipes}
    for value in values:
        name = value.partition("=")[0].strip()
        before, dot, rest = value.partition(".")
        if dot and before.strip() in own:
            own[before.strip()].append(rest)
            continue
        for recipe in [one for one in recipes if name in names[one]] or recipes[:1]:
            own[recipe].append(value)
    for recipe, given in own.items():
        read_parameters(found[recipe], "", given)
    return own


def _run_of(session: Session, number: str) -> Run | None:
    return session.get(Run, int(number)) if number.isdigit() else None


def validation_score(view: runs.RunView) -> float | None:
    """The mean of what the run reached on validation; None where it says nothing of it."""
    found = [value for name, value in view.last.items() if name.startswith(VALIDATION) and name.endswith(SCORE)]
    return sum(found) / len(found) if found else None
