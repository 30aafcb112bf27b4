"""What the model of a run answers on validation, row by row, and whether two runs are certainly apart.

Rows of one call are alike, so calls are what is counted; with several runs, the level is divided as Holm does it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from pathlib import Path
from statistics import NormalDist

import msgspec

from storage.queries.statistics import FEWEST, Interval, t_quantile

FILE = "validation.jsonl"
LEVEL = 0.05
"""How often runs that are equal may be called different, over all comparisons."""


class ValidationAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One row of validation; no words."""

    row: str
    call: str
    kind: str
    """`sentiment` or `intent`."""
    right: bool


@dataclass(frozen=True, slots=True)
class RunDifference:
    """How much more often a run is right than the one that it is compared with."""

    run: int
    against: int
    kind: str
    rows: int
    """Which both answered,"""
    calls: int
    """and of how many calls they are."""
    value: float
    interval: Interval | None
    """95 %; None: too few calls to tell."""
    chance: float
    """How probable a difference as large would be if they were equal."""
    certain: bool = False

    @property
    def text(self) -> str:
        """No more than the numbers say."""
        what = f"{self.kind}: run {self.run} against run {self.against}"
        where = f"{self.rows:,} rows of {self.calls:,} calls"
        if self.interval is None:
            return f"{what}: too few calls to tell ({where})"
        span = f"{100 * self.interval.low:+.1f} to {100 * self.interval.high:+.1f}"
        if not self.certain:
            return f"{what}: no certain difference ({span} points; {where})"
        apart = f"{abs(100 * self.value):.1f} points {'more' if self.value > 0 else 'less'} often right"
        return f"{what}: certainly {apart} ({span}; {where})"


def write(folder: Path, answers: Iterable[ValidationAnswer]) -> None:
    part = folder / f"{FILE}.part"
    part.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in answers))
    part.replace(folder / FILE)


def read(folder: Path) -> list[ValidationAnswer]:
    """Empty where the run kept none, or ran on another machine."""
    try:
        content = (folder / FILE).read_bytes()
        return [msgspec.json.decode(line, type=ValidationAnswer) for line in content.splitlines()]
    except (FileNotFoundError, msgspec.MsgspecError):
        return []


def compare(answers: Mapping[int, Sequence[ValidationAnswer]]) -> list[RunDifference]:
    """Every other run against the first, for each kind of label that both answered."""
    (first, base), *others = answers.items()
    found = [
        _difference(first, run, kind, _right(base, kind), _right(own, kind))
        for run, own in others
        for kind in dict.fromkeys(one.kind for one in base)
    ]
    return _with_certainty([one for one in found if one.rows])


def _right(answers: Sequence[ValidationAnswer], kind: str) -> dict[tuple[str, str], bool]:
    return {(one.row, one.call): one.right for one in answers if one.kind == kind}


def _difference(
    against: int, run: int, kind: str, base: Mapping[tuple[str, str], bool], own: Mapping[tuple[str, str], bool]
) -> RunDifference:
    both = base.keys() & own.keys()
    by_call: dict[str, list[int]] = defaultdict(list)
    for row, call in both:
        by_call[call].append(own[row, call] - base[row, call])
    rows, calls = len(both), len(by_call)
    value = sum(map(sum, by_call.values())) / rows if rows else 0.0
    if calls < FEWEST:
        return RunDifference(run, against, kind, rows, calls, value, None, 1.0)
    squares = sum((sum(some) - value * len(some)) ** 2 for some in by_call.values())
    error = sqrt(squares * calls / (calls - 1)) / rows
    reach = t_quantile(calls - 1) * error
    chance = 2 * NormalDist().cdf(-abs(value) / error) if error else (1.0 if value == 0 else 0.0)
    return RunDifference(run, against, kind, rows, calls, value, Interval(value - reach, value + reach), chance)


def _with_certainty(found: Sequence[RunDifference]) -> list[RunDifference]:
    """Holm: the least probable first, each against what is left of the level, until one fails."""
    certain = set()
    ordered = sorted(range(len(found)), key=lambda at: found[at].chance)
    for place, at in enumerate(ordered):
        if found[at].interval is None or found[at].chance > LEVEL / (len(found) - place):
            break
        certain.add(at)
    return [replace(one, certain=at in certain) for at, one in enumerate(found)]
