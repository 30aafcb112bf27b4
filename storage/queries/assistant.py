"""Conversations with the assistant: which there are, the turns of one, and how those of a period came out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import ColumnElement, Select, and_, case, func, or_, select
from sqlmodel import Session, col

from storage.queries.calls import find
from storage.queries.history import OVER, Scope
from storage.queries.periods import Period
from storage.tables import Call, Turn
from storage.viewer import Viewer

CALL = Call.__table__  # type: ignore[attr-defined]
TURN = Turn.__table__  # type: ignore[attr-defined]
MOST = 500
"""Conversations of a list."""
SAID = ("heard", "key")
"""Events of turns that the shopper began."""
Outcome = Literal["contained", "handed_over", "gave_up", "silent", "going_on"]


@dataclass(frozen=True, slots=True)
class Conversation:
    call: Call
    turns: int
    handed_over: bool


@dataclass(frozen=True, slots=True)
class StateFigures:
    """What became of the conversations that stood in a state after one of their turns."""

    state: str
    """As `flow.state`."""
    reached: int
    gave_up: int = 0
    """Of these, the shopper left here."""
    handed_over: int = 0
    """Of these, a person was called here."""


@dataclass(frozen=True, slots=True)
class AssistantFigures:
    """Conversations of a period by what became of them; each is counted once.

    `handed_over`: a person was called. `gave_up`: the shopper left while a question was open, or after a line that was
    not understood. `silent`: the shopper said nothing. `contained`: all others that are over.
    """

    outcomes: Mapping[Outcome, int] = field(default_factory=dict)
    reasons: tuple[tuple[str, int], ...] = ()
    """Why a person was called, the most frequent first."""
    states: tuple[StateFigures, ...] = ()
    """Those where most gave up first."""
    sample: bool = False
    """Whether some of the conversations are made up."""

    def __getitem__(self, outcome: Outcome) -> int:
        return self.outcomes.get(outcome, 0)

    @property
    def conversations(self) -> int:
        return sum(self.outcomes.values())

    @property
    def over(self) -> int:
        """Those in which the shopper said something and that came to an end, or to a person."""
        return self["contained"] + self["handed_over"] + self["gave_up"]


def latest(session: Session, viewer: Viewer, limit: int = 100) -> list[Conversation]:
    """The newest first."""
    of_call = select(TURN.c.call).where(TURN.c.call == CALL.c.id)
    newest = select(Call).where(viewer.clause(), of_call.exists()).order_by(CALL.c.started_at.desc(), CALL.c.id.desc())
    calls = list(session.scalars(newest.limit(max(1, min(limit, MOST)))))
    counted = select(TURN.c.call, func.count().label("turns"), func.max(_flag(_handed())).label("handed"))
    counted = counted.where(TURN.c.call.in_([call.id for call in calls])).group_by(TURN.c.call)
    rows = {row.call: row for row in session.execute(counted)}
    return [Conversation(call, rows[call.id].turns, bool(rows[call.id].handed)) for call in calls if call.id in rows]


def turns_of(session: Session, viewer: Viewer, call: str) -> list[Turn]:
    """In order; none if the call is not there or not this viewer's to see."""
    if find(session, viewer, call) is None:
        return []
    return list(session.scalars(select(Turn).where(col(Turn.call) == call).order_by(col(Turn.turn))))


def figures(session: Session, viewer: Viewer, period: Period) -> AssistantFigures:
    """Of the conversations that began in the period."""
    outcomes: Counter[Outcome] = Counter()
    left: Counter[str] = Counter()
    sample = False
    for row in session.execute(_by_outcome(viewer, period)):
        outcomes[row.outcome] += row.times
        sample = sample or bool(row.sample)
        if row.outcome == "gave_up":
            left[row.state] += row.times
    reasons, handed = _handovers(session, _in_period(_handed_turns(), viewer, period))
    reached = select(TURN.c.state, func.count(TURN.c.call.distinct()).label("calls"))
    reached = _in_period(reached, viewer, period).group_by(TURN.c.state)
    states = [
        StateFigures(row.state, row.calls, left[row.state], handed[row.state]) for row in session.execute(reached)
    ]
    states.sort(key=lambda one: (-one.gave_up, -one.handed_over, -one.reached, one.state))
    return AssistantFigures(dict(outcomes), tuple(reasons.most_common()), tuple(states), sample)


def _by_outcome(viewer: Viewer, period: Period) -> Select[Any]:
    each = select(
        TURN.c.call,
        func.max(TURN.c.turn).label("last"),
        func.max(_flag(_handed())).label("handed"),
        func.sum(_flag(TURN.c.event.in_(SAID))).label("lines"),
    )
    calls = _in_period(each, viewer, period).group_by(TURN.c.call).subquery()
    outcome = case(
        (calls.c.handed == 1, "handed_over"),
        (and_(CALL.c.state.not_in(OVER), TURN.c.ended.is_(False)), "going_on"),
        (calls.c.lines == 0, "silent"),
        (and_(TURN.c.ended.is_(False), _left_open()), "gave_up"),
        else_="contained",
    )
    came_out = (
        select(TURN.c.state, CALL.c.sample, outcome.label("outcome"))
        .join(calls, and_(calls.c.call == TURN.c.call, calls.c.last == TURN.c.turn))
        .join(CALL, CALL.c.id == TURN.c.call)
        .subquery()
    )
    columns = (came_out.c.state, came_out.c.outcome, came_out.c.sample)
    return select(*columns, func.count().label("times")).group_by(*columns)


def handovers(session: Session, viewer: Viewer, scope: Scope, period: Period) -> Counter[str]:
    """Of conversations that are over, by reason."""
    return _handovers(session, _in_period(_handed_turns(), viewer, period).where(scope.clause()))[0]


def _handed_turns() -> Select[Any]:
    return select(TURN.c.call, TURN.c.state, TURN.c.handover, TURN.c.actions).where(_handed())


def _handovers(session: Session, wanted: Select[Any]) -> tuple[Counter[str], Counter[str]]:
    """By reason, and by state: the first of each conversation."""
    reasons: Counter[str] = Counter()
    states: Counter[str] = Counter()
    seen: set[str] = set()
    for row in session.execute(wanted.order_by(TURN.c.call, TURN.c.turn)):
        if row.call not in seen:
            seen.add(row.call)
            reasons[_reason(row.handover, row.actions)] += 1
            states[row.state] += 1
    return reasons, states


def _reason(handover: Mapping[str, Any], actions: list[Any]) -> str:
    """As the action that called the person was given it; a flow may call for one without an action."""
    for action in actions:
        match action:
            case {"name": "handover", "arguments": {"reason": str(reason)}} if reason:
                return reason
    return str(handover.get("reason") or "")


def _in_period(query: Select[Any], viewer: Viewer, period: Period) -> Select[Any]:
    return query.join(CALL, CALL.c.id == TURN.c.call).where(viewer.clause(), period.includes(CALL.c.started_at))


def _handed() -> ColumnElement[bool]:
    reason: ColumnElement[str] = TURN.c.handover["reason"].as_string()
    return reason.is_not(None)


def _left_open() -> ColumnElement[bool]:
    """A question was open after the turn, or the last lines were not understood. Being asked whether to go on
    (`resume`) is a question only if another is under it."""
    kind = TURN.c.session[("pending", "kind")].as_string()
    under = TURN.c.session[("pending", "under", "kind")].as_string()
    asked = and_(kind.is_not(None), or_(kind != "resume", under.is_not(None)))
    return or_(asked, TURN.c.session["failures"].as_integer() > 0)


def _flag(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return case((condition, 1), else_=0)
