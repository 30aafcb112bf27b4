"""Figures of merit."""

from __future__ import annotations

import pytest

from finetune.evaluate.scores import accuracy, f1_by_label, macro_f1, percentile, span_f1


def test_macro_f1_is_not_fooled_by_the_most_frequent_label() -> None:
    right = ["neutral"] * 8 + ["negative", "positive"]
    answered = ["neutral"] * 10
    assert accuracy(right, answered) == 0.8
    assert macro_f1(right, answered) == pytest.approx((2 * 8 / 18) / 3)
    assert f1_by_label(right, answered)["negative"] == 0


def test_a_value_counts_only_when_kind_and_ends_are_right() -> None:
    right = [[(0, 3, "date"), (5, 9, "amount")], []]
    found = [[(0, 3, "date"), (5, 8, "amount")], [(1, 2, "date")]]
    scores = span_f1(right, found)
    assert scores["date"] == pytest.approx(2 / 3)
    assert scores["amount"] == 0
    assert scores["all"] == pytest.approx(2 / 5)


def test_percentile() -> None:
    assert percentile([float(n) for n in range(100)], 0.95) == 95.0
    assert percentile([1.0], 0.95) == 1.0
