"""Where a model comes from and what it did: from the labels that it learned to the sentences that it told.

Runs, datasets and snapshots are named by the model's card.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Select, String, cast, func, select
from sqlmodel import col

from storage.datasets.manifest import listing
from storage.datasets.versions import rows_of
from storage.place import Place
from storage.registry.registry import ModelVersion, Registry
from storage.tables import Gate, Label, Run, Sentence, Shadow
from tenor.model_store.promotion_log import Promotion

DAYS = 7
"""Sentences are counted so far back."""
LATER = float("inf")
LONGEST = 50
"""Ancestors of a model: more would be a circle."""


@dataclass(frozen=True, slots=True)
class ModelOrigin:
    """What a version was made of, and what it did."""

    version: ModelVersion
    parent: str
    run: str
    trained: Run | None
    """That run, where it is known here."""
    dataset: str
    snapshot: str
    gates: tuple[Gate, ...]
    shadows: tuple[Shadow, ...]
    """The oldest first."""
    promotions: tuple[Promotion, ...]
    told_today: int
    """Sentences that began since midnight of the reader,"""
    told_week: int
    """and in the last days."""


class LineageStep(msgspec.Struct, frozen=True):
    what: str
    text: str
    depth: int = 0
    """How far from the model that was asked for."""
    name: str = ""
    """Id of what it is, for scripts."""


def of_model(registry: Registry, version: ModelVersion) -> list[LineageStep]:
    """The model, what it was made of, who judged and promoted it, what it says today; then its parent, and so on."""
    steps: list[LineageStep] = []
    known = {one.id: one for one in registry.versions()}
    depth = 0
    here: ModelVersion | None = version
    while here is not None and depth < LONGEST:
        steps += _steps(registry, here, depth)
        parent = here.row.parent if here.row is not None else ""
        here, depth = known.get(parent), depth + 1
    return steps


def of_author(registry: Registry, author: str, place: Place) -> list[LineageStep]:
    """What one labeller touched: sentences, the versions of datasets that have them, the models made of these, and what
    those tell. `place`: where the datasets are."""
    with registry.database.session() as session:
        rows = session.execute(
            select(col(Label.kind), col(Label.sentence), col(Label.turn), col(Label.at)).where(
                col(Label.author) == author
            )
        ).all()
    steps = [
        _labelled(kind, [row.at for row in rows if row.kind == kind]) for kind in sorted({row.kind for row in rows})
    ]
    if not steps:
        return [LineageStep("labels", f"none by {author}", 0)]
    items: dict[str, float] = {}
    for row in rows:
        one = row.sentence or row.turn
        items[one] = min(row.at, items.get(one, row.at))
    steps.append(
        LineageStep("sentences", f"{len(items)}; `tenor labels list --author {author}` lists them with their labels", 0)
    )
    versions = registry.versions()
    for dataset in listing(place):
        touched = Counter(
            row["split"]
            for row in rows_of(place, dataset).to_pylist()
            if items.get(row["id"], LATER) <= dataset.made_at
        )
        if not touched:
            continue
        splits = ", ".join(f"{split} {count}" for split, count in sorted(touched.items()))
        told = f"{dataset.reference}, {sum(touched.values())} of {sum(dataset.counts.values())} rows: {splits}"
        steps.append(LineageStep("dataset", told, 1, dataset.reference))
        for version in versions:
            if version.row is not None and version.row.dataset == dataset.reference:
                week = origin_of(registry, version).told_week
                says = f", told {week} sentences in {DAYS} days" if week else ""
                steps.append(LineageStep("model", f"{version.id}, {version.state}{says}", 2, version.id))
    return steps


def _labelled(kind: str, times: Sequence[float]) -> LineageStep:
    return LineageStep("labels", f"{len(times)} of {kind}, {_day(min(times))} to {_day(max(times))}", 0, kind)


def origin_of(registry: Registry, version: ModelVersion, midnight: float | None = None) -> ModelOrigin:
    """`midnight`: when today began for whoever asks."""
    row, now = version.row, time.time()
    today = now - 86_400 if midnight is None else midnight
    with registry.database.session() as session:
        run = session.get(Run, int(row.run)) if row is not None and row.run.isdigit() else None
        gates = tuple(session.scalars(select(Gate).where(col(Gate.model) == version.id).order_by(col(Gate.at))))
        shadows = session.scalars(select(Shadow).where(col(Shadow.model) == version.id).order_by(col(Shadow.at)))
        return ModelOrigin(
            version=version,
            parent=row.parent if row is not None else "",
            run=row.run if row is not None else "",
            trained=run,
            dataset=(row.dataset if row is not None else "") or (run.dataset if run is not None else ""),
            snapshot=row.snapshot if row is not None else "",
            gates=gates,
            shadows=tuple(shadows),
            promotions=tuple(one for one in registry.log().of(version.kind) if one.model == version.id),
            told_today=session.execute(_sentences(version, today)).scalar_one(),
            told_week=session.execute(_sentences(version, now - DAYS * 86_400)).scalar_one(),
        )


def _steps(registry: Registry, version: ModelVersion, depth: int) -> Iterator[LineageStep]:
    yield LineageStep("model", f"{version.id}, {version.kind}, {version.state}", depth, version.id)
    origin = origin_of(registry, version)
    if origin.run:
        run = origin.trained
        about = f", {run.recipe}, {run.state}, by {run.by}" if run is not None else ""
        yield LineageStep("run", f"{origin.run}{about}", depth + 1, origin.run)
    for what, name in (("dataset", origin.dataset), ("snapshot", origin.snapshot)):
        if name:
            yield LineageStep(what, name, depth + 1, name)
    for gate in origin.gates:
        yield LineageStep(
            "gate", f"{_day(gate.at)} {'passed' if gate.passed else 'not passed'}: {gate.verdict}", depth + 1
        )
    for shadow in origin.shadows:
        share = 100 * shadow.changed / shadow.sentences if shadow.sentences else 0.0
        text = f"{_day(shadow.at)} would change {share:.1f} % of {shadow.sentences} sentences of {shadow.against}"
        yield LineageStep("shadow", text, depth + 1)
    for one in origin.promotions:
        yield LineageStep("promoted", f"{_day(one.at)} by {one.by}: {one.why}".rstrip(": "), depth + 1)
    if version.kind == "language":
        yield LineageStep("sentences", f"{origin.told_week} told in the last {DAYS} days", depth + 1)


def _sentences(version: ModelVersion, since: float) -> Select[Any]:
    """How many it told since then; a sentence names its models with their hash."""
    models = cast(col(Sentence.models), String)
    name = f'"{version.id}@{version.sha256[:8]}' if version.sha256 else f'"{version.id}"'
    found = select(func.count()).where(col(Sentence.spoken_at) > since)
    return found.where(models.contains(name, autoescape=True))


def _day(at: float) -> str:
    return f"{datetime.fromtimestamp(at):%Y-%m-%d %H:%M}"
