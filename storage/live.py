"""Calls going on now: what the Live page starts from, before the bus tells it what changes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import Select, Subquery, Text, cast, func, select, text
from sqlmodel import Session

from storage import tables
from storage.sides import side
from storage.viewer import Viewer

SENTENCES = 80
"""How far back the mood curves go: about forty sentences a side."""

CALLS, SAID, ALERTS = (tables.Call.metadata.tables[name] for name in ("calls", "sentences", "alerts"))
_curves = msgspec.json.Decoder(dict[str, list[tuple[int, float]]]).decode
OF_CALL = (
    *("id", "state", "medium", "agent", "customer", "site", "queue", "started_at", "task", "swapped", "mood_caller"),
    *("mood_agent", "sentences", "alerts", "escalations", "metrics", "sample"),
)
OF_SENTENCE = ("id", "role", "start_ms", "end_ms", "text", "sentiment", "mood", "intent")
OF_ALERT = ("id", "rule", "severity", "text", "at_ms", "at", "escalation", "sentence")


@dataclass(slots=True)
class LiveCall:
    """A tile of the Live page."""

    id: str
    state: str
    medium: str
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
    moods: dict[str, list[tuple[int, float]]] = field(default_factory=dict)
    """By side, oldest first: position of the sentence in milliseconds, and its mood."""
    last: dict[str, Any] | None = None
    """The last sentence: id, role, start_ms, end_ms, text, sentiment, mood, intent."""
    raised: list[dict[str, Any]] = field(default_factory=list)
    """Its alerts, oldest first: id, rule, severity, text, at_ms, at, escalation, sentence."""


def live_calls(session: Session, viewer: Viewer, *, site: str = "", queue: str = "") -> list[LiveCall]:
    """The calls going on now that this viewer may see, longest first."""
    connection = session.connection()
    live, raised = live_queries(viewer, site, queue, connection.dialect.name)
    calls: dict[str, LiveCall] = {}
    for *fields, moods, last in connection.execute(live).all():
        call = LiveCall(*fields)
        if not call.started_at:  # nothing but a sentence is known of it yet
            continue
        calls[call.id] = call
        if last is not None:
            call.moods = {side(role, call.swapped): sorted(curve) for role, curve in _curves(moods).items()}
            call.last = dict(zip(OF_SENTENCE, msgspec.json.decode(last), strict=True))
            call.last["role"] = side(call.last["role"], call.swapped)
    for name, *values in connection.execute(raised).all():
        if name in calls:
            calls[name].raised.append(dict(zip(OF_ALERT, values, strict=True)))
    return sorted(calls.values(), key=lambda call: call.started_at)


@lru_cache(maxsize=1024)
def live_queries(viewer: Viewer, site: str, queue: str, dialect: str) -> tuple[Select[Any], Select[Any]]:
    """One row a call, and one an alert. A call's curves and its last sentence come as one value each: the curves are
    made from the index alone. Not in order, lest a planner choose the index of all calls by time over that of the few
    live ones."""
    live: list[Any] = [text(tables.LIVE), viewer.clause()]
    live += [CALLS.c[name] == value for name, value in (("site", site), ("queue", queue)) if value]
    newest = SAID.c.start_ms.desc()
    of_call = SAID.c.call == CALLS.c.id
    curves = select(SAID.c.start_ms, SAID.c.role, SAID.c.mood).where(of_call).correlate(CALLS)
    moods = _by_role(curves.order_by(newest).limit(SENTENCES).subquery(), dialect)
    last = select(_array(dialect, *(SAID.c[name] for name in OF_SENTENCE))).where(of_call).correlate(CALLS)
    last_one = last.order_by(newest).limit(1)
    columns = (CALLS.c[name] for name in OF_CALL)
    calls = select(*columns, moods.scalar_subquery(), last_one.scalar_subquery()).where(*live)
    alerts = select(ALERTS.c.call, *(ALERTS.c[name] for name in OF_ALERT)).join(CALLS, CALLS.c.id == ALERTS.c.call)
    return calls, alerts.where(*live).order_by(ALERTS.c.at_ms)


def _by_role(recent: Subquery, dialect: str) -> Select[Any]:
    """JSON: `{"caller": [[start_ms, mood], ...], ...}`."""
    point = (recent.c.start_ms, recent.c.mood)
    if dialect == "postgresql":
        curve = func.json_agg(func.json_build_array(*point)).label("curve")
        curves = select(recent.c.role, curve).group_by(recent.c.role).subquery()
        return select(cast(func.json_object_agg(curves.c.role, curves.c.curve), Text))
    curve = func.json_group_array(func.json_array(*point)).label("curve")
    curves = select(recent.c.role, curve).group_by(recent.c.role).subquery()
    return select(func.json_group_object(curves.c.role, func.json(curves.c.curve)))


def _array(dialect: str, *values: Any) -> Any:
    return cast(func.json_build_array(*values), Text) if dialect == "postgresql" else func.json_array(*values)
