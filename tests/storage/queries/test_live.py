"""What the Live page starts from."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest
from sqlalchemy import text

from storage.db.engine import Database
from storage.labels.labels import correct
from storage.queries.live import LiveCall, live_calls, live_query
from storage.tables import Call
from storage.viewer import HOUSE
from storage.writer import call_aggregates
from storage.writer.call_aggregates import CURVE
from tests.storage.conversations import NAMES
from tests.storage.rows import AMIR, MANAGER, alert, call, sentence, store


def test_a_tile_has_curves_last_words_and_alerts(database: Database) -> None:
    store(
        database,
        call("one", agent="amir", started_at=20.0),
        call("two", agent="bea", started_at=10.0, state="ringing"),
        call("over", state="ended"),
        call("beginning unknown", started_at=0.0),
        sentence("one", 0, "caller", -0.5),
        sentence("one", 1000, "agent", 0.25),
        sentence("one", 2000, "caller", -1.0),
        alert("one", 2000, escalation=True),
        alert("one", 1000),
    )
    with database.session() as session:
        two, one = live_calls(session, MANAGER)
    assert (two.id, two.moods, two.last, two.raised) == ("two", {}, None, [])
    assert moods(one) == {"caller": [[0, -0.5], [2000, -1.0]], "agent": [[1000, 0.25]]}
    assert one.last is not None
    assert (one.last["role"], one.last["text"]) == ("caller", "words at 2000")
    assert [(raised["at_ms"], raised["escalation"]) for raised in one.raised] == [(1000, False), (2000, True)]
    assert (one.mood_caller, one.mood_agent, one.sentences, one.alerts, one.escalations) == (-0.75, 0.25, 3, 2, 1)


def test_sides_that_were_swapped_are_swapped_here_too(database: Database) -> None:
    store(database, call("one", swapped=True), sentence("one", 0, "caller", -0.5))
    with database.session() as session:
        (one,) = live_calls(session, MANAGER)
    assert moods(one) == {"agent": [[0, -0.5]]}
    assert one.last is not None
    assert one.last["role"] == "agent"
    assert (one.mood_caller, one.mood_agent) == (None, -0.5)


def test_the_last_sentence_is_as_people_left_it(database: Database) -> None:
    store(database, call("one", agent=AMIR.name), sentence("one", 0), sentence("one", 1000))
    with database.begin() as session:
        correct(session, MANAGER, "one/0/1000", "text", "What was said", names=NAMES)
        correct(session, MANAGER, "one/0/1000", "role", "agent", names=NAMES)
        correct(session, MANAGER, "one/0/0", "sentiment", "negative", names=NAMES)
        correct(session, AMIR, "one/0/1000", "text", "What the agent would like", names=NAMES)
    with database.session() as session:
        (one,) = live_calls(session, MANAGER)
    assert one.last is not None
    assert (one.last["text"], one.last["role"], one.last["sentiment"]) == ("What was said", "agent", "neutral")
    assert {kind: (said["value"], said["author"]) for kind, said in one.corrections.items()} == {
        "text": ("What was said", MANAGER.name),
        "role": ("agent", MANAGER.name),
    }


def test_curves_end_with_the_last_sentences(database: Database) -> None:
    said = [sentence("one", 1000 * number, mood=number / 1000) for number in range(CURVE + 40)]
    store(database, call("one"), *said)
    with database.session() as session:
        (one,) = live_calls(session, MANAGER)
        assert moods(one)["caller"] == [[1000 * n, n / 1000] for n in range(40, CURVE + 40)]
        row = session.get_one(Call, "one")
        row.state = "ended"
        session.flush()
        call_aggregates.refresh(session, ["one"])
        session.refresh(row)
        assert row.curves == ""  # nobody looks at it on the Live page any more


def test_everybody_sees_what_is_theirs(database: Database) -> None:
    store(
        database,
        call("one", agent="amir", site="north", queue="sales"),
        call("two", agent="bea", site="north", queue="help"),
        call("three", agent="bea", site="south", queue="help"),
    )
    with database.session() as session:
        assert [one.id for one in live_calls(session, AMIR)] == ["one"]
        assert {one.id for one in live_calls(session, MANAGER, site="north")} == {"one", "two"}
        assert [one.id for one in live_calls(session, MANAGER, site="north", queue="help")] == ["two"]
        assert live_calls(session, AMIR, site="south") == []


@pytest.mark.slow
def test_the_queries_read_what_is_live_by_indexes(database: Database) -> None:
    """However many calls are over, sentences were said and alerts raised."""
    over = [call(f"over {n}", state="analysed", started_at=float(n)) for n in range(300)]
    said = [sentence(f"over {n}", 1000 * m, mood=0.1) for n in range(300) for m in range(30)]
    raised = [alert(f"over {n}", 1000 * m) for n in range(300) for m in range(10)]
    store(database, call("one"), call("two"), *(sentence("one", 1000 * n) for n in range(99)), *over, *said, *raised)
    with database.begin() as session:
        session.execute(text("ANALYZE"))
    plan = _plan(database, live_query(HOUSE, "", "", database.engine.dialect.name))
    assert "Seq Scan" not in plan, plan
    assert re.search(
        "calls USING (COVERING )?INDEX calls_(by_state|live)|using calls_(by_state|live) on calls", plan
    ), plan
    assert "sentences_of_call" in plan, plan
    assert "FOR ORDER BY" not in plan, plan
    assert "alerts_of_call" in plan, plan


def moods(call: LiveCall) -> Any:
    return msgspec.json.decode(msgspec.json.encode(call.moods))


def _plan(database: Database, query: Any) -> str:
    compiled = query.compile(database.engine, compile_kwargs={"literal_binds": True})
    explain, column = ("EXPLAIN", 0) if database.is_postgres else ("EXPLAIN QUERY PLAN", 3)
    with database.session() as session:
        return "\n".join(row[column] for row in session.execute(text(f"{explain} {compiled}")))
