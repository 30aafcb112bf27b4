"""Means with their uncertainty: summaries that add up over days, trends and differences with 95 % intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from math import inf, sqrt
from statistics import NormalDist

FEWEST = 10
"""With fewer calls than this, nothing is compared."""
FEWEST_DAYS = 5
"""A line through fewer days says nothing."""
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float

    @property
    def clear(self) -> bool:
        """Whether zero lies outside."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True)
class MeasureSummary:
    """Of one measure over some calls: how many had it, the sum of it, and of its squares."""

    n: int = 0
    total: float = 0.0
    squares: float = 0.0
    lowest: float = -inf
    highest: float = inf
    """Between which every value lies, and so their mean."""

    def __add__(self, other: MeasureSummary) -> MeasureSummary:
        lowest, highest = max(self.lowest, other.lowest), min(self.highest, other.highest)
        return MeasureSummary(self.n + other.n, self.total + other.total, self.squares + other.squares, lowest, highest)

    def within(self, value: float) -> float:
        return min(max(value, self.lowest), self.highest)

    @property
    def mean(self) -> float | None:
        return self.total / self.n if self.n else None

    @property
    def variance(self) -> float:
        """Of a single call."""
        return max(0.0, self.squares - self.total**2 / self.n) / (self.n - 1) if self.n > 1 else 0.0

    @property
    def interval(self) -> Interval | None:
        """Where the mean of many such calls would lie; None for a single call."""
        if self.n < 2:
            return None
        if (self.lowest, self.highest) == (0, 1) and self.squares == self.total:
            return _wilson(self.total, self.n)
        reach = t_quantile(self.n - 1) * sqrt(self.variance / self.n)
        mean = self.total / self.n
        return Interval(self.within(mean - reach), self.within(mean + reach))


@dataclass(frozen=True, slots=True)
class Difference:
    value: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Point:
    day: date
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Trend:
    """A straight line through the days' means, each day weighing as many calls as it had."""

    a_week: float
    """How much the measure changes in a week,"""
    interval: Interval
    """and how little or much that may be."""
    line: tuple[Point, ...]
    """The line with its band, from the first day to the last."""


def _wilson(yes: float, n: int) -> Interval:
    """Of a share: ten calls of which none was escalated do not prove that none ever is."""
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    share, weight = yes / n, 1 + z**2 / n
    middle = (share + z**2 / (2 * n)) / weight
    reach = z * sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / weight
    return Interval(max(0.0, middle - reach), min(1.0, middle + reach))


def difference(one: MeasureSummary, other: MeasureSummary) -> Difference | None:
    """How far two means are apart (Welch); None when either has too few calls to say."""
    if min(one.n, other.n) < FEWEST:
        return None
    a, b = one.variance / one.n, other.variance / other.n
    value = one.total / one.n - other.total / other.n
    if a + b == 0:
        return Difference(value, Interval(value, value))
    freedom = (a + b) ** 2 / (a**2 / (one.n - 1) + b**2 / (other.n - 1))
    reach = t_quantile(freedom) * sqrt(a + b)
    return Difference(value, Interval(value - reach, value + reach))


def trend(days: Mapping[date, MeasureSummary]) -> Trend | None:
    """None when there are too few days or calls for a line."""
    known = sorted((day, summary) for day, summary in days.items() if summary.n)
    weight = sum(summary.n for _, summary in known)
    if len(known) < FEWEST_DAYS or weight < FEWEST:
        return None
    first = known[0][0]
    points = [((day - first).days, summary.total / summary.n, summary.n) for day, summary in known]
    mean_x = sum(n * x for x, _, n in points) / weight
    mean_y = sum(n * y for _, y, n in points) / weight
    spread = sum(n * (x - mean_x) ** 2 for x, _, n in points)
    slope = sum(n * (x - mean_x) * (y - mean_y) for x, y, n in points) / spread
    freedom = len(points) - 2
    noise = sum(n * (y - mean_y - slope * (x - mean_x)) ** 2 for x, y, n in points) / freedom
    t = t_quantile(freedom)

    def at(x: int) -> Point:
        value = mean_y + slope * (x - mean_x)
        reach = t * sqrt(noise * (1 / weight + (x - mean_x) ** 2 / spread))
        inside = known[0][1].within
        return Point(first + timedelta(days=x), inside(value), inside(value - reach), inside(value + reach))

    reach = t * sqrt(noise / spread)
    span = points[-1][0]
    places = sorted({round(span * step / 24) for step in range(25)})
    return Trend(7 * slope, Interval(7 * (slope - reach), 7 * (slope + reach)), tuple(map(at, places)))


def t_quantile(freedom: float, confidence: float = CONFIDENCE) -> float:
    """Student's t, by its expansion about the normal distribution; exact where the expansion is not good enough."""
    exact = {1: 12.7062, 2: 4.3027, 3: 3.1824, 4: 2.7764}
    if confidence == CONFIDENCE and freedom < 5:
        low = max(1, int(freedom))
        high = exact.get(low + 1, 2.5706)
        return exact[low] + (high - exact[low]) * max(0.0, freedom - low)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )
