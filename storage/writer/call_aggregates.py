"""What a call's row tells of its sentences and alerts, worked out again from them, so that it is always true."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec
from sqlalchemy import Select, Text, bindparam, case, cast, func, select, text, update
from sqlmodel import Session

from storage import tables
from storage.labels.effective import AGENT, CALLER, side

CALLS, SENTENCES, ALERTS = (tables.Call.metadata.tables[name] for name in ("calls", "sentences", "alerts"))
DIGITS = 6
"""Means are rounded, so that they do not depend on the order of the rows."""
CURVE = 80
"""Sentences that the mood curves of a live call go back: about forty a side."""
AGGREGATES = (
    *("sentences", "alerts", "escalations", "mood_caller", "mood_agent", "duration_ms", "talk_share_agent"),
    *("silence_share", "curves"),
)
_points = msgspec.json.Decoder(list[tuple[str, int, float]]).decode
THESE: Any = bindparam("calls", expanding=True)


def _mean(role: str) -> Any:
    return func.avg(case((SENTENCES.c.role == role, SENTENCES.c.mood))).label(role)


# Statements are put together once: that takes longer than running them.
_OF_SENTENCES = (
    select(
        SENTENCES.c.call,
        func.count().label("count"),
        func.max(SENTENCES.c.end_ms).label("end_ms"),
        _mean(CALLER),
        _mean(AGENT),
    )
    .where(SENTENCES.c.call.in_(THESE))
    .group_by(SENTENCES.c.call)
)
_ESCALATED = func.sum(case((ALERTS.c.escalation, 1), else_=0)).label("escalations")
_OF_ALERTS = (
    select(ALERTS.c.call, func.count().label("count"), _ESCALATED)
    .where(ALERTS.c.call.in_(THESE))
    .group_by(ALERTS.c.call)
)
_CALLS = select(CALLS.c.id, CALLS.c.swapped, CALLS.c.metrics, CALLS.c.metrics_ms).where(CALLS.c.id.in_(THESE))
_UPDATE = update(CALLS).where(CALLS.c.id == bindparam("of_call")).values({name: bindparam(name) for name in AGGREGATES})


def _curves(dialect: str) -> Select[Any]:
    """Of the calls that are live, from the index alone: the last points as JSON."""
    points = select(SENTENCES.c.role, SENTENCES.c.start_ms, SENTENCES.c.mood).where(SENTENCES.c.call == CALLS.c.id)
    last = points.correlate(CALLS).order_by(SENTENCES.c.start_ms.desc()).limit(CURVE).subquery()
    if dialect == "postgresql":
        made: Any = cast(func.json_agg(func.json_build_array(*last.c)), Text)
    else:
        made = func.json_group_array(func.json_array(*last.c))
    return select(CALLS.c.id, select(made).scalar_subquery()).where(CALLS.c.id.in_(THESE), text(tables.LIVE))


_CURVES = {dialect: _curves(dialect) for dialect in ("postgresql", "sqlite")}


def refresh(session: Session, calls: Collection[str]) -> None:
    """Bring the rows of these calls in line with what belongs to them."""
    connection, these = session.connection(), {"calls": list(calls)}
    said = {row.call: row for row in connection.execute(_OF_SENTENCES, these)}
    raised = {row.call: row for row in connection.execute(_OF_ALERTS, these)}
    curves: dict[str, str] = dict(connection.execute(_CURVES[connection.dialect.name], these).tuples().all())
    rows = connection.execute(_CALLS, these).all()
    if rows:
        aggregates = [_aggregates(row, said.get(row.id), raised.get(row.id), curves.get(row.id)) for row in rows]
        connection.execute(_UPDATE, aggregates)


def _aggregates(call: Any, said: Any, raised: Any, points: str | None) -> dict[str, Any]:
    moods = {side(role, call.swapped): getattr(said, role) if said else None for role in (CALLER, AGENT)}
    return {
        "of_call": call.id,
        "sentences": said.count if said else 0,
        "alerts": raised.count if raised else 0,
        "escalations": raised.escalations if raised else 0,
        "mood_caller": _rounded(moods[CALLER]),
        "mood_agent": _rounded(moods[AGENT]),
        "duration_ms": max(call.metrics_ms, said.end_ms if said else 0),
        "talk_share_agent": call.metrics.get(f"talk_share.{side(AGENT, call.swapped)}"),
        "silence_share": call.metrics.get("silence_share"),
        "curves": _by_role(points) if said and points else "",
    }


def _by_role(points: str) -> str:
    """As the platform told the roles, oldest first."""
    curves: dict[str, list[tuple[int, float]]] = {}
    for role, start_ms, mood in sorted(_points(points)):
        curves.setdefault(role, []).append((start_ms, round(mood, 3)))  # short enough to stay in the row
    return msgspec.json.encode(curves).decode()


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(float(value), DIGITS)
