"""Figures of merit, from answers and what would have been right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from finetune.corpus.examples import Span


def accuracy(right: Sequence[str], answered: Sequence[str]) -> float:
    return sum(r == a for r, a in zip(right, answered, strict=True)) / len(right)


def f1_by_label(right: Sequence[str], answered: Sequence[str]) -> dict[str, float]:
    """F1 of every label that should have been answered."""
    hits = Counter(r for r, a in zip(right, answered, strict=True) if r == a)
    wanted, given = Counter(right), Counter(answered)
    return {label: 2 * hits[label] / (wanted[label] + given[label]) for label in sorted(wanted)}


def macro_f1(right: Sequence[str], answered: Sequence[str]) -> float:
    scores = f1_by_label(right, answered)
    return sum(scores.values()) / len(scores)


def span_f1(right: Iterable[Sequence[Span]], found: Iterable[Sequence[Span]]) -> dict[str, float]:
    """F1 of each slot and of `all`: a value counts when its kind, its beginning and its end are right."""
    wanted: Counter[str] = Counter()
    given: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    for these, those in zip(right, found, strict=True):
        for spans, counter in ((these, wanted), (those, given), (set(these) & set(those), hits)):
            for span in spans:
                counter[span[2]] += 1
                counter["all"] += 1
    return {slot: 2 * hits[slot] / (wanted[slot] + given[slot]) for slot in sorted(wanted)}


def percentile(values: Sequence[float], share: float) -> float:
    """The value that `share` of them do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
