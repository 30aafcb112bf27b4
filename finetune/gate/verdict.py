"""What comes of the checks: better, not better, or cannot tell yet."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec

from finetune.gate.bootstrap import Difference
from finetune.gate.evidence import Evidence

Outcome = Literal["passed", "failed", "unsure", "told"]
"""`unsure`: more labels would tell. `told`: not judged, for the reader."""
Decision = Literal["better", "not better", "cannot tell yet"]


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """A difference of two models, and what it must clear."""

    name: str
    value: float
    low: float | None
    high: float | None
    bound: float
    above: bool
    """Whether the lower end must be above the bound; else the upper end must be below it."""

    @classmethod
    def of(cls, name: str, found: Difference, bound: float, *, above: bool) -> Interval:
        low, high = finite(found.low), finite(found.high)
        return cls(name=name, value=finite(found.value) or 0.0, low=low, high=high, bound=bound, above=above)


class Confusion(msgspec.Struct, frozen=True, kw_only=True):
    """How often people said one label and each model another: rows are what people said."""

    kind: str
    labels: tuple[str, ...]
    champion: tuple[tuple[int, ...], ...]
    candidate: tuple[tuple[int, ...], ...]


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the gate: a figure, its interval, and whether it lets the candidate pass."""

    name: str
    outcome: Outcome
    text: str
    """The line that people read."""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    missing: int = 0
    """About how many labels more would tell."""
    details: tuple[str, ...] = ()
    """Further lines: steps, groups, sentences."""
    must_gain: bool = False
    """The figure for which the candidate was made: of all such figures one must certainly be better."""
    intervals: tuple[Interval, ...] = ()
    """What a picture shows of it."""


Pictured = tuple[str, Sequence[Check], Sequence[Confusion], tuple[str, str]]
"""What a picture shows: its title, the checks, the matrices, and the names of champion and candidate."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The gate's answer about a candidate."""

    kind: str
    champion: str
    candidate: str
    decision: Decision
    attempt: int
    missing: int
    checks: tuple[Check, ...]
    confusions: tuple[Confusion, ...] = ()
    accuracy: dict[str, dict[str, dict[str, float]]] = {}
    """By kind of answer, see `Evidence.accuracy`."""

    @property
    def passed(self) -> bool:
        return self.decision == "better"

    def document(self) -> dict[str, Any]:
        """What `--json` prints."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found

    def pictured(self) -> Pictured:
        title = f"{self.candidate} against {self.champion}: {self.decision}"
        return title, self.checks, self.confusions, (self.champion, self.candidate)

    def lines(self) -> list[str]:
        """What people read."""
        head = f"{self.candidate} against {self.champion}, {self.kind}, attempt {self.attempt} on this hold-out"
        return [head, "", *check_lines(self.checks), "", self.conclusion]

    @property
    def conclusion(self) -> str:
        if self.decision == "cannot tell yet":
            return f"cannot tell yet: about {self.missing:,} more labels of random sentences would tell"
        if self.decision == "better":
            return f"{self.candidate} is better than {self.champion} and may be promoted"
        failed = ", ".join(check.name for check in self.checks if check.outcome == "failed")
        return f"{self.candidate} is not promoted: {failed}"


def check_lines(checks: Sequence[Check]) -> list[str]:
    width = max(len(check.name) for check in checks)
    sign = {"passed": "+", "failed": "-", "unsure": "?", "told": " "}
    lines = []
    for check in checks:
        lines.append(f"{sign[check.outcome]} {check.name:{width}}  {check.text}")
        lines += [f"  {'':{width}}    {detail}" for detail in check.details]
    return lines


def judge(
    evidence: Sequence[Evidence], checks: Sequence[Iterable[Check]], confusions: Iterable[Confusion] = ()
) -> Verdict:
    """Of each kind of answer the evidence and its checks. Something must certainly be better, and nothing worse."""
    made = tuple(
        msgspec.structs.replace(check, name=f"{one.kind}: {check.name}") if len(evidence) > 1 else check
        for one, found in zip(evidence, checks, strict=True)
        for check in found
    )
    gains = [check for check in made if check.must_gain]
    guards = [check.outcome for check in made if not check.must_gain]
    best = {check.outcome for check in gains}
    decision: Decision = "cannot tell yet"
    if "failed" in guards or best <= {"failed"}:
        decision = "not better"
    elif "passed" in best and "unsure" not in guards:
        decision = "better"
    undecided = [check.missing for check in made if check.outcome == "unsure"]
    return Verdict(
        kind=" and ".join(one.kind for one in evidence),
        champion=evidence[0].champion,
        candidate=evidence[0].candidate,
        decision=decision,
        attempt=evidence[0].attempt,
        missing=max(undecided, default=0),
        checks=made,
        confusions=tuple(confusions),
        accuracy={one.kind: one.accuracy() for one in evidence if one.sentences},
    )


def finite(value: float) -> float | None:
    """JSON has no word for what is not a number."""
    return value if math.isfinite(value) else None


def listed(names: Sequence[str], most: int = 5) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
