"""Search finds the same on both databases, and only what the viewer may see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Connection, event, text
from sqlmodel import Session

from storage.db.engine import Database
from storage.search import SearchPage, SearchQuery, by_day, saved, search
from storage.tables import Call, Sentence
from storage.viewer import HOUSE, Viewer
from tenor.errors import BadInput
from tenor.search.terms import Mark, Term, Terms, marks, read
from tests.storage.conversations import START, add_alert, add_call, add_label

ANN = Viewer("ann", "agent")


@pytest.fixture
def session(database: Database) -> Iterator[Session]:
    with database.session() as session:
        add_call(
            session,
            "bank",
            "I want to cancel my account today.",
            "Why would you cancel? Don't do it!",
            "My café card was charged $3.50 twice; write to Zoë_M@example.com.",
            "I understand, thank you.",
            sentences={
                0: {"sentiment": "negative", "intent": "cancel", "mood": -0.8},
                2: {"sentiment": "negative", "models": {"intent": "house-7@1f0c8a42"}},
                3: {"models": {"sentiment": "house-70"}},
            },
            agent="ann",
            customer="555-0101",
            queue="billing",
            site="north",
            task="cancel",
        )
        add_call(
            session,
            "shop",
            "Hello, is my parcel there? Thank you very much.",
            "It was cancelled last week, the week before the last.",
            'They said: <b>"bold"</b> -- OR 1=1; DROP TABLE sentences',
            agent="bob",
            medium="chat",
            started_at=START + 1000,
        )
        add_alert(session, "bank", "cancellation", sentence="bank/0/0")
        session.commit()
        yield session


def ids(found: SearchPage) -> list[str]:
    return [hit.sentence for hit in found.hits]


WORDS: list[tuple[str, list[str] | None]] = [
    ("cancel", ["bank/1/1000", "bank/0/0"]),
    ("CANCEL account", ["bank/0/0"]),
    ("cancel*", ["shop/1/1000", "bank/1/1000", "bank/0/0"]),
    ("cancel* -account", ["shop/1/1000", "bank/1/1000"]),
    ('cancel* -"last week"', ["bank/1/1000", "bank/0/0"]),
    ('"my account"', ["bank/0/0"]),
    ('"account my"', []),
    ('"the last"', ["shop/1/1000"]),
    ("cafe", ["bank/0/2000"]),
    ("CAFÉ", ["bank/0/2000"]),
    ("zoe", ["bank/0/2000"]),
    ("3.50", ["bank/0/2000"]),
    ("50", ["bank/0/2000"]),
    ("zoë_m@example.com", ["bank/0/2000"]),
    ("don't", ["bank/1/1000"]),
    ("dont", []),
    ("thank you", ["shop/0/0", "bank/1/3000"]),
    ("<b>", ["shop/0/2000"]),
    ("or drop", ["shop/0/2000"]),
    ('NEAR(cancel account) AND "', []),
    ("cancel NOT account", []),
    ("-cancel -cancelled -thank -cafe", ["shop/0/2000"]),
    ("'; DROP TABLE calls; --", []),
    ("sentences:* ^cancel", []),
    ("\x00 \u202e * \" - -- () : ^ + ' & | ! <->", None),
    ("🙂", None),
    ("", None),
]
"""None: everything."""


def test_words(session: Session) -> None:
    everything = ["shop/0/2000", "shop/1/1000", "shop/0/0", "bank/1/3000", "bank/0/2000", "bank/1/1000", "bank/0/0"]
    for words, expected in WORDS:
        found = ids(search(session, HOUSE, SearchQuery(words=words)))
        assert found == (everything if expected is None else expected), words


FILTERS = [
    (SearchQuery(sentiment=("negative",)), ["bank/0/2000", "bank/0/0"]),
    (SearchQuery(sentiment=("negative",), words="cancel"), ["bank/0/0"]),
    (SearchQuery(intent=("cancel",)), ["bank/0/0"]),
    (SearchQuery(task=("cancel",), role=("agent",)), ["bank/1/3000", "bank/1/1000"]),
    (SearchQuery(agent=("bob",), words="cancelled"), ["shop/1/1000"]),
    (SearchQuery(customer=("555-0101",), words="thank"), ["bank/1/3000"]),
    (SearchQuery(queue=("billing",), site=("north",), words="cafe"), ["bank/0/2000"]),
    (SearchQuery(medium=("chat",), words="thank"), ["shop/0/0"]),
    (SearchQuery(medium=("chat", "voice"), words="thank"), ["shop/0/0", "bank/1/3000"]),
    (SearchQuery(rule=("cancellation",), words="thank"), ["bank/1/3000"]),
    (SearchQuery(alerted=True, words="thank"), ["bank/1/3000"]),
    (SearchQuery(severity=("critical",)), []),
    (SearchQuery(since=START + 1000, until=START + 1001), ["shop/0/0"]),
    (SearchQuery(words="thank", since=START + 1000, until=START + 1000.0001), ["shop/0/0"]),
    (SearchQuery(words="thank", until=START + 1000), ["bank/1/3000"]),
    (SearchQuery(words="thank", since=-1e300, until=1e300), ["shop/0/0", "bank/1/3000"]),
    (SearchQuery(language=("other",)), []),
    (SearchQuery(call=("shop",), words="thank"), ["shop/0/0"]),
    (SearchQuery(model=("house-7",)), ["bank/0/2000"]),
    (SearchQuery(model=("house-70", "house-7")), ["bank/1/3000", "bank/0/2000"]),
    (SearchQuery(model=("house",)), []),
    (SearchQuery(order="closest", words="thank you"), ["bank/1/3000", "shop/0/0"]),
]


def test_filters(session: Session) -> None:
    for query, expected in FILTERS:
        assert ids(search(session, HOUSE, query)) == expected, query
        assert by_day(session, HOUSE, query, UTC).total() == len(expected), query


def test_what_people_corrected_counts(session: Session) -> None:
    add_label(session, "bank/1/3000", "sentiment", "positive")
    add_label(session, "bank/0/0", "text", "I want to can sell my account today.", at=START + 1)
    add_label(session, "bank/0/0", "role", "agent")
    session.commit()
    (hit,) = search(session, HOUSE, SearchQuery(words='"can sell"')).hits
    assert hit.original is not None
    assert (hit.snippet.text, hit.original.text) == (
        "I want to can sell my account today.",
        "I want to cancel my account today.",
    )
    assert [hit.snippet.text[mark.start : mark.end] for mark in hit.snippet.marks] == ["can sell"]
    assert "bank/0/0" in ids(search(session, HOUSE, SearchQuery(words="cancel")))  # by the old text too
    assert ids(search(session, HOUSE, SearchQuery(words='"today i want"'))) == []  # never across the two
    assert ids(search(session, HOUSE, SearchQuery(sentiment=("positive",)))) == ["bank/1/3000"]
    assert "bank/0/0" in ids(search(session, HOUSE, SearchQuery(role=("agent",))))

    add_label(session, "bank/0/0", "text", "I want to candle it.", at=START + 2)
    session.commit()
    assert ids(search(session, HOUSE, SearchQuery(words='"can sell"'))) == []
    assert ids(search(session, HOUSE, SearchQuery(words="candle"))) == ["bank/0/0"]


def test_a_managers_correction_is_found_after_the_agents_own(session: Session) -> None:
    """The page shows the manager's, so words are found there."""
    add_label(session, "bank/0/0", "text", "I want to candle it.", at=START + 1, author="maria")
    add_label(session, "bank/0/0", "text", "I want to handle it.", at=START + 2, author="ann")
    session.commit()
    assert ids(search(session, HOUSE, SearchQuery(words="candle"))) == ["bank/0/0"]
    assert ids(search(session, HOUSE, SearchQuery(words="handle"))) == []


def test_a_rare_sentiment_is_found_without_reading_the_others(session: Session) -> None:
    """By the plans that real statistics lead to."""
    lines = ["well"] * 40
    for number in range(150):
        rare = {7: {"sentiment": "positive", "intent": "praise"}} if number % 50 == 0 else {}
        add_call(session, f"many-{number}", *lines, sentences=rare, started_at=START + 9000 + 60 * number)
    add_label(session, "many-3/0/0", "sentiment", "positive")
    add_label(session, "many-50/1/7000", "sentiment", "neutral")
    session.commit()
    session.execute(text("ANALYZE"))
    plans: list[str] = []

    def explain(connection: Connection, _: Any, statement: str, given: Any, *__: Any) -> None:
        if "FROM sentences" in statement and not statement.startswith("EXPLAIN"):
            how, column = ("EXPLAIN QUERY PLAN", 3) if connection.dialect.name == "sqlite" else ("EXPLAIN", 0)
            plans.append("\n".join(row[column] for row in connection.exec_driver_sql(f"{how} {statement}", given)))

    event.listen(session.connection(), "before_cursor_execute", explain)
    newest = ["many-100/1/7000", "many-3/0/0", "many-0/1/7000"]
    assert ids(search(session, HOUSE, SearchQuery(sentiment=("positive",)))) == newest
    assert by_day(session, HOUSE, SearchQuery(sentiment=("positive",)), UTC).total() == 3
    assert len(ids(search(session, HOUSE, SearchQuery(intent=("praise", "other"))))) == 3
    first = search(session, HOUSE, SearchQuery(sentiment=("positive",)), limit=1)
    assert ids(first) == newest[:1]
    assert ids(search(session, HOUSE, SearchQuery(sentiment=("positive",)), cursor=first.cursor)) == newest[1:]
    for plan in plans:
        assert not re.search("Seq Scan on sentences|SCAN sentences|sentences_by_time", plan), plan


def test_turned_sides_count(session: Session) -> None:
    call = session.get_one(Call, "bank")
    call.swapped = True
    session.commit()
    (hit,) = search(session, HOUSE, SearchQuery(words="account", role=("agent",))).hits
    assert hit.role == "agent"


def test_an_agent_finds_only_their_own(session: Session) -> None:
    assert ids(search(session, ANN, SearchQuery(words="thank"))) == ["bank/1/3000"]
    assert search(session, ANN, SearchQuery(agent=("bob",))).hits == []
    assert by_day(session, ANN, SearchQuery(), UTC).total() == 4


@pytest.mark.parametrize(
    ("zone", "first", "second"),
    [
        ("UTC", date(2026, 10, 24), date(2026, 10, 25)),
        ("Asia/Kathmandu", date(2026, 10, 25), date(2026, 10, 26)),  # a quarter to six ahead
        ("Europe/Berlin", date(2026, 10, 25), date(2026, 10, 25)),  # where clocks are put back between the two
    ],
)
def test_all_are_counted_by_the_readers_day(database: Database, zone: str, first: date, second: date) -> None:
    evening, night = (datetime(2026, 10, day, hour, 40, tzinfo=UTC).timestamp() for day, hour in ((24, 22), (25, 22)))
    with database.session() as session:
        add_call(session, "a", "yes", "yes", agent="ann", started_at=evening, sentences={0: {"sentiment": "negative"}})
        add_call(session, "b", *["yes"] * 600, agent="bob", started_at=night)
        add_label(session, "a/1/1000", "sentiment", "positive")
        session.commit()
        own = by_day(session, ANN, SearchQuery(words="yes"), ZoneInfo(zone))
        everyone = by_day(session, HOUSE, SearchQuery(words="yes"), ZoneInfo(zone))
    assert own == {(first, "negative"): 1, (first, "positive"): 1}
    assert everyone == own | {(second, "neutral"): 600}


@pytest.mark.parametrize("order", ["newest", "closest"])
def test_pages_show_everything_once(database: Database, order: str) -> None:
    with database.session() as session:
        for number in range(25):
            add_call(session, f"call-{number}", "yes please", "yes", "yes, do that", started_at=START + number % 3)
        session.commit()
        query = SearchQuery(words="yes", order=order)  # type: ignore[arg-type]
        whole = ids(search(session, HOUSE, query, limit=100))
        pages: list[str] = []
        cursor = None
        while True:
            page = search(session, HOUSE, query, limit=7, cursor=cursor)
            pages += ids(page)
            cursor = page.cursor
            if cursor is None:
                break
            assert len(page.hits) == 7
        assert pages == whole
        assert len(set(pages)) == 75
        assert by_day(session, HOUSE, query, UTC, most=10).total() == 10
        with pytest.raises(BadInput, match="no place"):
            search(session, HOUSE, query, cursor="bad!")


def test_a_hit_says_what_one_needs_to_know(session: Session) -> None:
    (hit,) = search(session, HOUSE, SearchQuery(words='account "cancel my"')).hits
    assert hit.snippet.text == "I want to cancel my account today."
    assert hit.snippet.marks == [Mark(10, 19), Mark(20, 27)]
    assert (hit.call, hit.agent, hit.customer, hit.task, hit.mood) == ("bank", "ann", "555-0101", "cancel", -0.8)
    assert hit.rules == ("cancellation",)


def test_the_index_follows_every_change(session: Session) -> None:
    row = session.get_one(Sentence, "bank/0/0")
    row.text = "I want to keep my account."
    session.commit()
    assert ids(search(session, HOUSE, SearchQuery(words="keep"))) == ["bank/0/0"]
    assert ids(search(session, HOUSE, SearchQuery(words="today"))) == []
    session.delete(session.get_one(Call, "bank"))
    session.commit()
    assert ids(search(session, HOUSE, SearchQuery(words="keep"))) == []
    assert session.execute(text("SELECT count(*) FROM fts_documents")).scalar() == 3


def test_times_of_sentences_may_be_anything_and_may_change(session: Session) -> None:
    add_call(
        session, "late", "odd one", "odd two", "odd three", sentences={0: {"spoken_at": 1e300}, 1: {"spoken_at": -5}}
    )
    session.commit()
    assert ids(search(session, HOUSE, SearchQuery(words="odd"))) == ["late/0/0", "late/0/2000", "late/1/1000"]
    session.get_one(Sentence, "late/1/1000").spoken_at = START + 5000
    session.get_one(Sentence, "late/0/0").spoken_at = START
    session.commit()
    assert ids(search(session, HOUSE, SearchQuery(words="odd"))) == ["late/1/1000", "late/0/2000", "late/0/0"]
    assert ids(search(session, HOUSE, SearchQuery(words="odd", since=START + 3))) == ["late/1/1000"]


def test_a_sentence_of_five_megabytes(session: Session) -> None:
    long = "start " + "word " * 1_000_000 + "end"
    add_call(session, "long", long, "x" * 5_000_000)
    session.commit()
    (hit,) = search(session, HOUSE, SearchQuery(words="start")).hits
    assert len(hit.snippet.text) <= 400
    assert hit.snippet.cut_after
    (hit,) = search(session, HOUSE, SearchQuery(call=("long",), words="word")).hits
    assert hit.snippet.marks


def test_what_is_typed() -> None:
    assert read('refund "last week" canc* -thanks -"go away"') == Terms(
        (Term(("refund",)), Term(("last", "week")), Term(("canc",), prefix=True)),
        (Term(("thanks",)), Term(("go", "away"))),
    )
    assert read('"never closed') == Terms((Term(("never", "closed")),))
    assert len(read("a " * 1000).wanted) == 32
    assert marks("Füßchen, cafe\u0301 CAFÉ", [Term(("cafe",))]) == [Mark(9, 14), Mark(15, 19)]


def test_searches_are_kept_by_owner(session: Session) -> None:
    query = SearchQuery(words="refund", sentiment=("negative",), since=START)
    saved.save(session, "mia", " angry refunds ", SearchQuery())
    kept = saved.save(session, "mia", "angry refunds", query)
    saved.save(session, "rita", "mine", SearchQuery(words="x"), days=7)
    assert [(one.name, one.query, one.days) for one in saved.saved(session, "mia")] == [("angry refunds", query, 0)]
    assert [(one.query, one.days) for one in saved.saved(session, "rita")] == [(SearchQuery(words="x"), 7)]
    assert not saved.forget(session, "rita", kept.id)
    assert saved.forget(session, "mia", kept.id)
    assert saved.saved(session, "mia") == []
    with pytest.raises(BadInput, match="name"):
        saved.save(session, "mia", "  ", query)
