"""How often the points of scorecards were met: over the calls on which a person said so, and no others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from sqlalchemy import case, func, select
from sqlmodel import Session

from storage.queries.history import CALL, Scope
from storage.queries.periods import Period, Step, day_of, step_of
from storage.queries.statistics import MeasureSummary
from storage.tables import Score
from storage.viewer import Viewer

SCORE = Score.__table__  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class PointStatistics:
    """One point over the calls that asked for it. Each counts once, so the share has an interval of Wilson's."""

    point: str
    asks: str
    days: Mapping[date, MeasureSummary] = field(default_factory=dict)

    @property
    def total(self) -> MeasureSummary:
        return sum(self.days.values(), _summary(0, 0))

    def in_steps(self, step: Step) -> dict[date, MeasureSummary]:
        """Days put together to weeks or months."""
        steps: dict[date, MeasureSummary] = {}
        for day, met in self.days.items():
            start = step_of(day, step)
            steps[start] = steps.get(start, _summary(0, 0)) + met
        return steps


def by_point(session: Session, viewer: Viewer, scope: Scope, period: Period) -> list[PointStatistics]:
    """In the order of their names."""
    newest = select(func.max(SCORE.c.id)).group_by(SCORE.c.call, SCORE.c.point)
    day = period.day_number(CALL.c.started_at).label("day")
    met = func.sum(case((SCORE.c.value == "yes", 1), else_=0)).label("met")
    found = (
        select(SCORE.c.point, func.max(SCORE.c.asks).label("asks"), day, func.count().label("n"), met)
        .join(CALL, CALL.c.id == SCORE.c.call)
        .where(SCORE.c.id.in_(newest), SCORE.c.value != "not_due")
        .where(viewer.clause(), scope.clause(), period.includes(CALL.c.started_at))
        .group_by(SCORE.c.point, day)
        .order_by(SCORE.c.point, day)
    )
    points: dict[str, tuple[str, dict[date, MeasureSummary]]] = {}
    for row in session.execute(found):
        _, days = points.setdefault(row.point, (row.asks, {}))
        days[day_of(row.day)] = _summary(row.n, row.met)
    return [PointStatistics(point, asks, days) for point, (asks, days) in points.items()]


def _summary(n: int, met: int) -> MeasureSummary:
    return MeasureSummary(n, float(met), float(met), 0.0, 1.0)
