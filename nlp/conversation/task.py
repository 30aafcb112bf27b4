"""What a whole call was about, from the intents of its sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from tenor.taxonomy.intents import UNKNOWN

WEIGHTS = {"caller": 1.0, "agent": 0.5}
"""The caller says what is wanted; what the agent does about it is a second opinion."""
LEAST = 0.25
"""Evidence under which a call is about nothing we know: less than that of one sentence that is likelier than not."""
GENERAL = frozenset({"complaint"})
"""Tasks that accompany others: a call is about them only when there is nothing more particular to be about."""


class TaskEvidence:
    """For each task a call can be about, what its sentences say for it."""

    def __init__(self, tasks: Set[str]) -> None:
        self._for = dict.fromkeys(sorted(tasks), 0.0)

    @property
    def tasks(self) -> Set[str]:
        return self._for.keys()

    def consider(self, tasks: Set[str]) -> None:
        """From now on these, too."""
        if not tasks <= self._for.keys():
            self._for = {name: self._for.get(name, 0.0) for name in sorted(self._for.keys() | tasks)}

    def add(self, role: str, scores: Mapping[str, float], times: int = 1) -> None:
        """A sentence: who said it, and its intents' probabilities. `times` -1 takes it back."""
        for name in self._for:
            # Squared, since many sentences that are a little like something must not outvote one that says it.
            self._for[name] += times * WEIGHTS.get(role, 1.0) * scores.get(name, 0.0) ** 2

    def best(self) -> tuple[str, float]:
        """The call's task and its share of the evidence."""
        enough = [task for task, evidence in self._for.items() if evidence >= LEAST]
        task = max(enough, key=lambda name: (name not in GENERAL, self._for[name]), default=None)
        if task is None:
            return UNKNOWN, 0.0
        return task, self._for[task] / sum(self._for.values())


def task_of(sentences: Iterable[tuple[str, Mapping[str, float]]], tasks: Set[str]) -> tuple[str, float]:
    """The task of a call that is over, and its share of the evidence."""
    evidence = TaskEvidence(tasks)
    for role, scores in sentences:
        evidence.add(role, scores)
    return evidence.best()
