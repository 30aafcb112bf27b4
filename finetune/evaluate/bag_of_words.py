"""The baseline that a language model must beat: which words and pairs of words a label's sentences have."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from math import log

from finetune.corpus.examples import plain

SMOOTHING = 0.3
"""Added to every count, so that a word never seen with a label does not rule it out."""


class BagOfWords:
    """Naive Bayes on words and pairs of neighbours."""

    def __init__(self, texts: Sequence[str], labels: Sequence[str]) -> None:
        self._counts: dict[str, Counter[str]] = defaultdict(Counter)
        for text, label in zip(texts, labels, strict=True):
            self._counts[label].update(_terms(text))
        shares = Counter(labels)
        self._prior = {label: log(shares[label] / len(labels)) for label in self._counts}
        terms = len(set().union(*self._counts.values()))
        self._total = {label: counts.total() + SMOOTHING * terms for label, counts in self._counts.items()}

    def answer(self, texts: Sequence[str]) -> list[str]:
        return [max(self._prior, key=lambda label: self._score(text, label)) for text in texts]

    def _score(self, text: str, label: str) -> float:
        counts, total = self._counts[label], self._total[label]
        return self._prior[label] + sum(log((counts[term] + SMOOTHING) / total) for term in _terms(text))


def _terms(text: str) -> list[str]:
    words = plain(text).split()
    return [*words, *(f"{one} {other}" for one, other in pairwise(words))]
