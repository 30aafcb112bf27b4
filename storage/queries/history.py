"""What was, summed up in the database: agents, customers and teams over days, weeks and months.

Every function takes the viewer, and what they may not see does not enter any sum. Each call counts the same, however
long it was. Calls that are still going on do not count yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from math import inf
from typing import Any, Literal

from sqlalchemy import ColumnElement, Row, Select, and_, case, func, or_, select
from sqlmodel import Session

from storage.labels.effective import CorrectedSentence, said
from storage.queries.periods import Period, Step, day_of, step_of
from storage.queries.statistics import MeasureSummary
from storage.tables import Agent, Alert, Call, Customer, Sentence
from storage.viewer import Viewer

CALL = Call.__table__  # type: ignore[attr-defined]
SENTENCE = Sentence.__table__  # type: ignore[attr-defined]
AGENT = Agent.__table__  # type: ignore[attr-defined]
CUSTOMER = Customer.__table__  # type: ignore[attr-defined]
ALERT = Alert.__table__  # type: ignore[attr-defined]
OVER = ("ended", "analysed", "failed")
MEASURES: Mapping[str, ColumnElement[Any]] = {
    "mood_caller": CALL.c.mood_caller,
    "mood_agent": CALL.c.mood_agent,
    "talk_share_agent": CALL.c.talk_share_agent,
    "silence_share": CALL.c.silence_share,
    "escalated": case((CALL.c.escalations > 0, 1.0), else_=0.0),
    "minutes": case((CALL.c.medium == "voice", CALL.c.duration_ms / 60_000.0)),
}
"""What is summed up, each as a number of one call; None where a call has none."""
RANGES = {"mood_caller": (-1.0, 1.0), "mood_agent": (-1.0, 1.0), "minutes": (0.0, inf)}
"""Between which a measure lies; all others are shares."""
MOST = 500
"""Rows of any list."""
Order = Literal["newest", "worst", "best"]


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose calls. What is empty does not matter."""

    agent: str = ""
    customer: str = ""
    team: str = ""
    without: str = ""
    """Not those of this agent: a team is compared with one of its own without them."""
    site: str = ""
    queue: str = ""
    medium: str = ""

    def clause(self) -> ColumnElement[bool]:
        given = {name: getattr(self, name) for name in ("agent", "customer", "site", "queue", "medium")}
        wanted = [CALL.c.state.in_(OVER), *(CALL.c[name] == value for name, value in given.items() if value)]
        if self.team:
            wanted.append(CALL.c.agent.in_(select(AGENT.c.name).where(AGENT.c.team == self.team)))
        if self.without:
            wanted.append(CALL.c.agent != self.without)
        return and_(*wanted)


@dataclass(frozen=True, slots=True)
class CallStatistics:
    """Some calls summed up."""

    calls: int = 0
    sample: int = 0
    """How many of them are made up."""
    measures: Mapping[str, MeasureSummary] = field(default_factory=dict)

    def __getitem__(self, measure: str) -> MeasureSummary:
        return self.measures.get(measure, MeasureSummary())

    def __add__(self, other: CallStatistics) -> CallStatistics:
        return CallStatistics(
            self.calls + other.calls, self.sample + other.sample, {name: self[name] + other[name] for name in MEASURES}
        )


@dataclass(frozen=True, slots=True)
class Person:
    """An agent or a customer, by the id calls carry."""

    id: str
    name: str
    team: str = ""
    site: str = ""


def total(session: Session, viewer: Viewer, scope: Scope, period: Period) -> CallStatistics:
    return _statistics(session.execute(_summed(viewer, scope, period)).one())


def by_day(session: Session, viewer: Viewer, scope: Scope, period: Period) -> dict[date, CallStatistics]:
    """Of the days that had calls, in order."""
    day = period.day_number(CALL.c.started_at).label("key")
    rows = session.execute(_summed(viewer, scope, period, day).group_by(day).order_by(day))
    return {day_of(row.key): _statistics(row) for row in rows}


def in_steps(days: Mapping[date, CallStatistics], step: Step) -> dict[date, CallStatistics]:
    """Days put together to weeks or months; sums add up, so nothing is lost."""
    steps: dict[date, CallStatistics] = {}
    for day, summed in days.items():
        start = step_of(day, step)
        steps[start] = steps[start] + summed if start in steps else summed
    return steps


def by_hour(session: Session, viewer: Viewer, scope: Scope, period: Period) -> dict[tuple[int, int], CallStatistics]:
    """By weekday (Monday is 0) and hour of the day."""
    weekday, hour = period.weekday(CALL.c.started_at), period.hour_of_day(CALL.c.started_at)
    key = (weekday * 24 + hour).label("key")
    rows = session.execute(_summed(viewer, scope, period, key).group_by(key))
    return {divmod(row.key, 24): _statistics(row) for row in rows}


def by_agent(session: Session, viewer: Viewer, scope: Scope, period: Period) -> dict[str, CallStatistics]:
    """The busiest first."""
    return _by(session, viewer, scope, period, CALL.c.agent)


def by_customer(session: Session, viewer: Viewer, scope: Scope, period: Period) -> dict[str, CallStatistics]:
    """The busiest first."""
    return _by(session, viewer, scope, period, CALL.c.customer)


def by_task(session: Session, viewer: Viewer, scope: Scope, period: Period) -> dict[str, CallStatistics]:
    return _by(session, viewer, scope, period, CALL.c.task)


def by_medium(session: Session, viewer: Viewer, scope: Scope, period: Period) -> dict[str, CallStatistics]:
    return _by(session, viewer, scope, period, CALL.c.medium)


def calls(
    session: Session, viewer: Viewer, scope: Scope, period: Period, order: Order = "newest", limit: int = 50
) -> list[Call]:
    """Single calls. `worst` and `best` go by how the caller felt."""
    found = select(Call).where(viewer.clause(), scope.clause(), period.includes(CALL.c.started_at))
    sort = {
        "newest": (),
        "worst": (CALL.c.mood_caller.asc().nulls_last(),),
        "best": (CALL.c.mood_caller.desc().nulls_last(),),
    }[order]
    newest = (CALL.c.started_at.desc(), CALL.c.id.desc())
    return list(session.scalars(found.order_by(*sort, *newest).limit(min(limit, MOST))))


def sentences(session: Session, viewer: Viewer, of: Sequence[str]) -> dict[str, list[CorrectedSentence]]:
    """What was said in these calls, in order; nothing of those that are not the viewer's to see."""
    found = said().where(viewer.clause(), SENTENCE.c.call.in_(of[:MOST]))
    in_order = found.order_by(SENTENCE.c.call, SENTENCE.c.start_ms, SENTENCE.c.id).limit(10 * MOST)
    by_call: dict[str, list[CorrectedSentence]] = {}
    for row in session.execute(in_order):
        by_call.setdefault(row.call, []).append(CorrectedSentence(*row))
    return by_call


def alerts(session: Session, viewer: Viewer, scope: Scope, period: Period) -> dict[str, int]:
    """How often each rule fired, the most frequent first."""
    found = select(ALERT.c.rule, func.count().label("times")).join(CALL, CALL.c.id == ALERT.c.call)
    found = found.where(viewer.clause(), scope.clause(), period.includes(CALL.c.started_at)).group_by(ALERT.c.rule)
    rows = session.execute(found.order_by(func.count().desc(), ALERT.c.rule).limit(MOST))
    return {row.rule: row.times for row in rows}


def agents(session: Session, viewer: Viewer) -> dict[str, Person]:
    """Everyone who takes calls that the viewer may see, by account name."""
    named = select(AGENT.c.name, AGENT.c.display_name, AGENT.c.team, AGENT.c.site)
    if not viewer.sees_all:
        named = named.where(AGENT.c.name == viewer.name)
    people = {row.name: Person(row.name, row.display_name or row.name, row.team, row.site) for row in
              session.execute(named.limit(10 * MOST))}  # fmt: skip
    heard = select(CALL.c.agent).where(CALL.c.agent != "", viewer.clause()).distinct().limit(10 * MOST)
    for name in session.scalars(heard):
        people.setdefault(name, Person(name, name))
    return dict(sorted(people.items(), key=lambda item: item[1].name.casefold()))


def customers(session: Session, viewer: Viewer, words: str = "", limit: int = 20) -> list[Person]:
    """Customers with calls that the viewer may see, those who called last first; `words` are of id or name."""
    last = func.max(CALL.c.started_at)
    found = select(CALL.c.customer, CUSTOMER.c.display_name).outerjoin(CUSTOMER, CUSTOMER.c.id == CALL.c.customer)
    found = found.where(viewer.clause(), CALL.c.customer != "", CALL.c.state.in_(OVER))
    if words.strip():
        found = found.where(
            or_(
                CALL.c.customer.icontains(words.strip(), autoescape=True),
                CUSTOMER.c.display_name.icontains(words.strip(), autoescape=True),
            )
        )
    rows = session.execute(found.group_by(CALL.c.customer, CUSTOMER.c.display_name).order_by(last.desc()).limit(limit))
    return [Person(row.customer, row.display_name or row.customer) for row in rows]


def values(session: Session, viewer: Viewer, column: Literal["site", "queue", "medium", "task"]) -> list[str]:
    """What there is to choose from."""
    found = select(CALL.c[column]).where(viewer.clause(), CALL.c[column] != "").distinct().limit(MOST)
    return sorted(session.scalars(found))


def _by(
    session: Session, viewer: Viewer, scope: Scope, period: Period, column: ColumnElement[str]
) -> dict[str, CallStatistics]:
    found = _summed(viewer, scope, period, column.label("key")).where(column != "").group_by(column)
    rows = session.execute(found.order_by(func.count().desc(), column).limit(MOST))
    return {row.key: _statistics(row) for row in rows}


def _summed(viewer: Viewer, scope: Scope, period: Period, *keys: ColumnElement[Any]) -> Select[Any]:
    columns: list[ColumnElement[Any]] = [func.count().label("calls")]
    columns.append(func.sum(case((CALL.c.sample, 1), else_=0)).label("sample"))
    for name, measure in MEASURES.items():
        columns.append(func.count(measure).label(f"{name}_n"))
        columns.append(func.sum(measure).label(f"{name}_total"))
        columns.append(func.sum(measure * measure).label(f"{name}_squares"))
    found = select(*keys, *columns).select_from(CALL)
    return found.where(viewer.clause(), scope.clause(), period.includes(CALL.c.started_at))


def _statistics(row: Row[Any]) -> CallStatistics:
    got = row._mapping
    measures = {}
    for name in MEASURES:
        n, total, squares = (got[f"{name}_{part}"] or 0 for part in ("n", "total", "squares"))
        measures[name] = MeasureSummary(n, float(total), float(squares), *RANGES.get(name, (0.0, 1.0)))
    return CallStatistics(got["calls"], got["sample"] or 0, measures)
