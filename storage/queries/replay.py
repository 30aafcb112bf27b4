"""Calls that are over, read one after the other for rules to be tried on, and the alerts that come of it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import select
from sqlmodel import Session, col

from storage.db.engine import Database
from storage.labels.effective import side
from storage.tables import Alert, Audit, Call, Sentence
from storage.viewer import Viewer
from storage.writer.event_batch import EventBatch
from tenor import events

OVER = ("ended", "analysed", "failed")
AT_ONCE = 100
"""Calls read in one go."""


@dataclass(frozen=True, slots=True)
class PastCall:
    """A call as it went over the bus, with the sides as people left them."""

    id: str
    info: events.Call
    end_ms: int
    sentences: list[events.Sentence]
    alerts: list[events.Alert]


def ids(session: Session, viewer: Viewer, *, since: float = 0.0, call: str = "") -> list[str]:
    """Calls that are over, the oldest first."""
    wanted = select(col(Call.id)).where(viewer.clause(), col(Call.state).in_(OVER), col(Call.started_at) >= since)
    if call:
        wanted = wanted.where(col(Call.id) == call)
    return list(session.scalars(wanted.order_by(col(Call.started_at), col(Call.id))))


def past_calls(database: Database, viewer: Viewer, calls: Sequence[str]) -> Iterator[PastCall]:
    for start in range(0, len(calls), AT_ONCE):
        some = calls[start : start + AT_ONCE]
        with database.session() as session:
            rows = session.scalars(select(Call).where(col(Call.id).in_(some), viewer.clause())).all()
            sentences = _by_call(session.scalars(select(Sentence).where(col(Sentence.call).in_(some))))
            raised = select(Alert).where(col(Alert.call).in_(some)).order_by(col(Alert.at_ms))
            alerts = _by_call(session.scalars(raised))
        for row in sorted(rows, key=lambda row: (row.started_at, row.id)):
            yield PastCall(
                row.id,
                _info(row),
                row.duration_ms,
                [_sentence(sentence, row.swapped) for sentence in sentences.get(row.id, [])],
                [_alert(alert) for alert in alerts.get(row.id, [])],
            )


def add(database: Database, alerts: Sequence[events.Alert], who: str, detail: Mapping[str, Any]) -> int:
    """Write alerts that were found afterwards, all or none, beside those that are there. How many were new."""
    with database.begin() as session:
        wanted = [alert.alert for alert in alerts]
        there = set[str]()
        for start in range(0, len(wanted), AT_ONCE):
            some = wanted[start : start + AT_ONCE]
            there.update(session.scalars(select(col(Alert.id)).where(col(Alert.id).in_(some))))
        new = [alert for alert in alerts if alert.alert not in there]
        for start in range(0, len(new), AT_ONCE):
            EventBatch((alert, alert.at) for alert in new[start : start + AT_ONCE]).write(session)
        session.add(
            Audit(at=time.time(), who=who, action="rules.replayed", detail={**detail, "alerts_added": len(new)})
        )
    return len(new)


def _by_call(rows: Any) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for row in rows:
        found.setdefault(row.call, []).append(row)
    return found


def _info(row: Call) -> events.Call:
    roles = tuple(side(role, row.swapped) for role in row.roles)
    return msgspec.convert(
        {**row.model_dump(), "roles": roles, "redact": row.redact or None}, events.Call, strict=False
    )


def _sentence(row: Sentence, swapped: bool) -> events.Sentence:
    told = {**row.model_dump(), "type": "sentence", "sentence": row.id, "role": side(row.role, swapped)}
    return msgspec.convert(told, events.Sentence)


def _alert(row: Alert) -> events.Alert:
    return msgspec.convert({**row.model_dump(), "type": "alert", "alert": row.id}, events.Alert)
