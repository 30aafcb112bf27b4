"""Which of two models is better on the same recognised text, and by whose word.

People's labels can say "better". Without them a model is only compared with itself, transcript against recognised text:
a model that says neutral to everything is perfect at that. So the comparison with itself is a guard that stops what is
worse and can say "not worse", nothing more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from nlp.evaluation.agreement import FEWEST_CALLS, WORSE_F1, WORSE_RECALL, ConfusionCounts, Estimate

Outcome = Literal["better", "worse", "not better", "not worse", "cannot tell"]
WORSE_OWN = 0.01
"""How much farther from itself a model may be on recognised text."""


@dataclass(frozen=True)
class Comparison:
    by: Literal["people", "itself"]
    outcome: Outcome
    text: str
    differences: dict[str, Estimate]
    """Of each figure: the model's less the baseline's."""


def compare(
    people: ConfusionCounts | None, people_baseline: ConfusionCounts | None, own: ConfusionCounts,
    own_baseline: ConfusionCounts,
) -> Comparison:  # fmt: skip
    """By people's labels where there are any."""
    if people is not None and people_baseline is not None:
        differences = people.beside(people_baseline)
        return Comparison("people", *_by_people(differences), differences)
    differences = own.beside(own_baseline)
    return Comparison("itself", *_by_itself(differences), differences)


def _by_people(differences: dict[str, Estimate]) -> tuple[Outcome, str]:
    mean = differences["mean difference"]
    if math.isnan(mean.low):
        return "cannot tell", _too_few()
    if mean.low > 0:
        return "worse", "by people's labels: worse than the baseline"
    for name, worst in (("non-neutral recall", WORSE_RECALL), ("macro-F1", WORSE_F1)):
        if differences[name].value < worst:
            points = f"{100 * differences[name].value:+.1f} points"
            return "not better", f"by people's labels: not better than the baseline, its {name} has lost: {points}"
    certain = all(
        math.isnan(differences[name].value) or differences[name].low > worst
        for name, worst in (("non-neutral recall", WORSE_RECALL), ("macro-F1", WORSE_F1))
    )
    if mean.high < 0 and certain:
        return "better", "by people's labels: better than the baseline"
    return "cannot tell", "by people's labels: no difference that is certain"


def _by_itself(differences: dict[str, Estimate]) -> tuple[Outcome, str]:
    mean = differences["mean difference"]
    if math.isnan(mean.low):
        return "cannot tell", _too_few()
    unlabelled = "nobody has said what these sentences are, so which model is better cannot be told"
    if mean.low > 0:
        return "worse", "recognition changes more of its answers than of the baseline's: worse"
    if mean.high <= WORSE_OWN:
        return (
            "not worse",
            f"recognition changes its answers no more often than the baseline's: not worse; {unlabelled}",
        )
    return "cannot tell", f"no difference that is certain; {unlabelled}"


def _too_few() -> str:
    return f"fewer than {FEWEST_CALLS} calls: whether that is certain cannot be told"
