"""The generated history: there at once, the same every time, and gone without a trace."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import MetaData, func, select, text
from typer.testing import CliRunner

from storage import sample
from storage.db.engine import Database
from storage.queries.aspects import by_aspect
from storage.queries.history import Scope
from storage.queries.periods import Period
from storage.search import SearchQuery, search
from storage.tables import Agent, Alert, Call, Customer, DeadLetter, Label, Note, Sentence
from storage.viewer import HOUSE
from tenor.cli.app import app
from tenor.settings import Settings
from tenor.taxonomy.aspects import SHIPPED

pytestmark = pytest.mark.slow

NOW = datetime(2026, 5, 13, 16, 30, tzinfo=UTC).timestamp()
DAY = 86_400


def fill(database: Database, weeks: int = 1, now: float = NOW) -> sample.SampleCounts:
    return sample.add(database, weeks, now=now, zone=UTC)


def contents(database: Database) -> dict[str, list[Any]]:
    """Every row of every table, the search index's too."""
    tables = MetaData()
    tables.reflect(database.engine)
    with database.engine.connect() as connection:
        return {
            name: sorted(map(repr, connection.execute(text(f"SELECT * FROM {name}"))))
            for name in tables.tables
            if not name.startswith("fts_index_")  # what FTS5 keeps for itself
        }


def ours(database: Database) -> None:
    """A little of what is real, some of it about the same people as the generated calls."""
    with database.begin() as session:
        session.add(
            Call(id="real", agent="lena.hofer", customer="NG-1001", started_at=NOW - 50, roles=["caller", "agent"])
        )
        session.add(Agent(name="owen.price", display_name="Our own Owen"))
        session.add(Customer(id="NG-1002"))
        session.flush()
        common: dict[str, Any] = {
            "call": "real",
            "channel": 0,
            "role": "caller",
            "start_ms": 0,
            "end_ms": 900,
            "spoken_at": NOW,
        }
        session.add(
            Sentence(
                id="real/0/0", text="where is my parcel", sentiment="neutral", intent="x", intent_score=1, **common
            )
        )
        session.flush()
        session.add(Label(sentence="real/0/0", call="real", kind="text", value="a b", predicted="", author="me", at=1))
        session.add(Alert(id="a", call="real", rule="r", severity="info", text="t", at_ms=0, at=0))
        session.add(Note(id="n", call="real", author="me", text="t", at=0))
        session.add(DeadLetter(id="d", call="real", stage="s", reason="r", topic="t", partition=0, offset=0, at=0))


def test_removing_it_leaves_exactly_what_was_there(database: Database) -> None:
    ours(database)
    before = contents(database)
    added = fill(database)
    assert added.calls > 100
    assert contents(database) != before
    assert sample.remove(database) == added.calls
    assert contents(database) == before
    with database.session() as session:
        found = search(session, HOUSE, SearchQuery(words="parcel")).hits
        assert [hit.call for hit in found] == ["real"]
        assert not search(session, HOUSE, SearchQuery(words="northgate")).hits


def test_adding_it_twice_adds_nothing_and_a_day_later_adds_a_day(database: Database) -> None:
    fill(database)
    before = contents(database)
    assert fill(database) == sample.SampleCounts(0, 0)
    assert contents(database) == before
    later = fill(database, now=NOW + DAY)
    assert 0 < later.calls < 60
    with database.session() as session:
        new = session.scalar(select(func.count()).select_from(Call).where(Call.started_at > NOW))  # type: ignore[arg-type]
        assert new


def test_it_is_the_same_every_time(database: Database) -> None:
    fill(database)
    first = contents(database)
    sample.remove(database)
    fill(database)
    again = contents(database)
    for name in ("calls", "sentences", "alerts", "notes"):
        assert again[name] == first[name], name


@pytest.mark.slow
def test_every_page_finds_something(database: Database) -> None:
    """Eight weeks hold what the pages show, all of it marked and none of it in the future."""
    added = fill(database, weeks=8)
    assert 1200 <= added.calls <= 2000
    with database.session() as session:
        calls = list(session.scalars(select(Call)))
        assert all(call.sample and call.ended_at and call.ended_at < NOW for call in calls)
        assert min(call.started_at for call in calls) < NOW - 55 * DAY
        assert {call.medium for call in calls} == {"voice", "chat", "email"}
        assert {call.state for call in calls} == {"analysed", "failed"}
        assert len({call.agent for call in calls}) == 12
        assert len({call.queue for call in calls}) == 4
        assert len({call.site for call in calls}) == 2
        assert len({call.customer for call in calls}) == 60
        for table in (Alert, Note, Label, DeadLetter):
            assert session.scalar(select(func.count()).select_from(table)), table
        assert any(call.escalations for call in calls)
        assert search(session, HOUSE, SearchQuery(aspect=("delivery",), role=("caller",))).hits
        assert {*by_aspect(session, HOUSE, Scope(), Period.ending(NOW, 56, UTC))} == {*SHIPPED}
        assert all(call.reason for call in calls if call.state == "failed")


def test_sums_on_calls_are_those_of_their_sentences(database: Database) -> None:
    fill(database)
    with database.session() as session:
        for call in session.scalars(select(Call).limit(40)):
            own = list(session.scalars(select(Sentence).where(Sentence.call == call.id)))  # type: ignore[arg-type]
            assert call.sentences == len(own)
            for role, mood in (("caller", call.mood_caller), ("agent", call.mood_agent)):
                moods = [sentence.mood for sentence in own if sentence.role == role]
                assert mood == (pytest.approx(sum(moods) / len(moods), abs=1e-4) if moods else None)
            for sentence in own:
                assert sum(sentence.sentiment_scores.values()) == pytest.approx(1, abs=1e-3)
                assert max(sentence.sentiment_scores, key=sentence.sentiment_scores.__getitem__) == sentence.sentiment


def test_the_commands(sqlite_settings: Settings) -> None:
    run = CliRunner()
    home = ["--home", str(sqlite_settings.home), "--quiet"]
    added = run.invoke(app, [*home, "sample", "add", "--weeks", "1"])
    assert (added.exit_code, "sample calls" in added.output) == (0, True)
    assert "already" in run.invoke(app, [*home, "sample", "add", "--weeks", "1"]).output
    assert "removed" in run.invoke(app, [*home, "sample", "remove"]).output
    assert "no sample calls" in run.invoke(app, [*home, "sample", "remove"]).output
    assert run.invoke(app, [*home, "sample", "add", "--weeks", "0"]).exit_code == 2
