"""How soon drift is told, and how seldom where there is none; `python -m benchmarks drift` tries more."""

from __future__ import annotations

from statistics import median

from storage.drift.simulation import days_until_told, false_alarms

SENTENCES = 2_000
NEVER = 1_000


def test_negatives_from_10_to_15_per_cent_are_told_within_two_days() -> None:
    waits = [days_until_told(10, SENTENCES, seed, 0.15) or NEVER for seed in range(15)]
    assert median(waits) <= 2
    assert max(waits) <= 5


def test_negatives_from_10_to_13_per_cent_are_told_within_days() -> None:
    waits = sorted(days_until_told(25, SENTENCES, seed, 0.13) or NEVER for seed in range(15))
    assert median(waits) <= 5
    assert waits[13] <= 15  # nine of ten


def test_a_house_where_nothing_changes_has_no_alarm_for_a_month() -> None:
    assert false_alarms(30, SENTENCES, seed=1) == 0
