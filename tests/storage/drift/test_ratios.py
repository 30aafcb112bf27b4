"""Ratios with calls as clusters, and tests of their differences."""

from __future__ import annotations

import numpy as np
import pytest

from storage.drift.ratios import Baseline, RatioSums, added, compare, compare_with, holm, t_tail


def day(parts: list[float], wholes: list[float]) -> RatioSums:
    return added(RatioSums.of_call(part, whole) for part, whole in zip(parts, wholes, strict=True))


def test_sums_of_calls_tell_the_same_as_the_calls_themselves() -> None:
    parts, wholes = [1.0, 0.0, 4.0, 2.0], [10.0, 5.0, 20.0, 8.0]
    sums = day(parts[:2], wholes[:2]) + day(parts[2:], wholes[2:])
    ratio = sum(parts) / sum(wholes)
    residuals = np.array(parts) - ratio * np.array(wholes)
    assert sums.ratio == pytest.approx(ratio)
    assert sums.variance() == pytest.approx(4 / 3 * (residuals**2).sum() / sum(wholes) ** 2)


def test_calls_that_are_alike_in_themselves_count_as_calls_and_not_as_sentences() -> None:
    """In 40 calls of 50 sentences, four calls are negative throughout: that is 4 of 40, not 200 of 2,000."""
    alike = day([50.0] * 4 + [0.0] * 36, [50.0] * 40)
    mixed = day([5.0] * 40, [50.0] * 40)
    assert alike.ratio == mixed.ratio == 0.1
    assert alike.variance() == pytest.approx(0.1 * 0.9 / 39)
    assert mixed.variance() < 1e-12


@pytest.mark.parametrize("freedom", [5, 30, 200])
def test_the_tail_of_t_is_right_far_out(freedom: int) -> None:
    known = {5: (5.893, 0.001), 30: (3.385, 0.001), 200: (3.131, 0.001)}  # from tables of Student's t
    value, tail = known[freedom]
    assert t_tail(value, freedom) == pytest.approx(tail, rel=0.1)


def test_holm_raises_the_smallest_most_and_keeps_the_order() -> None:
    assert holm({"a": 0.01, "b": 0.001, "c": 0.04}) == pytest.approx({"b": 0.003, "a": 0.02, "c": 0.04})
    assert holm({"a": 0.5, "b": 0.9}) == {"a": 1.0, "b": 1.0}
    assert holm({}) == {}


def test_a_label_that_nobody_uses_any_more_is_no_certainty_if_it_was_rare() -> None:
    """Three of 2,000 sentences a day, and today none: its own spread is zero, and means nothing."""
    usual = Baseline.of([day([1.0] * 3 + [0.0] * 127, [15.0] * 130)] * 28)
    found = compare([day([0.0] * 130, [15.0] * 130)], usual)
    assert found is not None
    assert found.p > 0.01


def test_days_that_always_differ_are_no_drift() -> None:
    """Mondays have twice as many negatives. Nothing is drift that happens every week."""
    random = np.random.default_rng(3)

    def made(share: float) -> RatioSums:
        return day(list(random.binomial(15, share, 130).astype(float)), [15.0] * 130)

    weeks = [made(0.2 if number % 7 == 0 else 0.1) for number in range(28)]
    monday = compare([made(0.2)], Baseline.of(weeks))
    steady = compare([made(0.2)], Baseline.of([made(0.1) for _ in range(28)]))
    assert monday is not None
    assert steady is not None
    assert monday.p > 0.01 > 1e-6 > steady.p


def test_too_few_calls_are_not_compared() -> None:
    usual = Baseline.of([day([1.0] * 100, [10.0] * 100)] * 7)
    assert compare([day([9.0] * 19, [10.0] * 19)], usual) is None
    assert compare_with(day([1.0] * 19, [1.0] * 19), 0.5, 0.01) is None


def test_accuracy_that_is_better_than_the_gate_measured_is_no_drift() -> None:
    right = day([1.0] * 200, [1.0] * 200)
    wrong = day([1.0] * 100 + [0.0] * 100, [1.0] * 200)
    better, worse = compare_with(right, 0.8, 0.02, "lower"), compare_with(wrong, 0.8, 0.02, "lower")
    assert better is not None
    assert worse is not None
    assert better.p > 0.99
    assert worse.p < 1e-6
