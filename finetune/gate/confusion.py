"""Confusion matrices of both models against people, and precision, recall and F1 of each label with intervals.

An interval is that of one model on its own (95 %, whole calls drawn). Whether one model is better than the other is not
told here, but by the paired difference of the checks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from finetune.gate.evidence import Evidence
from finetune.gate.verdict import Check, Confusion
from nlp.evaluation.agreement import ConfusionCounts, Estimate, Matrices

MOST_LABELS = 6
"""With more labels a matrix is no text that people read: the mistakes that are made most often are told instead."""
SHOWN_MISTAKES = 8


def confusion_of(evidence: Evidence) -> Confusion:
    champion, candidate = (_counts(evidence, model).matrix for model in ("champion", "candidate"))
    return Confusion(
        kind=evidence.kind, labels=evidence.labels, champion=_whole(champion), candidate=_whole(candidate)
    )  # fmt: skip


def figures(evidence: Evidence) -> Check:
    """Told, not judged: how good each model is by itself, and which mistakes it makes."""
    counts = [_counts(evidence, model) for model in ("champion", "candidate")]
    before, after = (one.estimates() for one in counts)
    text = f"accuracy {_share(before['accuracy'])}, now {_share(after['accuracy'])}"
    kappas = [_kappa(one.matrix) for one in counts]
    if all(map(math.isfinite, kappas)):
        text += f"; kappa with people {kappas[0]:.2f}, now {kappas[1]:.2f}"
        if evidence.people_kappa is not None:
            text += f"; people with each other {evidence.people_kappa:.2f}"
    wanted = {label: int(row.sum()) for label, row in zip(evidence.labels, counts[0].matrix, strict=True)}
    details = (
        _tables(evidence, before, after, wanted)
        if len(evidence.labels) <= MOST_LABELS
        else _mistakes(evidence.labels, counts)
    )
    return Check(name="figures", outcome="told", text=text, details=tuple(details))


def _counts(evidence: Evidence, model: str) -> ConfusionCounts:
    by_call: dict[str, list[tuple[str, str]]] = {}
    for one in evidence.sentences:
        by_call.setdefault(one.call, []).append((one.human, getattr(one, model)))
    worth = {label: evidence.worth.get(label, 0.0) for label in evidence.labels}
    return ConfusionCounts.of(evidence.labels, worth, by_call)


def _whole(matrix: Matrices) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(count) for count in row) for row in matrix)


def _kappa(matrix: Matrices) -> float:
    """Cohen's, of a model with people."""
    total = matrix.sum()
    agreed = float(np.trace(matrix) / total)
    chance = float((matrix.sum(axis=0) * matrix.sum(axis=1)).sum() / total**2)
    return (agreed - chance) / (1 - chance) if chance < 1 else math.nan


def _tables(
    evidence: Evidence, before: dict[str, Estimate], after: dict[str, Estimate], wanted: dict[str, int]
) -> list[str]:  # fmt: skip
    lines = [f"{'':10}{'precision':>22}{'recall':>22}{'F1':>22}{'people':>8}"]
    for model, own in ((evidence.champion, before), (evidence.candidate, after)):
        lines.append(model)
        for label, count in wanted.items():
            cells = "".join(f"{_share(own[f'{name} {label}']):>22}" for name in ("precision", "recall", "F1"))
            lines.append(f"{label:10}{cells}{count:8,}")
    made = confusion_of(evidence)
    width = max(9, *map(len, evidence.labels)) + 1
    head = "".join(f"{label:>{width}}" for label in evidence.labels)
    lines += [f"rows: people, columns: {evidence.champion}, then {evidence.candidate}", f"{'':10}{head}   {head}"]
    for label, one, other in zip(made.labels, made.champion, made.candidate, strict=True):
        lines.append(f"{label:10}{_row(one, width)}   {_row(other, width)}")
    return lines


def _mistakes(labels: Sequence[str], counts: Sequence[ConfusionCounts]) -> list[str]:
    """Those that the candidate makes most often, and how often the champion makes them."""
    before, after = (one.matrix for one in counts)
    wrong = [(int(after[w, g]), w, g) for w in range(len(labels)) for g in range(len(labels)) if w != g]
    most = sorted((one for one in wrong if one[0]), key=lambda one: (-one[0], one[1], one[2]))[:SHOWN_MISTAKES]
    return [f"{labels[w]} taken for {labels[g]}: {int(before[w, g])}, now {count}" for count, w, g in most]


def _row(counts: Sequence[int], width: int) -> str:
    return "".join(f"{count:>{width},}" for count in counts)


def _share(estimate: Estimate) -> str:
    if not math.isfinite(estimate.value):
        return "-"
    value = f"{100 * estimate.value:.1f}"
    known = math.isfinite(estimate.low)
    return f"{value} ({100 * estimate.low:.1f} to {100 * estimate.high:.1f})" if known else f"{value} %"
