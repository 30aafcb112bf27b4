"""What the gate said, kept with a model and told in one line."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from finetune.gate import PairVerdict, Verdict
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


def kept_pair(
    speech: ModelVersion, language: ModelVersion, champions: Sequence[ModelVersion], dataset: str
) -> PairVerdict | None:
    """What was said of both together, against these champions, with the hold-out of `dataset`."""
    if any(kept_verdict(*pair, dataset) is None for pair in zip((speech, language), champions, strict=True)):
        return None
    own, other = (one.gate.figures if one.gate is not None else {} for one in (speech, language))
    if (own.get("with"), other.get("with")) != (language.id, speech.id):
        return None
    try:
        return msgspec.convert({"speech": own, "language": other, "together": own["together"]}, PairVerdict)
    except msgspec.ValidationError:  # of an older version
        return None


def pair_summary(verdict: PairVerdict) -> str:
    """Each alone, then what they are together and which of them earned it."""
    told = [summary(verdict.speech), summary(verdict.language)]
    told += [f"{check.name} {check.text}" for check in verdict.together if check.name in ("both", "earned by")]
    return "; ".join([*told, "both" if verdict.passed else "neither"])


def summary(verdict: Verdict) -> str:
    """The figures that a gain was wanted in, then what keeps the candidate from passing, or else what it costs."""
    gains = [f"{check.name} {check.text}" for check in verdict.checks if check.must_gain]
    wrong = [f"{check.name} {check.outcome}" for check in verdict.checks if check.outcome in ("failed", "unsure")]
    cost = [check.text for check in verdict.checks if check.name.endswith("cost")][:1]
    told = [verdict.decision, *gains, *([] if verdict.passed else wrong), *cost]
    if verdict.missing:
        told.append(f"about {verdict.missing:,} more random labels would tell")
    return f"{verdict.candidate}: " + ", ".join(told)
