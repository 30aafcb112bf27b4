"""Which of a sentence's labels counts, and which side of a call is whose: once in Python and once in SQL, tested equal.

The newest label of a kind stands in the place of the models' answer. One by the agent who took the call counts only
where nobody else made one: agents see their own calls alone, and do not have the last word on how they went.
A label that is held counts for nothing until a person decides about its author.
The sides are as the platform told them, or turned round when a person said so (`calls.swapped`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, case, func, select

from storage.tables import Call, Label, Sentence

LABEL = Label.__table__  # type: ignore[attr-defined]
SENTENCE = Sentence.__table__  # type: ignore[attr-defined]
CALL = Call.__table__  # type: ignore[attr-defined]
LABELLED = CALL.alias("labelled")
"""SQLite cannot sort a subquery by a column of the query around it."""
CALLER, AGENT = "caller", "agent"
OTHER = {CALLER: AGENT, AGENT: CALLER}
LABELLED_FIELDS = ("role", "text", "sentiment", "intent")
"""What of a sentence people can put right and is a text of its own; slots are tags of words (tags.py)."""


def sides(swapped: bool) -> dict[str, str]:
    """Who really speaks under a role that the platform told; a role that is not here is as it was told."""
    return OTHER if swapped else {}


def side(role: str, swapped: bool) -> str:
    """Who really spoke, of a role as the platform told it."""
    return sides(swapped).get(role, role)


def effective_labels(labels: Iterable[Label], agent: str) -> dict[str, Label]:
    """Of a sentence's or turn's labels those that count, by kind; `agent` is who took the call."""
    counted = (one for one in labels if not one.held)
    return {one.kind: one for one in sorted(counted, key=lambda one: (one.author != agent, one.at, one.id or 0))}


def effective_values(sentence: Sentence, call: Call, labels: Iterable[Label]) -> dict[str, str]:
    """Role, text, sentiment and intent of a sentence as people left them."""
    models = {name: getattr(sentence, name) for name in LABELLED_FIELDS}
    models["role"] = side(sentence.role, call.swapped)
    found = effective_labels(labels, call.agent)
    return models | {kind: label.value for kind, label in found.items() if kind in LABELLED_FIELDS}


class CorrectedSentence(NamedTuple):
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
    left = (effective(name).label(name) for name in LABELLED_FIELDS)
    found = select(SENTENCE.c.id, SENTENCE.c.call, *left, SENTENCE.c.start_ms, SENTENCE.c.spoken_at)
    return found.select_from(SENTENCE).join(CALL, CALL.c.id == SENTENCE.c.call)


def effective(kind: str) -> ColumnElement[Any]:
    """`sentiment`, `intent`, `text` or `role` of a sentence, as people left it. For a query that reads `sentences`,
    and `calls` too when it is about the role."""
    newest = (
        select(LABEL.c.value)
        .join(LABELLED, LABELLED.c.id == LABEL.c.call)
        .where(and_(LABEL.c.sentence == SENTENCE.c.id, LABEL.c.kind == kind, ~LABEL.c.held))
        .order_by(LABEL.c.author == LABELLED.c.agent, LABEL.c.at.desc(), LABEL.c.id.desc())
        .limit(1)
        .correlate(SENTENCE)
        .scalar_subquery()
    )
    return func.coalesce(newest, effective_side() if kind == "role" else SENTENCE.c[kind])


def effective_side() -> ColumnElement[Any]:
    """Who said it by the channel, the sides turned round when a person said so."""
    role = SENTENCE.c.role
    turned = ((and_(CALL.c.swapped, role == told), really) for told, really in OTHER.items())
    return case(*turned, else_=role)
