"""Who fits: free agents in the order in which calls like this one went with them. A suggestion: nothing is assigned.

A past call went well if nobody had to step in, its task was not left open, and the caller was not unhappy at its end.
Agents are compared over calls with the same task whose callers began in the same mood; where these are fewer than
ENOUGH, over calls with the same task, then with the same mood, then over all. Each agent's share is drawn towards that
of all, as if they had had PRIOR more calls of the average: who has had three lucky calls is not first for it, and who
is new is neither first nor last. The interval is Wilson's, of the agent's own calls alone.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, and_, case, func, or_, select
from sqlmodel import Session

from storage.queries.calls import find
from storage.queries.history import AGENT, CALL, OVER, SENTENCE
from storage.queries.statistics import Interval, MeasureSummary
from storage.tables import Call
from storage.viewer import Viewer
from storage.writer.call_row import GOING_ON
from tenor.errors import BadInput, Refused
from tenor.taxonomy.polarity import FELT

DAYS = 180
"""How far back calls are looked at."""
AT_WORK_S = 4 * 3600
"""Who has had a call within this time is taken to be at work. A telephone platform knows better and can say it."""
OPENING = 3
"""Sentences of the caller in which a call shows how they felt before the agent could do anything about it."""
ENOUGH = 60
PRIOR = 10
MOST = 200
Basis = Literal["task and mood", "task", "mood", "all calls"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Who waits: what for, and whether they are unhappy."""

    task: str = ""
    unhappy: bool = False
    call: str = ""

    @classmethod
    def of(cls, call: Call) -> Wanted:
        mood = call.metrics.get("mood_now.caller", call.mood_caller)
        task = "" if call.task in ("", "unknown") else call.task
        return cls(task, mood is not None and mood <= -FELT, call.id)


@dataclass(frozen=True, slots=True)
class Fit:
    """An agent, and how such calls went with them."""

    agent: str
    name: str
    team: str
    calls: int
    share: float
    """Of calls that went well, drawn towards that of all; the order goes by it."""
    own: float | None
    """The agent's own share; None if they have had no such call."""
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Suggestion:
    wanted: Wanted
    basis: Basis
    calls: int
    share: float | None
    """Of calls that went well with everybody."""
    agents: Sequence[Fit]


def suggest(
    session: Session, viewer: Viewer, wanted: Wanted, agents: Collection[str] = (), *, now: float | None = None
) -> Suggestion:
    """Best first. `agents` are those who are free, by somebody who knows; else it is worked out from calls."""
    if not viewer.sees_all:
        raise Refused(f"your role, {viewer.role}, does not see how calls go with others")
    if len(agents) > MOST:
        raise BadInput(f"at most {MOST} agents can be compared")
    now = time.time() if now is None else now
    names = sorted(set(agents) or _free(session, now))
    rows = _counted(session, wanted, now)
    basis, chosen = _basis(rows, wanted)
    whole = sum((summary for summary in chosen.values()), _summary(0, 0))
    average = whole.mean if whole.mean is not None else 0.5
    known = {row.name: row for row in session.execute(select(AGENT).where(AGENT.c.name.in_(names)))}
    fits = []
    for name in names:
        own = chosen.get(name, _summary(0, 0))
        person = known.get(name)
        drawn = (own.total + PRIOR * average) / (own.n + PRIOR)
        title, team = (person.display_name or name, person.team) if person else (name, "")
        fits.append(Fit(name, title, team, own.n, drawn, own.mean, own.interval))
    fits.sort(key=lambda fit: (-fit.share, fit.name))
    return Suggestion(wanted, basis, whole.n, whole.mean, fits)


def suggest_for(
    session: Session, viewer: Viewer, call_id: str, agents: Collection[str] = (), *, now: float | None = None
) -> Suggestion:
    """For a call that waits for a person, or that somebody else should have."""
    call = find(session, viewer, call_id)
    if call is None:
        raise BadInput(f"there is no call {call_id!r}")
    if call.state not in GOING_ON:
        raise BadInput("this call is over: nobody waits")
    return suggest(session, viewer, Wanted.of(call), agents, now=now)


def _free(session: Session, now: float) -> set[str]:
    """At work, and not on a call."""
    busy = select(CALL.c.agent).where(CALL.c.state.in_(GOING_ON))
    found = select(CALL.c.agent).where(CALL.c.agent != "", CALL.c.state.in_(OVER), CALL.c.agent.not_in(busy))
    recent = and_(CALL.c.started_at > now - AT_WORK_S - 86_400, func.coalesce(CALL.c.ended_at, 0) > now - AT_WORK_S)
    return set(session.scalars(found.where(recent).distinct().limit(MOST)))


def _counted(session: Session, wanted: Wanted, now: float) -> list[Any]:
    """Of each agent, the calls and those that went well, by whether they are like this one in task and in mood."""
    closing = CALL.c.metrics["mood_now.caller"].as_float()
    before = and_(
        CALL.c.state.in_(OVER), CALL.c.agent != "", CALL.c.started_at > now - DAYS * 86_400, CALL.c.id != wanted.call
    )
    caller: ColumnElement[bool] = or_(
        and_(SENTENCE.c.role == "caller", ~CALL.c.swapped), and_(SENTENCE.c.role == "agent", CALL.c.swapped)
    )
    place = func.row_number().over(partition_by=SENTENCE.c.call, order_by=SENTENCE.c.start_ms).label("place")
    said = select(SENTENCE.c.call, SENTENCE.c.mood, place).join(CALL, CALL.c.id == SENTENCE.c.call)
    heard = said.where(before, caller).subquery()
    opening = (
        select(heard.c.call, func.avg(heard.c.mood).label("mood"))
        .where(heard.c.place <= OPENING)
        .group_by(heard.c.call)
        .subquery()
    )
    left_open = func.coalesce(CALL.c.summary["outcome"].as_string(), "") == "open"
    well = and_(CALL.c.escalations == 0, closing > -FELT, ~left_open)
    same_task = case((CALL.c.task == wanted.task, 1), else_=0).label("same_task")
    same_mood = case(((opening.c.mood <= -FELT) == wanted.unhappy, 1), else_=0).label("same_mood")
    wells = func.sum(case((well, 1), else_=0)).label("well")
    found = (
        select(CALL.c.agent, same_task, same_mood, func.count().label("n"), wells)
        .join(opening, opening.c.call == CALL.c.id)
        .where(before, closing.is_not(None))
        .group_by(CALL.c.agent, same_task, same_mood)
    )
    return list(session.execute(found))


def _basis(rows: Sequence[Any], wanted: Wanted) -> tuple[Basis, dict[str, MeasureSummary]]:
    """The closest kind of calls of which there are enough."""
    kinds: tuple[tuple[Basis, bool, bool], ...] = (
        ("task and mood", True, True),
        ("task", True, False),
        ("mood", False, True),
        ("all calls", False, False),
    )
    for basis, task, mood in kinds:
        if task and not wanted.task:
            continue
        chosen: dict[str, MeasureSummary] = {}
        for row in rows:
            if (row.same_task or not task) and (row.same_mood or not mood):
                chosen[row.agent] = chosen.get(row.agent, _summary(0, 0)) + _summary(row.n, row.well)
        if basis == "all calls" or sum(summary.n for summary in chosen.values()) >= ENOUGH:
            return basis, chosen
    raise AssertionError("there is always one")


def _summary(n: int, well: int) -> MeasureSummary:
    return MeasureSummary(n, float(well), float(well), 0.0, 1.0)
