"""Turns of conversations with the assistant, of a stretch of time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import select, tuple_
from sqlmodel import Session, col

from storage.tables import Call, Label, Turn
from storage.viewer import Viewer

PIECE = 500


def between(session: Session, viewer: Viewer, since: float, until: float) -> Iterator[list[Turn]]:
    """Those whose cause was published in [since, until), in the order of time, some at a time."""
    place = (col(Turn.at), col(Turn.call), col(Turn.turn))
    query = (
        select(Turn)
        .join(Call, col(Call.id) == col(Turn.call))
        .where(viewer.clause(), place[0] >= since, place[0] < until)
        .order_by(*place)
        .limit(PIECE)
    )
    found = list(session.scalars(query))
    while found:
        last = found[-1]
        after = (last.at, last.call, last.turn)
        yield found
        session.expunge_all()  # a year of conversations need not be in memory
        found = list(session.scalars(query.where(tuple_(*place) > tuple_(*after))))


def corrected_intents(session: Session, turns: Sequence[Turn]) -> dict[str, str]:
    """What people said the intent is, by the id of the turn: the newest label of a line that caused it."""
    caused = {utterance: turn.id for turn in turns for utterance in turn.cause}
    query = (
        select(Label)
        .where(col(Label.sentence).in_(caused), col(Label.kind) == "intent")
        .order_by(col(Label.at), col(Label.id))
    )
    return {caused[label.sentence]: label.value for label in session.scalars(query)}
