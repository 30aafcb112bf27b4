"""Turns of conversations with the assistant, of a stretch of time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import select, tuple_
from sqlmodel import Session, col

from storage.labels.effective import effective_labels
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


def corrected_turns(session: Session, turns: Sequence[Turn]) -> dict[str, dict[str, str]]:
    """What people say of turns, by the turn's id: `intent`, and `slots` as tags. The labels that count."""
    agents = dict(
        session.execute(select(col(Call.id), col(Call.agent)).where(col(Call.id).in_({turn.call for turn in turns})))
        .tuples()
        .all()
    )
    labels: dict[str, list[Label]] = {}
    for label in session.scalars(select(Label).where(col(Label.turn).in_([turn.id for turn in turns]))):
        labels.setdefault(label.turn or "", []).append(label)
    return {
        turn: {kind: label.value for kind, label in effective_labels(said, agents.get(said[0].call, "")).items()}
        for turn, said in labels.items()
    }
