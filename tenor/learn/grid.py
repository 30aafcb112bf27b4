"""Parameters tried out: one training for each combination of values, and which did best on validation.

The runs of one grid belong together (`Run.sweep`): the same grid again trains only what is not done, so that one that
was interrupted goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import msgspec
from sqlalchemy import select
from sqlmodel import col

from finetune.recipes.base import find_recipe, read_parameters
from storage.datasets.manifest import find
from storage.db.engine import Database
from storage.place import Place
from storage.registry.registry import Registry
from storage.runs import runs
from storage.tables import Run
from storage.viewer import Viewer
from tenor.errors import BadInput
from tenor.learn.candidates import validation_score
from tenor.learn.starting import starting_model
from tenor.learn.steps import hash_of
from tenor.learn.training import finetune
from tenor.settings import Settings

MOST: Final = 100
"""Trainings of one grid."""


@dataclass(frozen=True, slots=True)
class GridRun:
    """One training of a grid."""

    run: int
    model: str
    values: dict[str, str]
    """Of the grid's parameters."""
    score: float | None
    """The mean accuracy on validation; None where the recipe says nothing of it."""


@dataclass(frozen=True, slots=True)
class GridResult:
    sweep: str
    runs: list[GridRun]

    @property
    def best(self) -> GridRun | None:
        scored = [one for one in self.runs if one.score is not None]
        return max(scored, key=lambda one: one.score or 0.0, default=None)


def combinations(grid: Sequence[str]) -> list[dict[str, str]]:
    """`epochs=5,10` and `rate=0.1,0.2` are four trainings."""
    axes: dict[str, list[str]] = {}
    for one in grid:
        name, equals, rest = one.partition("=")
        tried = [value.strip() for value in rest.split(",") if value.strip()]
        if not equals or not tried:
            raise BadInput(f"{one!r} is not NAME=VALUE,VALUE")
        axes[name.strip()] = list(dict.fromkeys(tried))
    found = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
    if len(found) > MOST:
        raise BadInput(f"that would be {len(found)} trainings", f"a grid has at most {MOST}; leave values out")
    return found


def finetune_grid(
    settings: Settings,
    database: Database,
    viewer: Viewer,
    dataset: str,
    grid: Sequence[str],
    *,
    recipe: str = "head",
    preset: str = "",
    values: Sequence[str] = (),
    **rest: Any,
) -> GridResult:
    """Train `recipe` once per combination of the grid's values. `rest` as of `finetune`."""
    found = find_recipe(recipe)
    tried = [(one, [*values, *(f"{name}={value}" for name, value in one.items())]) for one in combinations(grid)]
    for _, given in tried:  # what is misspelt is told before anything is trained
        read_parameters(found, preset, given)
    version = find(Place(settings.learn_url), dataset)
    parent = starting_model(settings, Registry(database, settings.models_folder), found, list(values)).id
    about = {"dataset": version.hash, "recipe": recipe, "preset": preset, "grid": [*grid], "values": [*values]}
    sweep = f"grid-{hash_of({**about, 'parent': parent})[:12]}"
    made = []
    for one, given in tried:
        earlier = _earlier(database, sweep, one, read_parameters(found, preset, given))
        if earlier is None or earlier.state != "done":
            trained = finetune(
                settings, database, viewer, version.reference, recipe=recipe, preset=preset, values=given,
                resume=(earlier.id or 0) if earlier else 0, sweep=sweep, **rest,
            )  # fmt: skip
            number = trained.run
        else:
            number = earlier.id or 0
        with database.session() as session:
            view = runs.find(session, number)
        made.append(GridRun(number, view.run.model, one, validation_score(view)))
    return GridResult(sweep, made)


def _earlier(database: Database, sweep: str, values: dict[str, str], parameters: Any) -> Run | None:
    """The newest run of this grid with these values that did not fail."""
    wanted = {name: msgspec.to_builtins(getattr(parameters, name)) for name in values}
    with database.session() as session:
        found = session.scalars(select(Run).where(col(Run.sweep) == sweep).order_by(col(Run.id).desc())).all()
    return next(
        (
            run
            for run in found
            if run.state != "failed" and all(run.parameters.get(name) == value for name, value in wanted.items())
        ),
        None,
    )
