"""What cards of datasets say."""

from __future__ import annotations

import pytest

from dashboard.ui.learning.dataset_cards import initials, summaries
from storage.datasets.cache import CacheEntry, entry_name
from storage.datasets.manifest import DatasetVersion


def version(name: str, number: int, made_at: float, by: str) -> DatasetVersion:
    return DatasetVersion(
        name=name, version=number, parent=None, made_at=made_at, by=by, source="search", hash="h",
        rows=f"{name}{number}", parts=(), counts={"train": 3}, bytes=10,
    )  # fmt: skip


def test_what_was_used_last_comes_first_and_makers_are_named_once() -> None:
    house = [version("house", 1, 10, "ada"), version("house", 2, 20, "max"), version("house", 3, 30, "ada")]
    orders = [version("orders", 1, 5, "ada")]
    entry = CacheEntry(entry_name(orders[0]), 1, 99.0, pinned=False, in_use=False)
    first, second = summaries([*house, *orders], [entry], {"house@2": 70.0})
    assert (first.name, first.active_at, first.cached) == ("orders", 99.0, frozenset({1}))
    assert (second.name, second.active_at, second.cached) == ("house", 70.0, frozenset())
    assert second.makers == ["ada", "max"]
    assert second.newest.version == 3


@pytest.mark.parametrize(
    ("name", "short"), [("grace.linden", "GL"), ("ada", "AD"), ("x", "X"), ("", ""), ("Mia van Dam", "MV")]
)
def test_initials(name: str, short: str) -> None:
    assert initials(name) == short
