"""What people say a sentence is, where they said so: the newest label of a kind wins over the models' answer, one by
the agent who took the call only where nobody else made one."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, case, func, select

from storage.tables import Call, Label, Sentence

LABEL = Label.__table__  # type: ignore[attr-defined]
SENTENCE = Sentence.__table__  # type: ignore[attr-defined]
CALL = Call.__table__  # type: ignore[attr-defined]
LABELLED = CALL.alias("labelled")
"""SQLite cannot sort a subquery by a column of the query around it."""


class Said(NamedTuple):
    """A sentence as people left it."""

    id: str
    call: str
    role: str
    text: str
    sentiment: str
    intent: str
    start_ms: int
    spoken_at: float


def said() -> Select[Any]:
    """Sentences as people left them, joined with their calls: `Said(*row)`."""
    left = (effective(name).label(name) for name in ("role", "text", "sentiment", "intent"))
    found = select(SENTENCE.c.id, SENTENCE.c.call, *left, SENTENCE.c.start_ms, SENTENCE.c.spoken_at)
    return found.select_from(SENTENCE).join(CALL, CALL.c.id == SENTENCE.c.call)


def effective(kind: str) -> ColumnElement[Any]:
    """`sentiment`, `intent`, `text` or `role` of a sentence, as people left it. For a query that reads `sentences`,
    and `calls` too when it is about the role."""
    newest = (
        select(LABEL.c.value)
        .join(LABELLED, LABELLED.c.id == LABEL.c.call)
        .where(and_(LABEL.c.sentence == SENTENCE.c.id, LABEL.c.kind == kind))
        .order_by(LABEL.c.author == LABELLED.c.agent, LABEL.c.at.desc(), LABEL.c.id.desc())
        .limit(1)
        .correlate(SENTENCE)
        .scalar_subquery()
    )
    return func.coalesce(newest, told_role() if kind == "role" else SENTENCE.c[kind])


def told_role() -> ColumnElement[Any]:
    """Who said it by the channel, the sides turned round when a person said so."""
    role = SENTENCE.c.role
    return case(
        (and_(CALL.c.swapped, role == "caller"), "agent"),
        (and_(CALL.c.swapped, role == "agent"), "caller"),
        else_=role,
    )
