"""How far two models differ on the same calls, and how sure that is.

Sentences of a call resemble each other, so whole calls are drawn, the same for both models. A call is a row of sums, a
draw is a sum of rows, and every figure is a function of such sums, so ten thousand draws are one multiplication.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
DRAWS = 10_000
CHUNK = 500
"""Draws at a time, so that ten thousand calls need no gigabytes."""
FEWEST_CALLS = 5
"""Fewer say nothing about how calls differ."""
POWER = 0.9
"""With how many labels more a difference like this one would be told this often."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure of the candidate less the champion's, and its one-sided bounds at a level."""

    value: float
    low: float
    high: float
    error: float
    """Standard error."""

    @property
    def known(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)


UNKNOWN = Difference(math.nan, math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class PairedCalls:
    """Sums of each call for both models: `rows[call, column]`, and figures as functions of the columns' totals."""

    rows: Array
    seed: int = 0

    @classmethod
    def of(cls, calls: Sequence[str], rows: Sequence[Sequence[float]] | Array, seed: int = 0) -> PairedCalls:
        """From a row for each sentence and the call it belongs to."""
        number = {call: at for at, call in enumerate(dict.fromkeys(calls))}
        sums = np.zeros((len(number), len(rows[0]) if len(rows) else 0))
        np.add.at(sums, [number[call] for call in calls], np.asarray(rows, float))
        return cls(sums, seed)

    def difference(self, figure: Callable[[Array], Array], level: float) -> Difference:
        """`figure`: of totals (..., columns), the candidate's less the champion's. Each bound is one-sided."""
        if not len(self.rows):
            return UNKNOWN
        value = float(figure(self.rows.sum(axis=0)))
        if len(self.rows) < FEWEST_CALLS or not math.isfinite(value):
            return Difference(value, math.nan, math.nan, math.nan)
        drawn = np.concatenate([figure(totals) for totals in self._draws()])
        drawn = drawn[np.isfinite(drawn)]
        low, high = np.quantile(drawn, [level, 1 - level]) if len(drawn) else (math.nan, math.nan)
        return Difference(value, float(low), float(high), float(drawn.std()) if len(drawn) else math.nan)

    def _draws(self) -> Iterable[Array]:
        calls = len(self.rows)
        random = np.random.default_rng(self.seed)
        even = np.full(calls, 1 / calls)
        for _ in range(DRAWS // CHUNK):
            yield random.multinomial(calls, even, size=CHUNK) @ self.rows


def quotient(wanted: Array, base: Array) -> Array:
    """Where there is nothing to divide by, not a number."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(wanted / base)


def times_as_many(difference: float, error: float, level: float) -> float:
    """How many times as many labels would tell a difference of this size."""
    if not difference or not math.isfinite(error):
        return math.inf
    normal = NormalDist()
    wanted = normal.inv_cdf(1 - level) + normal.inv_cdf(POWER)
    return max(1.0, (wanted * error / abs(difference)) ** 2)


def spent_level(attempt: int, level: float = 0.025) -> float:
    """The level of one attempt, such that all attempts on one hold-out together stay below `level`."""
    return level * 6 / (math.pi * attempt) ** 2
