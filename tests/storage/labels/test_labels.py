"""Every label goes one way: checked against the names in force, written with its line in the trail and its event."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select as sql_select
from sqlmodel import select

from storage.db.engine import Database
from storage.labels import review
from storage.labels.allowed import turn_names
from storage.labels.effective import effective, effective_values
from storage.labels.labels import correct, correct_turn, swap_sides, withdraw
from storage.labels.trust import holds
from storage.privacy import tombstones
from storage.tables import Audit, Call, Label, Outbox, Sentence, Turn
from storage.viewer import Viewer
from tenor import events
from tenor.errors import BadInput, Refused
from tenor.events import LABELS
from tenor.taxonomy.in_force import NamesInForce
from tests.storage.conversations import NAMES
from tests.storage.rows import AMIR, MANAGER, call, sentence, store

SENTENCE = Sentence.__table__  # type: ignore[attr-defined]
OWN = NamesInForce(("livid", "fine"), ("lost_card", "unknown"))
"""Of a model of one's own."""


@pytest.fixture
def one(database: Database) -> Database:
    understood: dict[str, Any] = {
        "models": {"sentiment": "ours-2"},
        "text": "my card since monday",
        "slots": {"date": "Monday"},
    }
    store(database, call("one", agent="amir"), sentence("one", 0, **understood), sentence("one", 1000))
    with database.begin() as session:
        tags = ["B-item.color", "B-item.type", "O"]
        session.add(
            Turn(
                id="one/1",
                call="one",
                turn=1,
                at=1.0,
                input="red shirt price",
                intent="price_check",
                tags=tags,
                model="tenor-assistant-1",
            )
        )
    return database


def told(database: Database) -> list[events.Label]:
    with database.session() as session:
        return [LABELS.decode(row.event.encode()) for row in session.exec(select(Outbox).order_by("id"))]


def test_a_label_its_line_in_the_trail_and_its_event_are_one_transaction(one: Database) -> None:
    with one.begin() as session:
        made = correct(session, AMIR, "one/0/0", "sentiment", " positive ", names=NAMES, seconds=2.5)
    [event] = told(one)
    assert event == events.Label(
        call="one",
        kind="sentiment",
        value="positive",
        author="amir",
        author_role="agent",
        at=made.at,
        sentence="one/0/0",
        predicted="neutral",
        where="call",
        seconds=2.5,
        why="call",
        model="ours-2",
    )
    with one.session() as session:
        assert [(row.who, row.action, row.subject) for row in session.exec(select(Audit))] == [
            ("amir", "label.made", "one")
        ]
    with one.session() as session:
        correct(session, MANAGER, "one/0/0", "sentiment", "negative", names=NAMES)
        session.rollback()  # as when the process dies
    with one.session() as session:
        kept = [len(session.exec(select(table)).all()) for table in (Label, Audit, Outbox)]
    assert kept == [1, 1, 1]


def test_a_name_is_right_when_it_is_in_force(one: Database) -> None:
    """Not when it ships: with a model of one's own, its labels are right and ours are not."""
    with one.begin() as session:
        correct(session, MANAGER, "one/0/0", "intent", "lost_card", names=OWN)
        correct(session, MANAGER, "one/0/0", "sentiment", "livid", names=OWN)
        with pytest.raises(BadInput, match="there is no intent 'greeting' in force; there are: lost_card, unknown"):
            correct(session, MANAGER, "one/0/0", "intent", "greeting", names=OWN)
        with pytest.raises(BadInput, match="no sentiment 'positive' in force"):
            correct(session, MANAGER, "one/0/0", "sentiment", "positive", names=OWN)


def test_a_refusal_names_what_was_probably_meant(one: Database) -> None:
    with one.session() as session, pytest.raises(BadInput, match="did you mean 'order_status'"):
        correct(session, MANAGER, "one/0/0", "intent", "order_staus", names=NAMES)


def test_review_refuses_what_is_not_in_force(one: Database) -> None:
    with one.session() as session:
        with pytest.raises(BadInput, match="there is no intent 'world domination' in force"):
            review.answer(session, MANAGER, "one/0/0", "intent", "world domination", names=NAMES)
        assert not session.exec(select(Label)).all()


def test_what_is_taken_back_is_told_too(one: Database) -> None:
    with one.begin() as session:
        made = correct(session, MANAGER, "one/0/0", "intent", "refund", names=NAMES)
        assert made.id is not None
        assert withdraw(session, AMIR, made.id) is None, "somebody else's"
        assert withdraw(session, MANAGER, made.id) is made
    first, last = told(one)
    assert (first.withdrawn, last.withdrawn) == (False, True)
    assert (last.author, last.sentence, last.kind, last.at) == (first.author, first.sentence, first.kind, first.at)


def test_sides_that_are_turned_round_are_told(one: Database) -> None:
    with one.begin() as session:
        swap_sides(session, MANAGER, "one")
        swap_sides(session, MANAGER, "one")
    assert [(event.kind, event.value, event.sentence) for event in told(one)] == [
        ("sides", "swapped", ""),
        ("sides", "told", ""),
    ]


def test_nobody_labels_what_they_may_not_see_or_what_is_erased(one: Database) -> None:
    stranger = Viewer("bea", "agent")
    with one.begin() as session, pytest.raises(BadInput, match="there is no sentence"):
        correct(session, stranger, "one/0/0", "intent", "refund", names=NAMES)
    with one.begin() as session:
        tombstones.mark(session, "one", 1.0)
    with one.begin() as session:
        with pytest.raises(BadInput, match="there is no sentence"):
            correct(session, MANAGER, "one/0/0", "intent", "refund", names=NAMES)
        with pytest.raises(BadInput, match="there is no call"):
            swap_sides(session, MANAGER, "one")
    assert not told(one)


def test_slots_are_labelled_as_tags_of_words(one: Database) -> None:
    with one.begin() as session:
        tags = '["O", "B-product", "O", "B-date"]'
        made = correct(session, MANAGER, "one/0/0", "slots", tags, names=NAMES)
        assert (made.value, made.predicted) == ('["O","B-product","O","B-date"]', '["O","O","O","B-date"]')
        for wrong, said in (
            ('["O"]', "1 tags for 4 words"),
            ('["O","B-prodct","O","O"]', "did you mean 'product'"),
            ('["O","I-date","O","O"]', "continues nothing"),
            ('["O","date","O","O"]', "is no tag of word 2"),
            ("monday", "are no slots"),
        ):
            with pytest.raises(BadInput, match=said):
                correct(session, MANAGER, "one/0/0", "slots", wrong, names=NAMES)


def test_a_turn_of_the_assistant_is_labelled_with_its_own_names(one: Database) -> None:
    with one.begin() as session:
        names = turn_names(session)
        correct_turn(session, MANAGER, "one/1", "intent", "find_the_store", names=names, seconds=3.0)
        made = correct_turn(session, MANAGER, "one/1", "slots", '["O","B-item.type","O"]', names=names)
        assert (made.predicted, made.sentence, made.turn) == ('["B-item.color","B-item.type","O"]', None, "one/1")
        assert made.model == "tenor-assistant-1", "what had answered is on record"
        with pytest.raises(BadInput, match="there is no intent 'refund' in force"):
            correct_turn(session, MANAGER, "one/1", "intent", "refund", names=names)
        with pytest.raises(BadInput, match="a turn has no 'sentiment' to label"):
            correct_turn(session, MANAGER, "one/1", "sentiment", "positive", names=names)
        with pytest.raises(BadInput, match="there is no turn 'one/7'"):
            correct_turn(session, MANAGER, "one/7", "intent", "price_check", names=names)
        with pytest.raises(BadInput, match="there is no turn"):
            correct_turn(session, Viewer("bea", "agent"), "one/1", "intent", "price_check", names=names)
    first, second = told(one)
    assert (first.turn, first.sentence, first.kind, first.value, first.why) == (
        *("one/1", "", "intent"),
        *("store_location", "sample"),
    )
    assert second.kind == "slots"


def test_labels_that_are_held_count_nowhere_until_a_person_releases_them(one: Database) -> None:
    boss, root = Viewer("ana", "administrator"), Viewer("root", "administrator")

    def counts() -> tuple[str, str]:
        with one.session() as session:
            row = session.get(Sentence, "one/0/0")
            of_call = session.get(Call, "one")
            assert row is not None
            assert of_call is not None
            labels = session.exec(select(Label).where(Label.sentence == row.id)).all()
            in_sql = session.execute(sql_select(effective("sentiment")).where(SENTENCE.c.id == row.id)).scalar_one()
            return effective_values(row, of_call, labels)["sentiment"], in_sql

    with one.begin() as session:
        correct(session, MANAGER, "one/0/0", "sentiment", "positive", names=NAMES)
        correct(session, MANAGER, "one/0/0", "text", "my card since tuesday", names=NAMES)
    assert counts() == ("positive", "positive")
    with one.begin() as session:
        with pytest.raises(Refused, match="your role, agent"):
            holds.hold(session, "maria", "odd", AMIR)
        with pytest.raises(BadInput, match="nobody called 'nobody'"):
            holds.hold(session, "nobody", "odd", boss)
        assert holds.hold(session, "maria", "odd", boss) == 1
        assert holds.hold(session, "maria", "odd", boss) == 0
    assert counts() == ("neutral", "neutral")
    with one.begin() as session:
        assert correct(session, MANAGER, "one/0/0", "sentiment", "negative", names=NAMES).held
    assert counts() == ("neutral", "neutral")
    with one.begin() as session:
        with pytest.raises(Refused, match="their own labels"):
            holds.release(session, "maria", Viewer("maria", "administrator"))
        assert holds.release(session, "maria", root) == 2
        with pytest.raises(BadInput, match="no labels of 'maria' are held"):
            holds.release(session, "maria", root)
        [ended] = holds.holds(session, ended=True)
        assert (ended.by, ended.ended_by, holds.holds(session)) == ("ana", "root", [])
    assert counts() == ("negative", "negative")
