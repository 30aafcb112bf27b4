"""Calls as pages and the API read them: one with all that belongs to it, or a list, newest first, page by page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import ColumnElement, Select, func, select, tuple_
from sqlmodel import Session, col

from storage.labels.effective import effective_values
from storage.tables import Alert, Call, Label, Note, Score, Sentence, Turn
from storage.viewer import Viewer
from tenor.errors import BadInput
from tenor.taxonomy.polarity import FELT

LIMIT = 500
"""Calls of one page, at most."""


@dataclass(frozen=True, slots=True)
class WholeCall:
    """A call and everything said in it and about it."""

    call: Call
    sentences: list[Sentence]
    """As the models understood them, in order of time."""
    alerts: list[Alert]
    notes: list[Note]
    labels: dict[str, list[Label]]
    """By sentence, oldest first: all that people said."""
    turns: list[Turn]
    """Of a conversation with the assistant, in order."""
    turn_labels: dict[str, list[Label]] = field(default_factory=dict)
    """By turn, oldest first."""
    scores: list[Score] = field(default_factory=list)
    """What people said of its scorecard, oldest first."""

    @property
    def all_labels(self) -> Iterator[Label]:
        for labels in (*self.labels.values(), *self.turn_labels.values()):
            yield from labels

    def said(self, sentence: Sentence) -> dict[str, str]:
        """Role, text, sentiment and intent of a sentence as people left them."""
        return effective_values(sentence, self.call, self.labels.get(sentence.id, ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFilter:
    """Which calls; what is empty or None does not matter."""

    agent: str = ""
    customer: str = ""
    site: str = ""
    queue: str = ""
    medium: str = ""
    states: tuple[str, ...] = ()
    task: str = ""
    mood: Literal["", "negative", "neutral", "positive"] = ""
    """How the caller felt; who said nothing felt none of it."""
    since: float | None = None
    """Started at this time or later,"""
    until: float | None = None
    """and before this one."""
    alerts: bool | None = None
    """With alerts, or without."""
    escalations: bool | None = None
    sample: bool | None = None
    """Only the generated history, or only what is real."""

    def clauses(self) -> list[ColumnElement[bool]]:
        found: list[Any] = [
            col(getattr(Call, name)) == getattr(self, name)
            for name in ("agent", "customer", "site", "queue", "medium", "task")
            if getattr(self, name)
        ]
        if self.mood:
            mood = col(Call.mood_caller)
            found.append(
                {"negative": mood <= -FELT, "neutral": func.abs(mood) < FELT, "positive": mood >= FELT}[self.mood]
            )
        if self.states:
            found.append(col(Call.state).in_(self.states))
        if self.since is not None:
            found.append(col(Call.started_at) >= self.since)
        if self.until is not None:
            found.append(col(Call.started_at) < self.until)
        for name in ("alerts", "escalations"):
            if (wanted := getattr(self, name)) is not None:
                count = col(getattr(Call, name))
                found.append(count > 0 if wanted else count == 0)
        if self.sample is not None:
            found.append(col(Call.sample) == self.sample)
        return found


@dataclass(frozen=True, slots=True)
class CallPage:
    calls: list[Call]
    after: str
    """Give this to get the page that follows; empty: there is none."""


def find(session: Session, viewer: Viewer, call_id: str) -> Call | None:
    """The call, unless it is not there or not this viewer's to see."""
    return session.scalars(select(Call).where(col(Call.id) == call_id, viewer.clause_now())).one_or_none()


def whole(session: Session, viewer: Viewer, call_id: str) -> WholeCall | None:
    """A call with its sentences, alerts, notes, labels and turns; None as with `find`."""
    call = find(session, viewer, call_id)
    if call is None:
        return None
    labels: dict[str, list[Label]] = {}
    turn_labels: dict[str, list[Label]] = {}
    for label in session.scalars(select(Label).where(col(Label.call) == call_id).order_by(col(Label.id))):
        if label.sentence is not None:
            labels.setdefault(label.sentence, []).append(label)
        else:
            turn_labels.setdefault(label.turn or "", []).append(label)
    in_order = (col(Sentence.start_ms), col(Sentence.channel), col(Sentence.id))
    return WholeCall(
        call,
        list(session.scalars(select(Sentence).where(col(Sentence.call) == call_id).order_by(*in_order))),
        list(session.scalars(select(Alert).where(col(Alert.call) == call_id).order_by(col(Alert.at_ms)))),
        list(session.scalars(select(Note).where(col(Note.call) == call_id).order_by(col(Note.at)))),
        labels,
        list(session.scalars(select(Turn).where(col(Turn.call) == call_id).order_by(col(Turn.turn)))),
        turn_labels,
        list(session.scalars(select(Score).where(col(Score.call) == call_id).order_by(col(Score.id)))),
    )


def page(
    session: Session, viewer: Viewer, wanted: CallFilter | None = None, *, after: str = "", limit: int = 50
) -> CallPage:
    """Calls, newest first. Where a page begins is the call it comes after, so new calls move nothing about."""
    limit = max(1, min(limit, LIMIT))
    found = list(session.scalars(listing(viewer, wanted or CallFilter(), after).limit(limit + 1)))
    calls = found[:limit]
    return CallPage(calls, f"{calls[-1].started_at!r}/{calls[-1].id}" if len(found) > limit else "")


def listing(viewer: Viewer, wanted: CallFilter, after: str = "") -> Select[Call]:
    place = (col(Call.started_at), col(Call.id))
    query = select(Call).where(viewer.clause(), *wanted.clauses())
    if after:
        started, slash, call_id = after.partition("/")
        try:
            query = query.where(tuple_(*place) < tuple_(float(started), call_id))
        except ValueError:
            slash = ""
        if not slash:
            raise BadInput(f"{after!r} is not the end of a page of calls", "leave `after` empty for the first page")
    return query.order_by(*(column.desc() for column in place))
