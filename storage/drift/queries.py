"""What pages and commands show of drift: figures by day with their intervals, tests, and alarms from when to when.

Figures are those of the whole house, of its queues and of its sites: nobody's own calls, so for those who see all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from math import sqrt

import msgspec
from sqlalchemy import func, select
from sqlmodel import Session, col

from storage.drift.detection import LATEST, DriftFigure, figure_of, sums_of
from storage.drift.measures import DriftKind, Measure, Scope, kind_of
from storage.drift.ratios import RatioSums
from storage.tables import DriftSum, DriftTest
from storage.viewer import HOUSE, Viewer

Z = 1.96
"""Intervals are of 95 %."""


class DriftPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A figure of one day."""

    day: str
    value: float
    low: float
    high: float
    calls: int
    models: tuple[str, ...]
    """Which models answered."""


class DriftAlarm(msgspec.Struct, frozen=True, kw_only=True):
    """A figure that has drifted, for as many days as it was an alarm without a pause."""

    kind: DriftKind
    scope: str
    name: str
    measure: str
    value: str
    model: str
    first: str
    last: str
    days: int
    now: float
    """On the last of these days,"""
    before: float
    against: str
    p: float
    """corrected; the smaller of the day's and of the last days' together."""


def last_day(session: Session, viewer: Viewer) -> str:
    """The newest day that was examined; empty: none yet."""
    return (session.scalar(select(func.max(col(DriftTest.day)))) or "") if viewer.sees_all else ""


def groups(session: Session, viewer: Viewer, scope: Scope, since: str = "") -> list[str]:
    """Names of queues or sites that have figures since a day, the busiest first."""
    if not viewer.sees_all:
        return []
    found = select(col(DriftSum.name)).where(col(DriftSum.scope) == scope, col(DriftSum.day) >= since)
    found = found.group_by(col(DriftSum.name)).order_by(func.sum(col(DriftSum.calls)).desc(), col(DriftSum.name))
    return list(session.scalars(found))


def series(
    session: Session, viewer: Viewer, measure: Measure, *, scope: Scope = "house", name: str = "", since: str = ""
) -> dict[str, list[DriftPoint]]:
    """Of each label (or kind of answer) its figure day by day, oldest first, whichever model answered; a measure that
    has one figure only has it under an empty name. The most frequent label first."""
    if not viewer.sees_all:
        return {}
    found = select(DriftSum).where(col(DriftSum.scope) == scope, col(DriftSum.name) == name)
    found = found.where(col(DriftSum.measure) == measure, col(DriftSum.day) >= since)
    sums: dict[str, dict[str, RatioSums]] = defaultdict(lambda: defaultdict(RatioSums))
    models: dict[str, set[str]] = defaultdict(set)
    for row in session.scalars(found.order_by(col(DriftSum.day))):
        sums[row.value][row.day] += sums_of(row)
        models[row.day].add(row.model)
    parts = {value: sum(one.part for one in days.values()) for value, days in sums.items()}
    return {
        value: [_point(day, one, models[day]) for day, one in sums[value].items() if one.whole]
        for value in sorted(sums, key=lambda value: (-parts[value], value))
    }


def results(
    session: Session,
    viewer: Viewer,
    *,
    since: str = "",
    until: str = LATEST,
    measures: Collection[Measure] = (),
    scope: Scope | None = None,
    name: str | None = None,
) -> list[DriftTest]:
    """Tests of some days, oldest first. Of accuracy, `now` is that of four weeks and `before` mostly the gate's."""
    if not viewer.sees_all:
        return []
    found = select(DriftTest).where(col(DriftTest.day) >= since, col(DriftTest.day) <= until)
    if measures:
        found = found.where(col(DriftTest.measure).in_(measures))
    if scope is not None:
        found = found.where(col(DriftTest.scope) == scope)
    if name is not None:
        found = found.where(col(DriftTest.name) == name)
    order = (DriftTest.day, DriftTest.scope, DriftTest.name, DriftTest.measure, DriftTest.value)
    return list(session.scalars(found.order_by(*(col(one) for one in order))))


def alarms(session: Session, viewer: Viewer, since: str = "") -> list[DriftAlarm]:
    """Every alarm since a day, the newest first, and of those the least probable. One that goes on is one alarm."""
    if not viewer.sees_all:
        return []
    days = list(session.scalars(select(col(DriftTest.day)).distinct().order_by(col(DriftTest.day))))
    number = {day: at for at, day in enumerate(days)}
    found = select(DriftTest).where(col(DriftTest.alarm), col(DriftTest.day) >= since).order_by(col(DriftTest.day))
    running: dict[DriftFigure, list[list[DriftTest]]] = defaultdict(list)
    for one in session.scalars(found):
        own = running[figure_of(one)]
        if own and number[one.day] == number[own[-1][-1].day] + 1:
            own[-1].append(one)
        else:
            own.append([one])
    made = [_alarm(days) for own in running.values() for days in own]
    return sorted(made, key=lambda alarm: (alarm.last, -alarm.p), reverse=True)


def newest_alarms(session: Session, viewer: Viewer = HOUSE) -> list[DriftAlarm]:
    """Those that are on now."""
    newest = last_day(session, viewer)
    return [one for one in alarms(session, viewer) if one.last == newest]


def _alarm(days: list[DriftTest]) -> DriftAlarm:
    last = days[-1]
    return DriftAlarm(
        kind=kind_of(last.measure), scope=last.scope, name=last.name, measure=last.measure, value=last.value,
        model=last.model, first=days[0].day, last=last.day, days=len(days), now=last.now, before=last.before,
        against=last.against, p=min(last.corrected, last.together),
    )  # fmt: skip


def _point(day: str, sums: RatioSums, models: Collection[str]) -> DriftPoint:
    value, reach = sums.part / sums.whole, Z * sqrt(sums.variance())
    return DriftPoint(
        day=day, value=value, low=max(0.0, value - reach), high=min(1.0, value + reach), calls=sums.calls,
        models=tuple(sorted(models)),
    )  # fmt: skip
