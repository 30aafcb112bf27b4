"""What a weekly report is made of. Three weeks are summed up in the same way: that of the report, the one before, and
the same week a year ago (52 weeks earlier, so that weekdays fall on each other)."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sqlalchemy import select
from sqlmodel import Session

from storage.queries import history
from storage.queries.aspects import by_aspect
from storage.queries.assistant import handovers
from storage.queries.history import CALL, CallStatistics, Person, Scope
from storage.queries.periods import Period
from storage.queries.statistics import MeasureSummary
from storage.scorecards.statistics import PointStatistics, by_point
from storage.tables import Call
from storage.viewer import Viewer
from tenor.errors import BadInput
from tenor.yaml.nodes import meant

WEEK = timedelta(days=7)
YEAR = 52 * WEEK
UNHAPPY, PLEASED = -0.15, 0.15
"""From which mood on a call is notable, as on every page."""
NOTABLE = 3
"""Calls of each kind."""
MOST_AGENTS = 40
_ISO_WEEK = re.compile(r"(\d{4})-W(\d{1,2})")


@dataclass(frozen=True, slots=True)
class WeekFigures:
    """One week."""

    period: Period
    total: CallStatistics
    days: Mapping[date, CallStatistics]
    topics: Mapping[str, CallStatistics]
    aspects: Mapping[str, CallStatistics]
    """What callers spoke of; a call may have several."""
    agents: Mapping[str, CallStatistics]
    alerts: Mapping[str, int]
    handovers: Counter[str]
    """Of the assistant to a person, by reason."""
    points: list[PointStatistics]
    """Of scorecards that a person confirmed, and no others."""


@dataclass(frozen=True, slots=True)
class NotableCall:
    call: Call
    why: str


@dataclass(frozen=True, slots=True)
class WeekReport:
    name: str
    """Whose week it is."""
    now: WeekFigures
    before: WeekFigures
    year_ago: WeekFigures
    people: Mapping[str, Person]
    agent_points: Mapping[str, MeasureSummary]
    """All confirmed points of an agent together."""
    notable: list[NotableCall]
    made_at: float
    over: bool
    """Whether the week was over when the report was made."""

    @property
    def week(self) -> str:
        return iso_week(self.now.period.first)

    @property
    def sample(self) -> bool:
        """Whether any of it is made up."""
        return any(one.total.sample for one in (self.now, self.before, self.year_ago))


def week_report(session: Session, viewer: Viewer, scope: Scope, week: Period, made_at: float) -> WeekReport:
    """Of what the viewer may see. Refused to agents, as exports are."""
    viewer.must_export()
    people = history.agents(session, viewer)
    _check(session, viewer, scope, people)
    zone = week.zone
    first = week.first
    now, before, year_ago = (
        _figures(session, viewer, scope, Period(first - back, first - back + WEEK - timedelta(days=1), zone))
        for back in (timedelta(), WEEK, YEAR)
    )
    agent_points = {}
    for name in list(now.agents)[:MOST_AGENTS] if now.points else ():
        own = by_point(session, viewer, replace(scope, agent=name), now.period)
        agent_points[name] = sum((point.total for point in own), MeasureSummary())
    return WeekReport(
        name=" · ".join(filter(None, (scope.team, scope.queue, scope.site))) or "everyone",
        now=now,
        before=before,
        year_ago=year_ago,
        people=people,
        agent_points=agent_points,
        notable=_notable(session, viewer, scope, now.period),
        made_at=made_at,
        over=made_at >= now.period.until,
    )


def _figures(session: Session, viewer: Viewer, scope: Scope, period: Period) -> WeekFigures:
    days = history.by_day(session, viewer, scope, period)
    return WeekFigures(
        period=period,
        total=sum(days.values(), CallStatistics()),
        days=days,
        topics=history.by_task(session, viewer, scope, period),
        aspects=by_aspect(session, viewer, scope, period),
        agents=history.by_agent(session, viewer, scope, period),
        alerts=history.alerts(session, viewer, scope, period),
        handovers=handovers(session, viewer, scope, period),
        points=by_point(session, viewer, scope, period),
    )


def _notable(session: Session, viewer: Viewer, scope: Scope, period: Period) -> list[NotableCall]:
    """Calls to listen to: each once, for the first reason that it has."""
    escalated = select(Call).where(viewer.clause(), scope.clause(), period.includes(CALL.c.started_at))
    escalated = escalated.where(CALL.c.escalations > 0)
    escalated = escalated.order_by(CALL.c.escalations.desc(), CALL.c.alerts.desc(), CALL.c.id).limit(NOTABLE)
    found: dict[str, NotableCall] = {}
    for call in history.calls(session, viewer, scope, period, "worst", NOTABLE):
        if call.mood_caller is not None and call.mood_caller <= UNHAPPY:
            found[call.id] = NotableCall(call, "among the unhappiest callers")
    for call in session.scalars(escalated):
        found.setdefault(call.id, NotableCall(call, "escalated"))
    for call in history.calls(session, viewer, scope, period, "best", NOTABLE):
        if call.mood_caller is not None and call.mood_caller >= PLEASED:
            found.setdefault(call.id, NotableCall(call, "among the happiest callers"))
    return list(found.values())


def _check(session: Session, viewer: Viewer, scope: Scope, people: Mapping[str, Person]) -> None:
    """A team that there is not would have an empty report, which looks like an answer."""
    known = {
        "team": sorted({person.team for person in people.values() if person.team}),
        "queue": history.values(session, viewer, "queue"),
        "site": history.values(session, viewer, "site"),
    }
    for name, there in known.items():
        if (value := getattr(scope, name)) and value not in there:
            hint = "import teams with `tenor people`" if name == "team" and not there else ""
            raise BadInput(f"there is no {name} {value!r}{meant(value, there)}", hint)


def week_of(text: str, zone: tzinfo, now: float) -> Period:
    """`2026-W46`, or any day of the week; without either the last week that is over."""
    if not text:
        day = datetime.fromtimestamp(now, zone).date() - WEEK
    elif found := _ISO_WEEK.fullmatch(text):
        try:
            day = date.fromisocalendar(int(found[1]), int(found[2]), 1)
        except ValueError:
            raise BadInput(f"there is no week {text}") from None
    else:
        try:
            day = date.fromisoformat(text)
        except ValueError:
            raise BadInput(f"{text!r} is no week", "write 2026-W46, or any day of it: 2026-11-11") from None
    monday = day - timedelta(days=day.weekday())
    try:
        monday - YEAR - WEEK
        return Period(monday, monday + WEEK - timedelta(days=1), zone)
    except OverflowError:
        raise BadInput(f"there is no week {text}") from None


def iso_week(day: date) -> str:
    year, week, _ = day.isocalendar()
    return f"{year}-W{week:02}"


def zone_of(name: str) -> tzinfo:
    """The zone of that name; without one, this machine's."""
    if name:
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError):
            raise BadInput(f"report.zone: there is no time zone {name!r}", "for example Europe/Berlin") from None
    for own in (os.environ.get("TZ", ""), str(Path("/etc/localtime").resolve()).partition("zoneinfo/")[2]):
        try:
            return ZoneInfo(own)
        except (ZoneInfoNotFoundError, ValueError):
            continue
    return datetime.now().astimezone().tzinfo or UTC
