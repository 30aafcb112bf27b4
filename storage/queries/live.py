"""Calls going on now: what the Live page starts from, before the bus tells it what changes."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import Select, Text, case, cast, func, select, text
from sqlmodel import Session, col

from storage import tables
from storage.labels.effective import effective_labels, side, sides
from storage.viewer import Viewer

CALLS, SAID, ALERTS = (tables.Call.metadata.tables[name] for name in ("calls", "sentences", "alerts"))
_curves = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
OF_CALL = (
    *(
        "id",
        "state",
        "medium",
        "source",
        "agent",
        "customer",
        "site",
        "queue",
        "started_at",
        "task",
        "swapped",
        "mood_caller",
    ),
    *("mood_agent", "sentences", "alerts", "escalations", "metrics", "sample", "handover", "attributes"),
)
OF_SENTENCE = ("id", "role", "start_ms", "end_ms", "text", "sentiment", "mood", "intent")
OF_LABEL = ("kind", "value", "author", "at")
OF_ALERT = ("id", "rule", "severity", "text", "at_ms", "at", "escalation", "sentence")


@dataclass(slots=True)
class LiveCall:
    """A tile of the Live page."""

    id: str
    state: str
    medium: str
    source: str
    agent: str
    customer: str
    site: str
    queue: str
    started_at: float
    task: str
    swapped: bool
    mood_caller: float | None
    mood_agent: float | None
    sentences: int
    alerts: int
    escalations: int
    metrics: dict[str, float]
    sample: bool
    handover: dict[str, Any]
    """Of a conversation with the assistant: who has it."""
    attributes: dict[str, Any]
    sides: dict[str, str] = field(default_factory=dict)
    """Who really speaks under a role that the platform told, where that is not who it says."""
    moods: dict[str, msgspec.Raw] = field(default_factory=dict)
    """By side, oldest first, the position of each sentence in milliseconds and its mood: JSON, since nobody reads it
    before the browser."""
    last: dict[str, Any] | None = None
    """The last sentence as people left it: id, role, start_ms, end_ms, text, sentiment, mood, intent."""
    corrections: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What people said of it that counts, by kind: kind, value, author, at."""
    raised: list[dict[str, Any]] = field(default_factory=list)
    """Its alerts, oldest first: id, rule, severity, text, at_ms, at, escalation, sentence."""


def live_calls(session: Session, viewer: Viewer, *, site: str = "", queue: str = "") -> list[LiveCall]:
    """The calls going on now that this viewer may see, longest first."""
    connection = session.connection()
    calls: list[LiveCall] = []
    for *fields, curves, last, raised in connection.execute(
        live_query(viewer, site, queue, connection.dialect.name)
    ).all():
        call = LiveCall(*fields)
        if not call.started_at:  # nothing but a sentence is known of it yet
            continue
        calls.append(call)
        call.sides = sides(call.swapped)
        if curves:
            call.moods = {side(role, call.swapped): curve for role, curve in _curves(curves).items()}
        if last is not None:
            call.last = dict(zip(OF_SENTENCE, msgspec.json.decode(last), strict=True))
            call.last["role"] = side(call.last["role"], call.swapped)
        if raised is not None:
            alerts = (dict(zip(OF_ALERT, alert, strict=True)) for alert in msgspec.json.decode(raised))
            call.raised = sorted(alerts, key=lambda alert: alert["at_ms"])
            for alert in call.raised:
                alert["escalation"] = bool(alert["escalation"])  # SQLite's JSON has 0 and 1
    _correct(session, {call.last["id"]: call for call in calls if call.last is not None})
    return sorted(calls, key=lambda call: call.started_at)


def _correct(session: Session, calls: dict[str, LiveCall]) -> None:
    """What people said of the last sentences, by whose ids the calls are named here."""
    labels: dict[str, list[tables.Label]] = defaultdict(list)
    for label in session.scalars(select(tables.Label).where(col(tables.Label.sentence).in_(calls))):
        labels[label.sentence or ""].append(label)
    for sentence, said in labels.items():
        call = calls[sentence]
        assert call.last is not None
        for kind, label in effective_labels(said, call.agent).items():
            if kind == "slots":
                continue  # no tile shows them
            call.last[kind] = label.value
            call.corrections[kind] = {name: getattr(label, name) for name in OF_LABEL}


@lru_cache(maxsize=1024)
def live_query(viewer: Viewer, site: str, queue: str, dialect: str) -> Select[Any]:
    """One row a call, its last sentence and its alerts as one value each: one way to the database and back. Not in
    order, lest a planner choose the index of all calls by time over that of the few live ones."""
    live: list[Any] = [text(tables.LIVE), viewer.clause_now()]
    live += [CALLS.c[name] == value for name, value in (("site", site), ("queue", queue)) if value]
    said = select(_array(dialect, *(SAID.c[name] for name in OF_SENTENCE))).where(SAID.c.call == CALLS.c.id)
    last = said.correlate(CALLS).order_by(SAID.c.start_ms.desc()).limit(1)
    together = func.json_agg if dialect == "postgresql" else func.json_group_array
    alerts = select(_text(dialect, together(_array(dialect, *(ALERTS.c[name] for name in OF_ALERT)))))
    of_call = alerts.where(ALERTS.c.call == CALLS.c.id).correlate(CALLS)
    raised = case((CALLS.c.alerts > 0, of_call.scalar_subquery()))
    columns = (CALLS.c[name] for name in OF_CALL)
    return select(*columns, CALLS.c.curves, _text(dialect, last.scalar_subquery()), raised).where(*live)


def _array(dialect: str, *values: Any) -> Any:
    return func.json_build_array(*values) if dialect == "postgresql" else func.json_array(*values)


def _text(dialect: str, value: Any) -> Any:
    return cast(value, Text) if dialect == "postgresql" else value
