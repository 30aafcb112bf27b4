"""Whether what was labelled at random is like everything that was said: by label, queue, site and role.

A chi-square test with calls as clusters (Rao and Scott): sentences of one call are alike, so twenty of them are not
twenty observations. The statistic is divided by the mean design effect, measured between calls.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from math import erfc, sqrt

import msgspec
from sqlalchemy import func, select
from sqlmodel import Session

from storage.labels.effective import effective_side
from storage.labels.trust.agreement import CALL, LABEL
from storage.labels.trust.contradictions import SENTENCE
from storage.viewer import Viewer

UNLIKELY = 0.01
"""Below this probability the sample is told to be skewed."""
ENOUGH = 20
"""Calls that must have a label at random before anything is said."""


class DimensionReport(msgspec.Struct, frozen=True, kw_only=True):
    """One property of sentences: its shares in the sample and in everything."""

    dimension: str
    sentences: int
    calls: int
    shares: dict[str, tuple[float, float]]
    """Of each value: its share in the sample, and in the population."""
    statistic: float
    design_effect: float
    p: float | None
    """How probable such a difference is by chance; None: too few calls, or one value only."""

    @property
    def skewed(self) -> bool:
        return self.p is not None and self.p < UNLIKELY

    def __str__(self) -> str:
        worst = max(self.shares, key=lambda name: abs(self.shares[name][0] - self.shares[name][1]))
        own, whole = self.shares[worst]
        return (
            f"what was labelled at random is not like what was said, by {self.dimension}: {worst or 'none'} is "
            f"{own:.0%} of the sample and {whole:.0%} of everything (p = {self.p:.4f}, {self.calls} calls)"
        )


def sample_report(session: Session, viewer: Viewer) -> list[DimensionReport]:
    """By the model's sentiment and intent, queue, site and role."""
    columns = {
        "sentiment": SENTENCE.c.sentiment,
        "intent": SENTENCE.c.intent,
        "queue": CALL.c.queue,
        "site": CALL.c.site,
        "role": effective_side(),
    }
    drawn = select(LABEL.c.sentence).where(LABEL.c.why == "sample", LABEL.c.sentence.is_not(None), ~LABEL.c.held)
    reports = []
    for name, column in columns.items():
        joined = select(column.label("value"), func.count().label("number")).select_from(SENTENCE)
        joined = joined.join(CALL, CALL.c.id == SENTENCE.c.call).where(viewer.clause(), SENTENCE.c.language != "other")
        whole = {row.value: row.number for row in session.execute(joined.group_by(column))}
        sample = joined.add_columns(SENTENCE.c.call).where(SENTENCE.c.id.in_(drawn)).group_by(column, SENTENCE.c.call)
        by_call: dict[str, Counter[str]] = defaultdict(Counter)
        for row in session.execute(sample):
            by_call[row.call][row.value] += row.number
        reports.append(_report(name, whole, by_call))
    return reports


def _report(dimension: str, whole: dict[str, int], by_call: dict[str, Counter[str]]) -> DimensionReport:
    everything = sum(whole.values())
    counts: Counter[str] = Counter()
    for some in by_call.values():
        counts.update(some)
    number, calls = sum(counts.values()), len(by_call)
    shares = {value: (counts[value] / number if number else 0.0, whole[value] / everything) for value in sorted(whole)}
    statistic = effect = 0.0
    p = None
    if calls >= ENOUGH and len(shares) > 1:
        sizes = {call: sum(some.values()) for call, some in by_call.items()}
        effects = 0.0
        for value, (own, expected) in shares.items():
            statistic += number * (own - expected) ** 2 / expected
            between = sum((some[value] - own * sizes[call]) ** 2 for call, some in by_call.items())
            variance = between / number**2 * calls / (calls - 1)
            effects += number * variance / expected
        freedom = len(shares) - 1
        effect = max(effects / freedom, 1.0)
        p = chi_square_tail(statistic / effect, freedom)
    return DimensionReport(
        dimension=dimension,
        sentences=number,
        calls=calls,
        shares=shares,
        statistic=statistic,
        design_effect=effect,
        p=p,
    )


def chi_square_tail(statistic: float, freedom: int) -> float:
    """How probable a larger value is by chance (Wilson and Hilferty's approximation, right to about 0.001; with one
    degree of freedom exactly)."""
    if freedom == 1:
        return erfc(sqrt(statistic / 2))
    spread = 2 / (9 * freedom)
    z = ((statistic / freedom) ** (1 / 3) - (1 - spread)) / sqrt(spread)
    return erfc(z / sqrt(2)) / 2
