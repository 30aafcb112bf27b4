"""A call understood as a whole: into the tables at once, and in place of what an earlier understanding left there."""

from __future__ import annotations

import pytest

from storage.db.engine import Database
from storage.labels.labels import correct
from storage.privacy import tombstones
from storage.queries.calls import WholeCall, whole
from storage.search import SearchQuery, search
from storage.tables import Note
from storage.viewer import HOUSE
from storage.writer import replace_call
from tenor.events import Event
from tests.storage.conversations import NAMES
from tests.storage.events import STARTED, alert, metrics, sentence, state, whole_call
from tests.storage.rows import MANAGER
from tests.storage.writing import rows


def understood(*said: Event) -> list[Event]:
    over = [state("one", "ended", STARTED + 9, reason="end of file"), metrics("one", 9000, task="refund", final=True)]
    return [state("one", "live"), *said, *over, state("one", "analysed", STARTED + 10)]


def store(database: Database, events: list[Event], *, failed: bool = False) -> bool:
    with database.begin() as session:
        return replace_call.store(session, "one", events, STARTED, failed=failed)


def kept(database: Database) -> WholeCall:
    with database.session() as session:
        found = whole(session, HOUSE, "one")
    assert found is not None
    return found


def test_what_is_understood_again_leaves_nothing_of_what_was_there(database: Database) -> None:
    first = [sentence("one", 0, mood=-1.0), sentence("one", 1000), sentence("one", 2500), alert("one", 1000)]
    second = [sentence("one", 0, mood=0.5, text="other words", intent="refund"), sentence("one", 2000)]
    store(database, understood(*second))
    expected = rows(database)
    other = list(whole_call("two", 5))
    with database.begin() as session:
        replace_call.store(session, "two", other, STARTED)
    store(database, understood(*first))
    assert kept(database).call.alerts == 1
    store(database, understood(*second))
    again = rows(database)
    for table, found in expected.items():
        of_one = {key: row for key, row in again[table].items() if row.get("call", row.get("id")) == "one"}
        assert of_one == {key: row for key, row in found.items() if row.get("call", row.get("id")) == "one"}, table
    with database.session() as session:
        assert not search(session, MANAGER, SearchQuery(words='"words at 2500"')).hits
        assert search(session, MANAGER, SearchQuery(words="other words")).hits


def test_what_people_said_stays(database: Database) -> None:
    store(database, understood(sentence("one", 0), sentence("one", 1000), sentence("one", 2000)))
    with database.begin() as session:
        correct(session, MANAGER, "one/0/0", "sentiment", "negative", names=NAMES)
        correct(session, MANAGER, "one/0/1000", "text", "what was really said", names=NAMES)
        session.add(Note(id="n1", call="one", author="maria", text="well done", at=STARTED, sentence="one/0/2000"))
    store(database, understood(sentence("one", 0, text="heard better"), sentence("one", 1100)))
    found = kept(database)
    assert [(row.start_ms, row.text) for row in found.sentences] == [
        (0, "heard better"),
        (1000, "words at 1000"),  # nobody hears it any more, but somebody corrected it
        (1100, "words at 1100"),
    ]
    assert found.said(found.sentences[0])["sentiment"] == "negative"
    assert found.said(found.sentences[1])["text"] == "what was really said"
    assert [note.text for note in found.notes] == ["well done"]
    store(database, understood(sentence("one", 1000, text="heard after all")))
    assert [row.text for row in kept(database).sentences] == ["heard better", "heard after all"]


def test_a_failure_can_be_mended_and_mends_nothing_away(database: Database) -> None:
    broken = [state("one", "live"), sentence("one", 0), state("one", "failed", reason="the file ends in the middle")]
    store(database, broken, failed=True)
    assert (kept(database).call.state, kept(database).call.reason) == ("failed", "the file ends in the middle")
    store(database, understood(sentence("one", 0), sentence("one", 1000)))
    assert (kept(database).call.state, kept(database).call.reason) == ("analysed", "end of file")
    store(database, broken, failed=True)
    assert (kept(database).call.state, len(kept(database).sentences)) == ("analysed", 2)


def test_half_a_call_of_before_is_made_whole(database: Database) -> None:
    """As a batch left it that was killed when calls were still written sentence by sentence."""
    half = [state("one", "live"), sentence("one", 0), sentence("one", 700), metrics("one", 9500)]
    store(database, half)
    store(database, understood(sentence("one", 0), sentence("one", 1000)))
    found = kept(database)
    assert [row.start_ms for row in found.sentences] == [0, 1000]
    assert (found.call.state, found.call.metrics_ms, found.call.task) == ("analysed", 9000, "refund")


def test_a_long_one_is_written_in_parts_but_at_once(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replace_call, "AT_ONCE", 7)
    store(database, understood(*(sentence("one", at) for at in range(0, 50_000, 1000))))
    assert (kept(database).call.sentences, kept(database).call.state) == (50, "analysed")


def test_an_erased_call_does_not_come_back(database: Database) -> None:
    with database.begin() as session:
        tombstones.mark(session, "one", STARTED)
    assert not store(database, understood(sentence("one", 0)))
    assert not rows(database, "calls", "sentences")["calls"]
