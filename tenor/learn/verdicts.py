"""What the gate said, kept with a model and told in one line."""

from __future__ import annotations

import msgspec

from finetune.gate import Verdict
from storage.registry.registry import ModelVersion


def kept_verdict(candidate: ModelVersion, champion: ModelVersion, dataset: str) -> Verdict | None:
    """What was said of the candidate against this champion (or of a model that is in force by now, against the one
    before it) with the hold-out of `dataset`."""
    gate = candidate.gate
    if gate is None or gate.figures.get("dataset") != dataset:
        return None
    if champion.id not in (gate.against, candidate.id):
        return None
    try:
        return msgspec.convert(gate.figures, Verdict)
    except msgspec.ValidationError:  # of an older version
        return None


def summary(verdict: Verdict) -> str:
    """The figures that a gain was wanted in, then what keeps the candidate from passing, or else what it costs."""
    gains = [f"{check.name} {check.text}" for check in verdict.checks if check.must_gain]
    wrong = [f"{check.name} {check.outcome}" for check in verdict.checks if check.outcome in ("failed", "unsure")]
    cost = [check.text for check in verdict.checks if check.name.endswith("cost")][:1]
    told = [verdict.decision, *gains, *([] if verdict.passed else wrong), *cost]
    if verdict.missing:
        told.append(f"about {verdict.missing:,} more random labels would tell")
    return f"{verdict.candidate}: " + ", ".join(told)
