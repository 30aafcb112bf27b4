"""Turns of the assistant that need a person: what the shopper said, with its intent and the slot of each word, to
accept or to mend. Which come first is as with sentences (review.py): every fourth at random, then what is disputed or
unsure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlmodel import Session, col

from storage.labels.labels import correct_turn, withdraw
from storage.labels.review import POOL, UNSURE, ReviewItem, is_reserved, mixed, place_of, time_taken
from storage.labels.tags import OUTSIDE, write_tags
from storage.labels.trust import checks
from storage.labels.why import Why
from storage.tables import Call, Label, Turn
from storage.viewer import Viewer
from tenor.taxonomy.in_force import NamesInForce

ORDER: tuple[Why, ...] = ("disputed", "unsure", "second", "rare")


@dataclass(frozen=True, slots=True)
class TurnInContext:
    turn: Turn
    call: Call
    before: tuple[Turn, ...]
    """The two turns before it."""

    @property
    def intent(self) -> str:
        """The model's; empty where it was not read from this line: "boston" has the intent of the question."""
        return self.turn.intent if self.turn.intent_score > 0 else ""

    @property
    def words(self) -> list[str]:
        return self.turn.input.split()

    @property
    def tags(self) -> list[str]:
        """The model's, one per word; none where it gave none, or where the line was redacted afterwards."""
        tags, words = [str(tag) for tag in self.turn.tags], self.words
        return tags if len(tags) == len(words) else [OUTSIDE] * len(words)


@dataclass(frozen=True, slots=True)
class ReviewedTurn:
    """The labels that were made."""

    labels: tuple[int, ...]
    others: tuple[tuple[str, str], ...]
    """What others say the intent is: author and intent."""


def turn_queue(session: Session, viewer: Viewer, limit: int = 20, skipped: Collection[str] = ()) -> list[ReviewItem]:
    """The turns that this person should look at next; `sentence` of an item is the turn's id."""
    query = select(col(Turn.id), col(Turn.intent), col(Turn.intent_score), col(Turn.input))
    query = query.join(Call, col(Call.id) == col(Turn.call)).where(viewer.clause(), col(Turn.input) != "")
    rows = session.execute(query.order_by(col(Turn.at).desc()).limit(POOL)).all()
    said: dict[str, dict[str, str]] = defaultdict(dict)
    own: set[str] = set()
    labels = select(col(Label.turn), col(Label.author), col(Label.kind), col(Label.value))
    labels = labels.where(col(Label.turn).is_not(None), ~col(Label.held) | (col(Label.author) == viewer.name))
    for turn, author, kind, value in session.execute(labels.order_by(col(Label.at).desc()).limit(2 * POOL)):
        if author == viewer.name:
            own.add(turn or "")
        elif kind == "intent":
            said[turn or ""].setdefault(author, value)
    at_random: list[ReviewItem] = []
    chosen: dict[Why, list[ReviewItem]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: (row.intent_score, row.id)):
        if row.id in skipped or row.id in own or not row.input.strip():
            continue
        if is_reserved(row.id):
            at_random.append(ReviewItem(row.id, row.intent, "sample"))
            continue
        values = set(said[row.id].values())
        why: Why = "unsure" if row.intent_score < UNSURE else "rare"
        if values:
            why = "second" if values == {row.intent} else "disputed"
        chosen[why].append(ReviewItem(row.id, row.intent, why))
    at_random.sort(key=lambda item: place_of(item.sentence))
    return mixed(at_random, (), (item for why in ORDER for item in chosen[why]), limit)


def look(session: Session, viewer: Viewer, turn_id: str) -> TurnInContext | None:
    """The turn and what came before; None when it is gone, or not the viewer's to see."""
    query = select(Turn, Call).join(Call, col(Call.id) == col(Turn.call)).where(viewer.clause())
    found = session.execute(query.where(col(Turn.id) == turn_id)).one_or_none()
    if found is None:
        return None
    turn, call = found
    earlier = select(Turn).where(col(Turn.call) == turn.call, col(Turn.turn) < turn.turn)
    before = session.scalars(earlier.order_by(col(Turn.turn).desc()).limit(2)).all()
    return TurnInContext(turn, call, tuple(reversed(before)))


def answer(
    session: Session,
    viewer: Viewer,
    turn_id: str,
    intent: str,
    tags: Sequence[str],
    seconds: float | None = None,
    *,
    names: NamesInForce,
    why: Why,
) -> ReviewedTurn:
    """Keep what this person says of a turn: agreeing is a label too. Without an intent only the slots. Commits."""
    took = time_taken(seconds)
    how: Any = {"names": names, "seconds": took, "where": "review", "why": why}
    made = [correct_turn(session, viewer, turn_id, "intent", intent, **how)] if intent else []
    made.append(correct_turn(session, viewer, turn_id, "slots", write_tags(tags), **how))
    checks.watch(session, viewer.name, "intent")
    others = select(col(Label.author), col(Label.value)).where(col(Label.turn) == turn_id, col(Label.kind) == "intent")
    newest: dict[str, str] = {}
    for author, value in session.execute(others.order_by(col(Label.at).desc())):
        if author != viewer.name:
            newest.setdefault(author, value)
    ids = tuple(label.id for label in made if label.id is not None)
    session.commit()
    return ReviewedTurn(ids, tuple(sorted(newest.items())))


def undo(session: Session, viewer: Viewer, made: ReviewedTurn) -> None:
    """Take the labels back. Commits."""
    for label in made.labels:
        withdraw(session, viewer, label)
    session.commit()


def tagged(tags: Sequence[str], words: Collection[int], slot: str) -> list[str]:
    """The tags after somebody gave these words a slot, or none: words side by side are one value. What continued a
    value whose beginning is gone begins it now."""
    changed = list(tags)
    for number in words:
        goes_on = number - 1 in words
        changed[number] = f"{'I' if goes_on else 'B'}-{slot}" if slot else OUTSIDE
    for number, tag in enumerate(changed):
        if tag.startswith("I-") and (number == 0 or changed[number - 1][2:] != tag[2:]):
            changed[number] = f"B-{tag[2:]}"
    return changed
