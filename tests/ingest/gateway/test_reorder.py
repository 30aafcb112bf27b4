"""Twilio's frames back in order."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from ingest.gateway.twilio.reorder import Frame, Reorder


def frame(number: int) -> Frame:
    return Frame(number, number * 20, b"", 20)


def through(numbers: list[int]) -> list[int]:
    reorder = Reorder()
    out = [passed.number for number in numbers for passed in reorder.push(frame(number))]
    return out + [passed.number for passed in reorder.flush()]


def test_order_is_kept_and_restored() -> None:
    assert through([1, 2, 3]) == [1, 2, 3]
    assert through([2, 1, 4, 3, 3, 1, 5]) == [1, 2, 3, 4, 5]
    assert through([0, 1, 2]) == [0, 1, 2]


def test_in_order_nothing_waits() -> None:
    reorder = Reorder()
    assert [len(reorder.push(frame(number))) for number in range(1, 6)] == [1] * 5


def test_what_is_missing_is_given_up_after_the_window() -> None:
    reorder = Reorder()
    reorder.push(frame(1))
    waits = [len(reorder.push(frame(number))) for number in range(3, 14)]
    assert waits == [0] * 9 + [10, 1]
    assert reorder.push(frame(2)) == []
    assert reorder.dropped == 1


def test_numbers_across_tracks_do_not_delay() -> None:
    reorder = Reorder()
    frames = [Frame(1 + 2 * at, at * 20, b"", 20) for at in range(20)]
    assert [len(reorder.push(each)) for each in frames] == [1] * 20


@given(st.integers(0, 2**32), st.integers(0, 8))
def test_any_small_disorder_is_undone(seed: int, distance: int) -> None:
    shuffled = sorted(range(1, 100), key=lambda number: number + random.Random(seed + number).uniform(0, distance))
    assert through(shuffled) == list(range(1, 100))
