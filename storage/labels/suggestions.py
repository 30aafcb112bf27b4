"""What the models suggest for a sentence or turn, for whoever labels elsewhere: from what is stored, no model runs."""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import select
from sqlmodel import Session, col

from storage.labels import turn_review
from storage.labels.tags import spans_of, tags_of_values
from storage.tables import Call, Sentence
from storage.viewer import Viewer


class SuggestedSlot(msgspec.Struct, frozen=True, kw_only=True):
    """Characters start..end of the text, end not included."""

    slot: str
    start: int
    end: int
    text: str


class Suggestion(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    call: str
    text: str
    sentiment: str
    """Empty for a turn: its line has one as a sentence."""
    sentiment_scores: dict[str, float]
    intent: str
    intent_score: float
    tags: list[str]
    """One per word, as BIO."""
    slots: list[SuggestedSlot]
    models: dict[str, Any]
    novelty: float | None


def suggestion_of_sentence(session: Session, viewer: Viewer, sentence_id: str) -> Suggestion | None:
    """None when there is none, or none that the viewer may see."""
    query = select(Sentence).join(Call, col(Call.id) == col(Sentence.call)).where(viewer.clause())
    row = session.scalars(query.where(col(Sentence.id) == sentence_id)).one_or_none()
    if row is None:
        return None
    tags = tags_of_values(row.text, row.slots)
    return Suggestion(
        id=row.id,
        call=row.call,
        text=row.text,
        sentiment=row.sentiment,
        sentiment_scores=row.sentiment_scores,
        intent=row.intent,
        intent_score=row.intent_score,
        tags=tags,
        slots=_slots(row.text, tags),
        models=row.models,
        novelty=row.novelty,
    )


def suggestion_of_turn(session: Session, viewer: Viewer, turn_id: str) -> Suggestion | None:
    looked = turn_review.look(session, viewer, turn_id)
    if looked is None:
        return None
    row = looked.turn
    return Suggestion(
        id=row.id,
        call=row.call,
        text=row.input,
        sentiment="",
        sentiment_scores={},
        intent=looked.intent,
        intent_score=row.intent_score,
        tags=looked.tags,
        slots=_slots(row.input, looked.tags),
        models={"intent": row.model, "slots": row.model} if row.model else {},
        novelty=None,
    )


def _slots(text: str, tags: list[str]) -> list[SuggestedSlot]:
    return [
        SuggestedSlot(slot=span.slot, start=span.start, end=span.end, text=text[span.start : span.end])
        for span in spans_of(text, tags)
    ]
