"""How far two judgements of the same sentences agree: confusion matrix, precision, recall, F1, and how sure that is.

Sentences of one call resemble each other, so the confidence intervals come from drawing whole calls (bootstrap).
A call is its confusion matrix; a draw is a sum of matrices; every metric is a function of a matrix, so thousands of
draws are one multiplication.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

Matrices = NDArray[np.float64]
"""Confusion matrices (..., wanted, got)."""
DRAWS = 2000
FEWEST_CALLS = 5
"""Fewer say nothing about how calls differ; then there are no intervals."""
WORSE_F1, WORSE_RECALL = -0.01, -0.03
"""How much macro-F1 and the recall of what is not neutral may certainly not have lost, for a model to be called better:
one that says neutral to everything has a small mean difference, and is stopped here."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A metric and where it lies with 95 % confidence; what cannot be computed is not a number."""

    value: float
    low: float
    high: float

    def share(self) -> str:
        """As people read it: 83.1 % (80.2 to 85.9)."""
        value, low, high = (f"{100 * value:.1f}" for value in (self.value, self.low, self.high))
        return with_interval(f"{value} %", low, high)

    def plain(self) -> dict[str, float | None]:
        """JSON has no word for what is not a number."""
        return {name: value if math.isfinite(value) else None for name, value in asdict(self).items()}


def with_interval(value: str, low: str, high: str) -> str:
    if "nan" in value:
        return "-"
    return value if "nan" in low else f"{value} ({low} to {high})"


@dataclass(frozen=True)
class ConfusionCounts:
    """Judgements of sentences, by call: `counts[call, wanted, got]`."""

    labels: tuple[str, ...]
    worth: tuple[float, ...]
    """What each label stands for on the scale from -1 to 1."""
    counts: Matrices

    @classmethod
    def of(
        cls, labels: Sequence[str], worth: Mapping[str, float], judged: Mapping[str, Sequence[tuple[str, str]]]
    ) -> ConfusionCounts:
        """From every call's sentences: the label wanted and the one got."""
        number = {label: at for at, label in enumerate(labels)}
        counts = np.zeros((len(judged), len(labels), len(labels)))
        for at, pairs in enumerate(judged.values()):
            for wanted, got in pairs:
                counts[at, number[wanted], number[got]] += 1
        return cls(tuple(labels), tuple(worth[label] for label in labels), counts)

    @property
    def matrix(self) -> Matrices:
        return np.asarray(self.counts.sum(axis=0))

    def estimates(self, seed: int = 0) -> dict[str, Estimate]:
        values = self._measure(self.matrix)
        drawn = self._measure(self._draws(seed))
        return {name: self._estimate(float(values[name]), drawn[name]) for name in values}

    def beside(self, other: ConfusionCounts, seed: int = 0) -> dict[str, Estimate]:
        """This one's estimates less the other's, both on the same draws of the same calls."""
        ours, theirs = self._measure(self.matrix), other._measure(other.matrix)
        drawn, others = self._measure(self._draws(seed)), other._measure(other._draws(seed))
        return {
            name: self._estimate(float(ours[name] - theirs[name]), drawn[name] - others[name])
            for name in ours
            if name in theirs  # labels may differ
        }

    @property
    def neutral(self) -> frozenset[str]:
        """Labels that are worth nothing."""
        return frozenset(label for label, worth in zip(self.labels, self.worth, strict=True) if not worth)

    def _draws(self, seed: int) -> Matrices:
        calls = len(self.counts)
        chosen = np.random.default_rng(seed).multinomial(calls, np.full(calls, 1 / calls), size=DRAWS)
        return (chosen @ self.counts.reshape(calls, -1)).reshape(DRAWS, *self.counts.shape[1:])

    def _measure(self, matrices: Matrices) -> dict[str, NDArray[np.float64]]:
        """Every metric of each matrix; what cannot be computed is not a number."""
        total = matrices.sum(axis=(-2, -1))
        wanted, got = matrices.sum(axis=-1), matrices.sum(axis=-2)
        right = np.diagonal(matrices, axis1=-2, axis2=-1)
        worth = np.array(self.worth)
        apart = worth[None, :] - worth[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            precision, recall = right / got, right / wanted
            f1 = 2 * right / (wanted + got)
            loud = [at for at, label in enumerate(self.labels) if label not in self.neutral]
            found = {
                "mean difference": (matrices * np.abs(apart)).sum(axis=(-2, -1)) / total,
                "mean shift": (matrices * apart).sum(axis=(-2, -1)) / total,
                "accuracy": right.sum(axis=-1) / total,
                "macro-F1": np.nanmean(f1, axis=-1),
                "non-neutral recall": right[..., loud].sum(axis=-1) / wanted[..., loud].sum(axis=-1),
                "non-neutral precision": right[..., loud].sum(axis=-1) / got[..., loud].sum(axis=-1),
            }
            for at, label in enumerate(self.labels):
                found[f"precision {label}"] = precision[..., at]
                found[f"recall {label}"] = recall[..., at]
                found[f"F1 {label}"] = f1[..., at]
        return found

    def _estimate(self, value: float, drawn: NDArray[np.float64]) -> Estimate:
        finite = drawn[np.isfinite(drawn)]
        enough = len(self.counts) >= FEWEST_CALLS and len(finite)
        low, high = np.percentile(finite, [2.5, 97.5]) if enough else (np.nan, np.nan)
        return Estimate(value, float(low), float(high))
