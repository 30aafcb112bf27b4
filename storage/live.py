"""Calls going on now: what the Live page starts from, before the bus tells it what changes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec
from sqlalchemy import Select, func, select, text
from sqlmodel import Session

from storage import tables
from storage.sides import side
from storage.viewer import Viewer

SENTENCES = 80
"""How far back the mood curves go: about forty sentences a side."""

CALLS, SAID, ALERTS = (tables.Call.metadata.tables[name] for name in ("calls", "sentences", "alerts"))
OF_CALL = (
    *("id", "state", "medium", "agent", "customer", "site", "queue", "started_at", "task", "swapped", "mood_caller"),
    *("mood_agent", "sentences", "alerts", "escalations", "metrics", "sample"),
)
OF_SENTENCE = ("id", "role", "start_ms", "end_ms", "text", "sentiment", "mood", "intent")
OF_ALERT = ("id", "call", "rule", "severity", "text", "at_ms", "at", "escalation", "sentence")


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
    postgres = connection.dialect.name == "postgresql"
    calls: dict[str, LiveCall] = {}
    last: dict[str, LiveCall] = {}
    for row in connection.execute(live_query(viewer, site, queue, postgres)).mappings():
        if not row["started_at"]:  # nothing but a sentence is known of it yet
            continue
        fields = dict(row)
        moods, last_id = fields.pop("moods"), fields.pop("last_id")
        call = calls[fields["id"]] = LiveCall(**fields)
        if last_id is not None:
            last[last_id] = call
        for start_ms, role, mood in reversed(moods if postgres else msgspec.json.decode(moods)):
            call.moods.setdefault(side(role, call.swapped), []).append((start_ms, mood))
    for row in connection.execute(_last_sentences(list(last))).mappings() if last else ():
        call = last[row["id"]]
        call.last = {**row, "role": side(row["role"], call.swapped)}
    for row in connection.execute(_alerts(list(calls))).mappings() if calls else ():
        alert = dict(row)
        calls[alert.pop("call")].raised.append(alert)
    return sorted(calls.values(), key=lambda call: call.started_at)


def live_query(viewer: Viewer, site: str, queue: str, postgres: bool) -> Select[Any]:
    """One row a call. The curves come as one value each, read from the index alone. Not in order, lest a planner
    choose the index of all calls by time over that of the few live ones."""
    newest = SAID.c.start_ms.desc()
    of_call = SAID.c.call == CALLS.c.id
    recent = select(SAID.c.start_ms, SAID.c.role, SAID.c.mood).where(of_call).correlate(CALLS)
    tail = recent.order_by(newest).limit(SENTENCES).subquery()
    listed, row = (func.json_agg, func.json_build_array) if postgres else (func.json_group_array, func.json_array)
    moods = select(func.coalesce(listed(row(*tail.c)), func.json_array() if not postgres else func.json_build_array()))
    last = select(SAID.c.id).where(of_call).correlate(CALLS).order_by(newest).limit(1)
    query = select(
        *(CALLS.c[name] for name in OF_CALL),
        moods.scalar_subquery().label("moods"),
        last.scalar_subquery().label("last_id"),
    ).where(text(tables.LIVE), viewer.clause())
    if site:
        query = query.where(CALLS.c.site == site)
    if queue:
        query = query.where(CALLS.c.queue == queue)
    return query


def _last_sentences(ids: list[str]) -> Select[Any]:
    return select(*(SAID.c[name] for name in OF_SENTENCE)).where(SAID.c.id.in_(ids))


def _alerts(calls: list[str]) -> Select[Any]:
    return select(*(ALERTS.c[name] for name in OF_ALERT)).where(ALERTS.c.call.in_(calls)).order_by(ALERTS.c.at_ms)
