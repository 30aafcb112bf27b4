"""What people say a sentence is, where they said so: the newest label of a kind wins over the models' answer."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, and_, case, func, select

from storage.tables import Call, Label, Sentence

LABEL = Label.__table__  # type: ignore[attr-defined]
SENTENCE = Sentence.__table__  # type: ignore[attr-defined]
CALL = Call.__table__  # type: ignore[attr-defined]


def effective(kind: str) -> ColumnElement[Any]:
    """`sentiment`, `intent`, `text` or `role` of a sentence, as people left it. For a query that reads `sentences`,
    and `calls` too when it is about the role."""
    newest = (
        select(LABEL.c.value)
        .where(and_(LABEL.c.sentence == SENTENCE.c.id, LABEL.c.kind == kind))
        .order_by(LABEL.c.at.desc(), LABEL.c.id.desc())
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
