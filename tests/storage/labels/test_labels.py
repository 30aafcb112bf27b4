"""Every label goes one way: checked against the names in force, written with its line in the trail and its event."""

from __future__ import annotations

import pytest
from sqlmodel import select

from storage.db.engine import Database
from storage.labels import review
from storage.labels.labels import correct, swap_sides, withdraw
from storage.privacy import tombstones
from storage.tables import Audit, Label, Outbox
from storage.viewer import Viewer
from tenor import events
from tenor.errors import BadInput
from tenor.events import LABELS
from tenor.taxonomy.in_force import NamesInForce
from tests.storage.conversations import NAMES
from tests.storage.rows import AMIR, MANAGER, call, sentence, store

OWN = NamesInForce(("livid", "fine"), ("lost_card", "unknown"))
"""Of a model of one's own."""


@pytest.fixture
def one(database: Database) -> Database:
    store(database, call("one", agent="amir"), sentence("one", 0), sentence("one", 1000))
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
