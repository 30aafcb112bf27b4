"""Turns of the assistant: which come first, what is kept, and what can be taken back."""

from __future__ import annotations

import pytest
from sqlmodel import col, select

from storage.db.engine import Database
from storage.labels import review, turn_review
from storage.labels.allowed import turn_names
from storage.labels.turn_review import tagged
from storage.queries.turns import corrected_turns
from storage.tables import Call, Label, Turn
from storage.viewer import Viewer
from tenor.errors import BadInput

ANN, BOB = Viewer("ann", "analyst"), Viewer("bob", "manager")


def add(database: Database, *, reserved: bool = False, score: float = 0.9, line: str = "red shirt price") -> str:
    """A turn of a conversation of its own; its id."""
    with database.begin() as session:
        taken = set(session.scalars(select(Call.id)))
        name = next(
            name
            for number in range(10_000)
            if (name := f"shop{number}") not in taken and review.is_reserved(f"{name}/1") is reserved
        )
        session.add(Call(id=name, medium="chat", agent="owen"))
        session.flush()
        tags = ["B-item.color", "B-item.type", "O"] if line == "red shirt price" else []
        greeting = Turn(id=f"{name}/0", call=name, turn=0, at=1.0, input="", replies=[{"text": "Hi, welcome."}])
        said = Turn(
            id=f"{name}/1", call=name, turn=1, at=2.0, input=line, intent="price_check", intent_score=score, tags=tags
        )
        session.add_all([greeting, said])
    return f"{name}/1"


def waiting(database: Database, viewer: Viewer) -> list[review.ReviewItem]:
    with database.session() as session:
        return turn_review.turn_queue(session, viewer)


def said(database: Database, viewer: Viewer, turn: str, intent: str, tags: list[str]) -> turn_review.ReviewedTurn:
    with database.session() as session:
        return turn_review.answer(
            session, viewer, turn, intent, tags, 4.0, names=turn_names(session), why="unsure"
        )  # fmt: skip


def test_what_is_in_doubt_comes_first_and_a_quarter_at_random(database: Database) -> None:
    kept = [add(database, reserved=True) for _ in range(3)]
    sure, unsure = add(database), add(database, score=0.4)
    disputed, seconded = add(database), add(database)
    said(database, BOB, disputed, "inventory_check", ["O", "O", "O"])
    said(database, BOB, seconded, "price_check", ["O", "O", "O"])
    found = waiting(database, ANN)
    assert [(one.sentence, one.why) for one in found[:3]] == [
        (disputed, "disputed"),
        (unsure, "unsure"),
        (seconded, "second"),
    ]
    assert (found[3].why, found[3].sentence in kept, found[4].sentence) == ("sample", True, sure)
    assert {one.sentence for one in waiting(database, BOB)} == {*kept, sure, unsure}
    assert waiting(database, Viewer("lena", "agent")) == []


def test_agreeing_is_a_label_of_intent_and_slots_and_both_can_be_taken_back(database: Database) -> None:
    turn = add(database)
    said(database, BOB, turn, "inventory_check", ["O", "B-item.type", "O"])
    with database.session() as session:
        looked = turn_review.look(session, ANN, turn)
        assert looked is not None
        assert (looked.words, [one.turn for one in looked.before]) == (["red", "shirt", "price"], [0])
        made = turn_review.answer(
            session, ANN, turn, looked.turn.intent, looked.tags, 4.0, names=turn_names(session), why="sample"
        )  # fmt: skip
        assert made.others == (("bob", "inventory_check"),)
        rows = session.exec(select(Label).where(col(Label.author) == "ann").order_by(Label.kind)).all()
        assert [(row.kind, row.value == row.predicted, row.seconds, row.why) for row in rows] == [
            ("intent", True, 4.0, "sample"),
            ("slots", True, 4.0, "sample"),
        ]
        assert corrected_turns(session, [looked.turn])[turn]["intent"] == "price_check", "the newest counts"
        turn_review.undo(session, ANN, made)
        assert session.exec(select(Label).where(col(Label.author) == "ann")).all() == []
        assert turn_review.look(session, Viewer("lena", "agent"), turn) is None


def test_an_answer_that_cannot_be_leaves_nothing_behind(database: Database) -> None:
    turn = add(database)
    with pytest.raises(BadInput, match="2 tags for 3 words"):
        said(database, ANN, turn, "price_check", ["O", "O"])
    with database.session() as session:
        assert session.exec(select(Label)).all() == []


def test_a_line_without_tags_is_shown_without(database: Database) -> None:
    turn = add(database, line="[NAME] wants milk")
    with database.session() as session:
        looked = turn_review.look(session, ANN, turn)
        assert looked is not None
        assert looked.tags == ["O", "O", "O"]


@pytest.mark.parametrize(
    ("words", "slot", "after"),
    [
        ({0, 1}, "item.type", ["B-item.type", "I-item.type", "B-location", "O"]),
        ({3}, "location", ["O", "B-location", "I-location", "B-location"]),
        ({1}, "", ["O", "O", "B-location", "O"]),
        ({0, 3}, "verb", ["B-verb", "B-location", "I-location", "B-verb"]),
    ],
)
def test_words_side_by_side_are_one_value(words: set[int], slot: str, after: list[str]) -> None:
    assert tagged(["O", "B-location", "I-location", "O"], words, slot) == after


def test_of_an_answer_to_a_question_only_the_slots_are_kept(database: Database) -> None:
    turn = add(database, score=0.0)
    with database.session() as session:
        looked = turn_review.look(session, ANN, turn)
        assert looked is not None
        assert looked.intent == ""
    said(database, ANN, turn, looked.intent, looked.tags)
    with database.session() as session:
        assert [row.kind for row in session.exec(select(Label)).all()] == ["slots"]
    assert waiting(database, ANN) == []
