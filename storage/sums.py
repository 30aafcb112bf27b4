"""What a call's row tells of its sentences and alerts, worked out again from them, so that it is always true."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import bindparam, case, func, select, update
from sqlmodel import Session

from storage import tables
from storage.sides import AGENT, CALLER, side

CALLS, SENTENCES, ALERTS = (tables.Call.metadata.tables[name] for name in ("calls", "sentences", "alerts"))
DIGITS = 6
"""Means are rounded, so that they do not depend on the order of the rows."""
SUMS = (
    *("sentences", "alerts", "escalations", "mood_caller", "mood_agent", "duration_ms", "talk_share_agent"),
    "silence_share",
)
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
_UPDATE = update(CALLS).where(CALLS.c.id == bindparam("of_call")).values({name: bindparam(name) for name in SUMS})


def refresh(session: Session, calls: Collection[str]) -> None:
    """Bring the rows of these calls in line with what belongs to them."""
    connection, these = session.connection(), {"calls": list(calls)}
    said = {row.call: row for row in connection.execute(_OF_SENTENCES, these)}
    raised = {row.call: row for row in connection.execute(_OF_ALERTS, these)}
    rows = connection.execute(_CALLS, these).all()
    if rows:
        connection.execute(_UPDATE, [_sums(row, said.get(row.id), raised.get(row.id)) for row in rows])


def _sums(call: Any, said: Any, raised: Any) -> dict[str, Any]:
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
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(float(value), DIGITS)
