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


def refresh(session: Session, calls: Collection[str]) -> None:
    """Bring the rows of these calls in line with what belongs to them."""
    connection = session.connection()
    said = {row.call: row for row in connection.execute(_of_sentences(calls))}
    raised = {row.call: row for row in connection.execute(_of_alerts(calls))}
    columns = (CALLS.c.id, CALLS.c.swapped, CALLS.c.metrics, CALLS.c.metrics_ms)
    rows = connection.execute(select(*columns).where(CALLS.c.id.in_(calls))).all()
    if rows:
        changes = [_sums(row, said.get(row.id), raised.get(row.id)) for row in rows]
        connection.execute(
            update(CALLS)
            .where(CALLS.c.id == bindparam("of_call"))
            .values({name: bindparam(name) for name in changes[0] if name != "of_call"}),
            changes,
        )


def _of_sentences(calls: Collection[str]) -> Any:
    def mean(role: str) -> Any:
        return func.avg(case((SENTENCES.c.role == role, SENTENCES.c.mood))).label(role)

    longest = func.max(SENTENCES.c.end_ms).label("end_ms")
    columns = (SENTENCES.c.call, func.count().label("count"), longest, mean(CALLER), mean(AGENT))
    return select(*columns).where(SENTENCES.c.call.in_(calls)).group_by(SENTENCES.c.call)


def _of_alerts(calls: Collection[str]) -> Any:
    escalations = func.sum(case((ALERTS.c.escalation, 1), else_=0)).label("escalations")
    columns = (ALERTS.c.call, func.count().label("count"), escalations)
    return select(*columns).where(ALERTS.c.call.in_(calls)).group_by(ALERTS.c.call)


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
