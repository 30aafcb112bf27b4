"""Where a model comes from and what it did, as a row of nodes that each lead somewhere:

labels -> snapshot -> dataset -> run -> gate -> promotion -> sentences
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from dashboard.ui import formatting, navigation
from storage.datasets.manifest import DatasetVersion
from storage.registry.lineage import ModelOrigin


@dataclass(frozen=True, slots=True)
class LineageNode:
    what: str
    title: str
    about: str
    link: str
    """Empty: there is nothing to go to."""


def nodes(origin: ModelOrigin, dataset: DatasetVersion | None) -> list[LineageNode]:
    """From the labels to the sentences. `dataset`: what it learned from, if it is still there."""
    version = origin.version
    here = navigation.address("models", model=version.id)
    if version.ships:
        made = [LineageNode("model", version.id, "ships with Tenor", here)]
    else:
        made = [*_material(origin, dataset), *_run(origin)]
        if origin.parent:
            made.insert(0, _node("parent", origin.parent, "what it started from", "models", model=origin.parent))
    gate = version.gate
    if gate is not None:
        outcome = "passed" if gate.passed else "not passed"
        made.append(
            LineageNode("gate", outcome, f"against {gate.against}, {formatting.moment(gate.at)}", f"{here}#gate")
        )
    elif not version.ships:
        made.append(LineageNode("gate", "not asked yet", f"tenor models gate {version.id}", ""))
    if origin.promotions:
        last = origin.promotions[-1]
        about = f"by {last.by}, {formatting.moment(last.at)}"
        made.append(LineageNode("promoted", version.state, about, f"{here}#promotions"))
    elif not version.ships:
        made.append(LineageNode("promoted", version.state, "never in force", ""))
    if version.kind == "language":
        today = f"{formatting.count(origin.told_today)} today"
        week = f"{formatting.count(origin.told_week)} in 7 days"
        search = navigation.address("search", model=version.id, when="7 days")
        made.append(LineageNode("sentences", today, week, search))
    return made


def _material(origin: ModelOrigin, dataset: DatasetVersion | None) -> list[LineageNode]:
    found = []
    if dataset is not None:
        labels = {kind: sum(counts.values()) for kind, counts in dataset.labels.items()}
        title = formatting.count(sum(labels.values()))
        found.append(_node("labels", title, ", ".join(labels) or "none", "review"))
    if origin.snapshot:
        about = dataset.reference if dataset is not None else ""
        params = {"dataset": dataset.name, "version": str(dataset.version)} if dataset is not None else {}
        found.append(_node("snapshot", origin.snapshot, f"taken for {about}" if about else "", "datasets", **params))
    if origin.dataset:
        name, _, number = origin.dataset.partition("@")
        about = f"{formatting.count(sum(dataset.counts.values()))} rows" if dataset is not None else "not here any more"
        params = {"dataset": name, "version": number} if number else {"dataset": name}
        found.append(_node("dataset", origin.dataset, about, "datasets", **params))
    return found


def _run(origin: ModelOrigin) -> list[LineageNode]:
    if not origin.run:
        return []
    about = f"{origin.trained.recipe}, by {origin.trained.by}" if origin.trained is not None else ""
    return [_node("run", f"run {origin.run}", about, "runs", runs=origin.run)]


def _node(what: str, title: str, about: str, page: str, **params: str) -> LineageNode:
    return LineageNode(what, title, about, navigation.address(page, **params))


def drawn(found: Sequence[LineageNode]) -> str:
    return f'<nav class="t-lineage" aria-label="Lineage">{"".join(map(_drawn, found))}</nav>'


def _drawn(node: LineageNode) -> str:
    inside = f"<i>{escape(node.what)}</i><b>{escape(node.title)}</b><small>{escape(node.about)}</small>"
    about = f'class="t-node" data-node="{escape(node.what, quote=True)}"'
    if not node.link:
        return f"<span {about}>{inside}</span>"
    return f'<a {about} href="{escape(node.link, quote=True)}" target="_self">{inside}</a>'
