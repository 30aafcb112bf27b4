"""Calls as pages and the API read them, and what people say about them."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from storage.db.engine import Database
from storage.labels.effective import effective_labels
from storage.labels.labels import correct, swap_sides
from storage.queries.calls import CallFilter, find, listing, page, whole
from storage.search import SearchQuery, search
from storage.tables import Note
from storage.viewer import HOUSE
from tenor.errors import BadInput, Refused
from tests.storage.conversations import NAMES
from tests.storage.rows import AMIR, MANAGER, alert, call, sentence, store
from tests.storage.writing import rows


def test_a_call_with_all_that_belongs_to_it(database: Database) -> None:
    store(
        database,
        call("one", agent="amir"),
        sentence("one", 2000),
        sentence("one", 0, "agent"),
        sentence("one", 1000),
        alert("one", 1500),
        alert("one", 500),
        Note(id="n", call="one", author="maria", text="!", at=2.0),
        call("two", agent="bea"),
        sentence("two", 0),
    )
    with database.session() as session:
        one = whole(session, AMIR, "one")
        assert whole(session, AMIR, "two") is None
        assert find(session, AMIR, "two") is None
        assert whole(session, MANAGER, "no such call") is None
        assert whole(session, MANAGER, "two") is not None
    assert one is not None
    assert [said.start_ms for said in one.sentences] == [0, 1000, 2000]
    assert [raised.at_ms for raised in one.alerts] == [500, 1500]
    assert [note.id for note in one.notes] == ["n"]
    assert [one.said(line)["role"] for line in one.sentences] == ["agent", "caller", "caller"]


def test_pages_are_whole_whatever_comes_in_between(database: Database) -> None:
    """Several calls begin at the same time; a new one comes while somebody turns the pages."""
    store(database, *(call(f"call {n:02}", started_at=1000.0 + n // 3) for n in range(25)))
    seen: list[str] = []
    after = ""
    while True:
        with database.session() as session:
            found = page(session, MANAGER, after=after, limit=4)
        seen += [one.id for one in found.calls]
        if len(seen) == 8:
            store(database, call("new", started_at=9999.0))
        if not (after := found.after):
            break
    assert seen == sorted((f"call {n:02}" for n in range(25)), reverse=True)
    with database.session() as session:
        assert page(session, MANAGER, limit=1).calls[0].id == "new"
        for nonsense in ("x", "12", "x/y", "/"):
            with pytest.raises(BadInput):
                page(session, MANAGER, after=nonsense)


FILTERS: list[tuple[dict[str, Any], str]] = [
    ({}, "abcd"),
    ({"agent": "amir"}, "ab"),
    ({"customer": "c1"}, "ac"),
    ({"site": "north", "queue": "help"}, "b"),
    ({"medium": "chat"}, "d"),
    ({"states": ("live", "failed")}, "ad"),
    ({"task": "refund"}, "c"),
    ({"mood": "negative"}, "b"),
    ({"mood": "neutral"}, "d"),
    ({"mood": "positive"}, "c"),
    ({"since": 20.0, "until": 40.0}, "bc"),
    ({"alerts": True}, "b"),
    ({"alerts": False, "agent": "amir"}, "a"),
    ({"escalations": True}, ""),
    ({"sample": True}, "d"),
    ({"sample": False}, "abc"),
]


def test_filters(database: Database) -> None:
    store(
        database,
        call("a", started_at=10.0, agent="amir", customer="c1", site="north", queue="sales"),
        call("b", started_at=20.0, agent="amir", site="north", queue="help", state="analysed"),
        call("c", started_at=30.0, agent="bea", customer="c1", task="refund", state="ended"),
        call("d", started_at=40.0, agent="bea", medium="chat", state="failed", sample=True),
        alert("b", 0),
        *(sentence(name, 0, mood=mood) for name, mood in (("b", -0.15), ("c", 0.6), ("d", -0.1))),
    )
    with database.session() as session:
        for wanted, found in FILTERS:
            assert {one.id for one in page(session, HOUSE, CallFilter(**wanted)).calls} == set(found), wanted
            assert {one.id for one in page(session, AMIR, CallFilter(**wanted)).calls} == set(found) & {"a", "b"}


INDEXES: dict[str, dict[str, Any]] = {
    "calls_by_time": {},
    "calls_by_agent": {"agent": "agent 7"},
    "calls_by_customer": {"customer": "c7"},
}


def test_lists_come_from_an_index(database: Database) -> None:
    many = (call(f"{n}", started_at=float(n), agent=f"agent {n % 97}", customer=f"c{n % 89}") for n in range(1500))
    store(database, *many)
    explain = "EXPLAIN" if database.is_postgres else "EXPLAIN QUERY PLAN"
    with database.begin() as session:
        session.execute(text("ANALYZE"))
    with database.session() as session:
        for index, wanted in INDEXES.items():
            for after in ("", "750.0/750"):
                query = listing(HOUSE, CallFilter(**wanted), after).limit(50)
                compiled = query.compile(database.engine, compile_kwargs={"literal_binds": True})
                plan = "\n".join(str(row) for row in session.execute(text(f"{explain} {compiled}")))
                assert index in plan, plan
                assert "Seq Scan" not in plan, plan
                assert "TEMP B-TREE" not in plan, plan


def test_labels_never_overwrite(database: Database) -> None:
    store(database, call("one", agent="amir", roles=["caller", "agent"]), sentence("one", 0, mood=-0.9))
    with database.begin() as session:
        correct(session, AMIR, "one/0/0", "sentiment", "neutral", seconds=2.5, names=NAMES)
        correct(session, MANAGER, "one/0/0", "sentiment", "positive", where="review", names=NAMES)
        correct(session, MANAGER, "one/0/0", "text", "  other words ", names=NAMES)
        correct(session, MANAGER, "one/0/0", "role", "agent", names=NAMES)
        correct(
            session, AMIR, "one/0/0", "sentiment", "neutral", seconds=2.5, names=NAMES
        )  # again, and still a manager's word counts
    with database.session() as session:
        found = whole(session, MANAGER, "one")
        (hit,) = search(session, MANAGER, SearchQuery(sentiment=("positive",))).hits
    assert hit.sentence == "one/0/0"
    assert found is not None
    assert found.said(found.sentences[0])["sentiment"] == "positive"
    made = found.labels["one/0/0"]
    assert [(one.author, one.value, one.predicted, one.where, one.seconds) for one in made] == [
        ("amir", "neutral", "negative", "call", 2.5),
        ("maria", "positive", "negative", "review", None),
        ("maria", "other words", "words at 0", "call", None),
        ("maria", "agent", "caller", "call", None),
        ("amir", "neutral", "negative", "call", 2.5),
    ]
    assert {kind: one.value for kind, one in effective_labels(made, "amir").items()} == {
        "sentiment": "positive",
        "text": "other words",
        "role": "agent",
    }
    assert found.sentences[0].sentiment == "negative"
    assert [row["action"] for row in rows(database, "audit")["audit"].values()] == ["label.made"] * 5


WRONG = [
    (AMIR, "sentiment", "neutral"),
    (MANAGER, "colour", "blue"),
    (MANAGER, "sentiment", "  "),
    (MANAGER, "sentiment", "x" * 101),
    (MANAGER, "text", "a\x00b"),
    (MANAGER, "role", "the pope"),
    (MANAGER, "sentiment", "furious"),
    (MANAGER, "intent", "world domination"),
]


def test_labels_that_cannot_be(database: Database) -> None:
    store(database, call("one", agent="bea"), sentence("one", 0))
    for viewer, kind, value in WRONG:
        with database.begin() as session, pytest.raises(BadInput):
            correct(session, viewer, "one/0/0", kind, value, names=NAMES)
    assert rows(database, "labels")["labels"] == {}


def test_swapping_sides(database: Database) -> None:
    store(database, call("one", agent="bea"), sentence("one", 0, "caller", -1.0))
    with database.begin() as session, pytest.raises(Refused, match="does not turn the sides round"):
        swap_sides(session, AMIR, "one")
    with database.begin() as session:
        swapped = swap_sides(session, MANAGER, "one")
    assert (swapped.swapped, swapped.mood_agent, swapped.mood_caller) == (True, -1.0, None)
    with database.session() as session:
        found = whole(session, MANAGER, "one")
    assert found is not None
    assert (found.said(found.sentences[0])["role"], found.sentences[0].role, found.call.roles) == (
        "agent",
        "caller",
        ["caller", "agent"],
    )
    assert [row["action"] for row in rows(database, "audit")["audit"].values()] == ["call.swapped"]
