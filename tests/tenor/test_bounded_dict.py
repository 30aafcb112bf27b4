"""A dictionary that forgets what was written longest ago."""

from __future__ import annotations

from tenor.bounded_dict import BoundedDict


def test_the_oldest_entry_makes_room() -> None:
    calls: BoundedDict[str, int] = BoundedDict(2)
    calls["a"] = 1
    calls["b"] = 2
    calls["c"] = 3
    assert list(calls.items()) == [("b", 2), ("c", 3)]


def test_what_is_written_again_is_the_newest() -> None:
    calls: BoundedDict[str, int] = BoundedDict(2)
    calls["a"] = 1
    calls["b"] = 2
    calls["a"] += 10
    calls["c"] = 3
    assert list(calls.items()) == [("a", 11), ("c", 3)]


def test_reading_and_taking_out_change_no_age() -> None:
    calls: BoundedDict[str, int] = BoundedDict(2)
    calls["a"] = 1
    calls["b"] = 2
    assert (calls["a"], calls.get("a"), calls.pop("b")) == (1, 1, 2)
    calls["c"] = 3
    calls["d"] = 4
    assert list(calls) == ["c", "d"]
