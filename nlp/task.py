"""What a whole call was about, from what its sentences want."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from nlp.taxonomy import UNKNOWN

WEIGHTS = {"caller": 1.0, "agent": 0.5}
"""The caller says what is wanted; what the agent does about it is a second opinion."""
LEAST = 0.5
"""Evidence under which a call is about nothing we know."""


def task_of(sentences: Iterable[tuple[str, Mapping[str, float]]], tasks: Set[str]) -> tuple[str, float]:
    """The call's task and its share of the evidence. Of each sentence: who said it, and its intents' probabilities."""
    evidence = dict.fromkeys(sorted(tasks), 0.0)
    for role, scores in sentences:
        for name in evidence:
            # Squared, since many sentences that are a little like something must not outvote one that says it.
            evidence[name] += WEIGHTS.get(role, 1.0) * scores.get(name, 0.0) ** 2
    best = max(evidence, key=evidence.__getitem__, default=UNKNOWN)
    if not evidence or evidence[best] < LEAST:
        return UNKNOWN, 0.0
    return best, evidence[best] / sum(evidence.values())
