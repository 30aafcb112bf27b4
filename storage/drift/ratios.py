"""Ratios over calls, and whether two of them differ: a Wald test with calls as clusters.

Every measure of drift is a ratio of two sums: negative sentences of all sentences, unknown words of all words, right
answers of all labels. Sentences of one call are alike, so the error of a ratio comes from how calls differ, never from
how many sentences there are. Of a day six sums are enough for that, and they add up over days, queues and sites.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import erfc, log1p, sqrt
from typing import Literal, TypeVar

Side = Literal["both", "lower"]
"""What counts as drift: any difference, or only that it is lower than it was."""
Key = TypeVar("Key")
FEWEST_CALLS = 20
"""With fewer calls on either side nothing is tested."""
ROUNDING = 1e-9
"""A difference below this comes from adding numbers up; there are recognisers that are always equally sure."""


@dataclass(frozen=True, slots=True)
class RatioSums:
    """Of each call a part and a whole; here their sums over calls, and those of their products."""

    calls: int = 0
    part: float = 0.0
    whole: float = 0.0
    part_squares: float = 0.0
    products: float = 0.0
    whole_squares: float = 0.0

    @classmethod
    def of_call(cls, part: float, whole: float) -> RatioSums:
        return cls(1, part, whole, part * part, part * whole, whole * whole)

    def __add__(self, other: RatioSums) -> RatioSums:
        return RatioSums(
            self.calls + other.calls,
            self.part + other.part,
            self.whole + other.whole,
            self.part_squares + other.part_squares,
            self.products + other.products,
            self.whole_squares + other.whole_squares,
        )

    @property
    def ratio(self) -> float | None:
        return self.part / self.whole if self.whole else None

    @property
    def spread(self) -> float:
        """Variance of what one call adds to the sum of differences from the ratio."""
        if self.calls < 2 or not self.whole:
            return 0.0
        ratio = self.part / self.whole
        squares = self.part_squares - 2 * ratio * self.products + ratio * ratio * self.whole_squares
        return max(0.0, squares) / (self.calls - 1)

    def variance(self, spread: float | None = None) -> float:
        """Of the ratio, by how its own calls differ, or by another spread of calls."""
        spread = self.spread if spread is None else spread
        return self.calls * spread / self.whole**2 if self.whole else 0.0


def added(sums: Iterable[RatioSums]) -> RatioSums:
    return sum(sums, RatioSums())


@dataclass(frozen=True, slots=True)
class Comparison:
    """A ratio now, what it was, and how probable such a difference is by chance."""

    now: float
    before: float
    error: float
    """Standard error of the difference."""
    p: float


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a ratio was on some days, with which others are compared."""

    days: int
    sums: RatioSums
    between: float
    """Variance of days' ratios beyond what their calls explain."""

    @classmethod
    def of(cls, days: Sequence[RatioSums]) -> Baseline:
        sums = added(days)
        return cls(len(days), sums, _between_days(days, sums.spread))


def compare(now: Sequence[RatioSums], before: Baseline, side: Side = "both") -> Comparison | None:
    """Some days with a baseline. None where there is too little on either side.

    The error has three parts. How calls differ: the larger of what it is now and what it was, since a label that nobody
    uses now has no spread of its own. How days differ beyond their calls (a Monday is no drift). And how well the
    baseline is known.
    """
    present, past = added(now), before.sums
    if min(present.calls, past.calls) < FEWEST_CALLS or present.ratio is None or past.ratio is None:
        return None
    within = max(present.variance(), present.variance(past.spread))
    parts = (
        (within, present.calls - 1),
        (before.between / len(now), max(before.days - 1, 1)),
        (past.variance() + before.between / before.days, past.calls - 1),
    )
    return _tested(present.ratio, past.ratio, parts, side)


def compare_with(now: RatioSums, share: float, error: float, side: Side = "both") -> Comparison | None:
    """With a share that is known from elsewhere, and its standard error."""
    if now.calls < FEWEST_CALLS or now.ratio is None:
        return None
    chance = share * (1 - share) / now.whole  # where all answers are right, or all wrong, there is no spread to see
    within = max(now.variance(), chance)
    return _tested(now.ratio, share, ((within, now.calls - 1), (error * error, now.calls - 1)), side)


def holm(values: Mapping[Key, float]) -> dict[Key, float]:
    """Probabilities of many tests, each raised to what it means among so many (Holm)."""
    corrected: dict[Key, float] = {}
    highest = 0.0
    for number, key in enumerate(sorted(values, key=values.__getitem__)):
        highest = max(highest, min(1.0, values[key] * (len(values) - number)))
        corrected[key] = highest
    return corrected


def _between_days(days: Sequence[RatioSums], spread: float) -> float:
    """By DerSimonian and Laird; 0: nothing beyond."""
    known = [(day.part / day.whole, day.variance(spread)) for day in days if day.whole]
    if len(known) < 2 or spread <= 0:
        return 0.0
    weights = [1 / variance for _, variance in known]
    total = sum(weights)
    mean = sum(weight * ratio for weight, (ratio, _) in zip(weights, known, strict=True)) / total
    excess = sum(weight * (ratio - mean) ** 2 for weight, (ratio, _) in zip(weights, known, strict=True))
    return max(0.0, (excess - (len(known) - 1)) / (total - sum(weight * weight for weight in weights) / total))


def _tested(now: float, before: float, parts: Sequence[tuple[float, int]], side: Side) -> Comparison:
    """`parts`: of the variance, with the degrees of freedom that each is known by (Welch and Satterthwaite)."""
    variance = sum(part for part, _ in parts)
    difference = now - before
    if abs(difference) < ROUNDING:
        return Comparison(now, before, sqrt(variance), 1.0)
    if variance <= 0:  # a figure that was always the same
        return Comparison(now, before, 0.0, float(side == "lower" and difference > 0))
    freedom = variance**2 / sum(part**2 / freedom for part, freedom in parts)
    tail = t_tail(abs(difference) / sqrt(variance), freedom)
    p = 2 * tail if side == "both" else tail if difference < 0 else 1 - tail
    return Comparison(now, before, sqrt(variance), p)


def t_tail(value: float, freedom: float) -> float:
    """How probable a larger value of Student's t is (Wallace's approximation, right to a tenth of itself)."""
    z = (8 * freedom + 1) / (8 * freedom + 3) * sqrt(freedom * log1p(value * value / freedom))
    return erfc(z / sqrt(2)) / 2
