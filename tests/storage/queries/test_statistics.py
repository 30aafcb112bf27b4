"""Means, trends and differences, against textbook numbers and a fit of another library."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from math import sqrt
from random import Random

import numpy as np
import pytest

from storage.queries.statistics import FEWEST, MeasureSummary, difference, t_quantile, trend

TABLE = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 8: 2.306, 10: 2.228, 20: 2.086, 60: 2.000, 1000: 1.962}
"""Two-sided 95 %, from any book of tables."""


def of(values: list[float]) -> MeasureSummary:
    return MeasureSummary(len(values), sum(values), sum(value * value for value in values))


@pytest.mark.parametrize(("freedom", "expected"), TABLE.items())
def test_students_t(freedom: int, expected: float) -> None:
    assert t_quantile(freedom) == pytest.approx(expected, rel=2e-3)


def test_a_mean_and_its_interval_by_hand() -> None:
    sums = of([2.0, 4.0, 6.0])
    assert (sums.mean, sums.variance) == (4.0, 4.0)
    assert sums.interval is not None
    assert sums.interval.high == pytest.approx(4 + 4.303 * 2 / sqrt(3), rel=1e-3)
    assert of([1.0]).interval is None
    assert MeasureSummary().mean is None
    assert of([1.0, 2.0]) + of([3.0]) == of([1.0, 2.0, 3.0])


def test_an_interval_stays_where_the_measure_can_be() -> None:
    share, mood = (0.0, 1.0), (-1.0, 1.0)
    for values, ends in (([0.0] * 10, share), ([1.0] * 10, share), ([0.0] * 9 + [1.0], share), ([-1.0, 0.9], mood)):
        found = replace(of(values), lowest=ends[0], highest=ends[1]).interval
        assert found is not None
        assert ends[0] <= found.low < found.high <= ends[1]
    none_of_ten = replace(of([0.0] * 10), lowest=0.0, highest=1.0).interval
    assert none_of_ten is not None
    assert none_of_ten.high == pytest.approx(0.2775, abs=1e-4)  # Wilson's, from any book


def test_a_line_stays_where_the_measure_can_be() -> None:
    shares = [0.0, 0.02, 0.3, 0.9, 1.0, 1.0]
    days = {
        date(2026, 3, 1) + timedelta(days=number): replace(of([value] * 5), lowest=0.0, highest=1.0)
        for number, value in enumerate(shares)
    }
    found = trend(days)
    assert found is not None
    assert all(0 <= point.low <= point.value <= point.high <= 1 for point in found.line)


def test_a_trend_is_the_weighted_fit_through_the_days() -> None:
    rng = Random(4)
    days, xs, ys, weights = {}, [], [], []
    for number in range(0, 60, 2):
        calls = [0.01 * number + rng.gauss(0, 0.3) for _ in range(rng.randrange(1, 9))]
        days[date(2026, 3, 1) + timedelta(days=number)] = of(calls)
        xs.append(number)
        ys.append(sum(calls) / len(calls))
        weights.append(len(calls))
    found = trend(days)
    assert found is not None
    (slope, level), covariance = np.polyfit(xs, ys, 1, w=np.sqrt(weights), cov=True)
    assert found.a_week == pytest.approx(7 * slope)
    assert found.interval.high - found.a_week == pytest.approx(7 * t_quantile(28) * sqrt(covariance[0, 0]), rel=1e-6)
    assert found.interval.clear
    for point in found.line:
        x = (point.day - date(2026, 3, 1)).days
        spread = covariance[0, 0] * x * x + 2 * covariance[0, 1] * x + covariance[1, 1]
        assert point.value == pytest.approx(level + slope * x)
        assert point.high - point.value == pytest.approx(t_quantile(28) * sqrt(spread), rel=1e-6)


def test_noise_has_no_trend_most_of_the_time() -> None:
    """A band that is too narrow would find one more often than one time in twenty."""
    rng, found = Random(7), 0
    for _ in range(400):
        days = {date(2026, 1, 1) + timedelta(days=n): of([rng.gauss(0, 1) for _ in range(5)]) for n in range(20)}
        line = trend(days)
        assert line is not None
        found += line.interval.clear
    assert 0.02 < found / 400 < 0.09


def test_too_little_to_say_anything() -> None:
    assert trend({date(2026, 1, day): of([0.1] * 9) for day in range(1, 5)}) is None
    assert trend({}) is None
    assert difference(of([0.0] * 6), of([1.0] * 50)) is None
    assert difference(of([0.0, 1.0] * FEWEST), of([0.0, 1.0] * FEWEST)) is not None


def test_a_difference_by_hand() -> None:
    one, other = [float(n % 5) for n in range(20)], [float(n % 7) + 2 for n in range(21)]
    found = difference(of(one), of(other))
    assert found is not None
    a, b = np.var(one, ddof=1) / 20, np.var(other, ddof=1) / 21
    freedom = (a + b) ** 2 / (a**2 / 19 + b**2 / 20)
    assert found.value == pytest.approx(np.mean(one) - np.mean(other))
    assert found.interval.low == pytest.approx(found.value - t_quantile(float(freedom)) * sqrt(a + b))
    assert found.interval.clear
    same = difference(of([1.0] * 10), of([1.0] * 10))
    assert same is not None
    assert not same.interval.clear
