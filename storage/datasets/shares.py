"""Whether a dataset is like what people say on the telephone: shares of queues, sites and roles against all sentences.

Sentences of a call are alike, so they do not count as so many independent ones: chi-square is divided by how much
larger clusters make the variance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import sqrt
from typing import Any

import msgspec

FIELDS = ("queue", "site", "role", "sentiment")
CERTAIN_Z = 2.33
"""One in a hundred by chance."""


class ShareReport(msgspec.Struct, frozen=True, kw_only=True):
    field: str
    dataset: dict[str, float]
    population: dict[str, float]
    chi_square: float
    """Corrected for calls as clusters."""
    degrees: int
    differs: bool
    """Certainly not a random choice."""

    @property
    def text(self) -> str:
        """The value that differs most."""
        value = max(self.population, key=lambda one: abs(self.dataset.get(one, 0.0) - self.population[one]))
        return (
            f"{value or '(none)'} is {self.dataset.get(value, 0.0):.0%} of it, and {self.population[value]:.0%} of all"
        )


def shares(rows: Sequence[dict[str, Any]], population: Iterable[dict[str, Any]]) -> list[ShareReport]:
    everything: dict[str, Counter[str]] = {field: Counter() for field in FIELDS}
    for one in population:
        for field in FIELDS:
            everything[field][one[field] or ""] += 1
    calls = Counter(row["call"] for row in rows)
    effect = sum(size * size for size in calls.values()) / max(len(rows), 1)
    return [_share(field, rows, everything[field], effect) for field in FIELDS if len(everything[field]) > 1]


def _share(field: str, rows: Sequence[dict[str, Any]], everything: Counter[str], effect: float) -> ShareReport:
    found = Counter(row[field] or "" for row in rows if row[field] is not None)
    total, all_of_them = found.total(), everything.total()
    expected = {value: count / all_of_them for value, count in everything.items()}
    chi = (
        sum((found[value] - total * share) ** 2 / (total * share) for value, share in expected.items()) if total else 0
    )
    chi /= max(effect, 1.0)
    degrees = len(expected) - 1
    return ShareReport(
        field=field,
        dataset={value: round(count / total, 4) for value, count in sorted(found.items())} if total else {},
        population={value: round(share, 4) for value, share in sorted(expected.items())},
        chi_square=round(chi, 3),
        degrees=degrees,
        differs=_z(chi, degrees) > CERTAIN_Z,
    )


def _z(chi: float, degrees: int) -> float:
    """Wilson and Hilferty's approximation."""
    spread = 2 / (9 * degrees)
    return float(((chi / degrees) ** (1 / 3) - (1 - spread)) / sqrt(spread))
