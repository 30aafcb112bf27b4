"""History's sums against the same numbers worked out one call at a time, in plain Python."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Float, column, select, table, text

from storage import sample
from storage.db.engine import Database, open_database
from storage.queries import history
from storage.queries.history import CallStatistics, Scope
from storage.queries.periods import Period, day_of
from storage.queries.statistics import MeasureSummary
from storage.tables import Agent, Call
from storage.viewer import HOUSE, Viewer
from tenor.settings import Settings, StorageSettings
from tests.conftest import postgres_database

NEW_YORK = ZoneInfo("America/New_York")
NOW = datetime(2026, 11, 6, 16, 30, tzinfo=UTC).timestamp()
"""Clocks there went back on 1 November."""


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """Two weeks on each database in turn; nothing here changes them."""
    url = postgres_database(request.getfixturevalue("postgres")) if request.param == "postgres" else ""
    settings = Settings(home=tmp_path_factory.mktemp("history"), storage=StorageSettings(url=url))
    database = open_database(settings)
    sample.add(database, 2, now=NOW, zone=UTC)
    with database.begin() as session:  # one that goes on, and one that nothing is known of yet
        common: dict[str, Any] = {
            "agent": "lena.hofer",
            "customer": "NG-1001",
            "roles": ["caller", "agent"],
            "started_at": NOW - 60,
        }
        session.add(Call(id="going-on", state="live", mood_caller=-1.0, **common))
        session.add(Call(id="silent", state="ended", **common))
    yield database
    database.close()


def period() -> Period:
    return Period.ending(NOW, 14, NEW_YORK)


def counted(database: Database, span: Period) -> list[Call]:
    with database.session() as session:
        calls = session.scalars(select(Call))
        return [call for call in calls if call.state != "live" and span.since <= call.started_at < span.until]


def local_day(call: Call) -> date:
    return datetime.fromtimestamp(call.started_at, NEW_YORK).date()


def check(tally: CallStatistics, calls: Iterable[Call]) -> None:
    calls = list(calls)
    assert tally.calls == len(calls)
    assert tally.sample == sum(call.sample for call in calls)
    for name in ("mood_caller", "mood_agent", "talk_share_agent", "silence_share"):
        _same(tally[name], [value for call in calls if (value := getattr(call, name)) is not None])
    _same(tally["escalated"], [float(call.escalations > 0) for call in calls])
    _same(tally["minutes"], [call.duration_ms / 60_000 for call in calls if call.medium == "voice"])


def _same(sums: MeasureSummary, values: list[float]) -> None:
    assert sums.n == len(values)
    assert sums.mean == (pytest.approx(statistics.mean(values)) if values else None)
    if len(values) > 1:
        assert sums.variance == pytest.approx(statistics.variance(values), abs=1e-9)


def test_days_are_local_days_also_when_clocks_change(filled: Database) -> None:
    span = period()
    by_day: dict[date, list[Call]] = defaultdict(list)
    for call in counted(filled, span):
        by_day[local_day(call)].append(call)
    with filled.session() as session:
        found = history.by_day(session, HOUSE, Scope(), span)
        assert list(found) == sorted(by_day)
        for day, tally in found.items():
            check(tally, by_day[day])
        check(history.total(session, HOUSE, Scope(), span), counted(filled, span))


def test_weeks_and_months_are_the_sums_of_their_days(filled: Database) -> None:
    span = period()
    with filled.session() as session:
        days = history.by_day(session, HOUSE, Scope(), span)
    for first, tally in history.in_steps(days, "week").items():
        own = (c for c in counted(filled, span) if local_day(c) - timedelta(days=local_day(c).weekday()) == first)
        check(tally, own)
    for first, tally in history.in_steps(days, "month").items():
        check(tally, (call for call in counted(filled, span) if local_day(call).replace(day=1) == first))


def test_agents_customers_tasks_and_hours(filled: Database) -> None:
    span = period()
    calls = counted(filled, span)
    with filled.session() as session:
        for found, column in (
            (history.by_agent(session, HOUSE, Scope(), span), "agent"),
            (history.by_customer(session, HOUSE, Scope(), span), "customer"),
            (history.by_task(session, HOUSE, Scope(), span), "task"),
            (history.by_medium(session, HOUSE, Scope(), span), "medium"),
        ):
            assert found.keys() == {getattr(call, column) for call in calls} - {""}
            for value, tally in found.items():
                check(tally, (call for call in calls if getattr(call, column) == value))
            assert [tally.calls for tally in found.values()] == sorted((t.calls for t in found.values()), reverse=True)
        hours = history.by_hour(session, HOUSE, Scope(), span)
    moments = [datetime.fromtimestamp(call.started_at, NEW_YORK) for call in calls]
    assert {key: tally.calls for key, tally in hours.items()} == Counter((at.weekday(), at.hour) for at in moments)


def test_scopes_narrow_and_a_team_leaves_one_out(filled: Database) -> None:
    span = period()
    calls = counted(filled, span)
    with filled.session() as session:
        team = {agent.name for agent in session.scalars(select(Agent)) if agent.team == "Harbour"}
        assert len(team) == 4
        rest = team - {"lena.hofer"}
        found = history.total(session, HOUSE, Scope(team="Harbour", without="lena.hofer"), span)
        check(found, (call for call in calls if call.agent in rest))
        narrow = Scope(site="Leeds", queue="orders", medium="chat")
        found = history.total(session, HOUSE, narrow, span)
        check(found, (c for c in calls if (c.site, c.queue, c.medium) == ("Leeds", "orders", "chat")))


def test_an_agent_finds_only_their_own(filled: Database) -> None:
    span, viewer = period(), Viewer("owen.price", "agent")
    own = [call for call in counted(filled, span) if call.agent == "owen.price"]
    someone = next(call for call in counted(filled, span) if call.agent != "owen.price" and call.sentences)
    with filled.session() as session:
        check(history.total(session, viewer, Scope(), span), own)
        assert history.total(session, viewer, Scope(agent="lena.hofer"), span).calls == 0
        assert history.by_agent(session, viewer, Scope(), span).keys() == {"owen.price"}
        assert history.agents(session, viewer).keys() == {"owen.price"}
        assert {call.id for call in history.calls(session, viewer, Scope(), span, limit=500)} == {
            call.id for call in own
        }
        assert {person.id for person in history.customers(session, viewer, limit=500)} <= {
            call.customer for call in session.scalars(select(Call)) if call.agent == "owen.price"
        }
        assert history.sentences(session, viewer, [someone.id]) == {}
        assert history.sentences(session, HOUSE, [someone.id])[someone.id]


def test_calls_in_order(filled: Database) -> None:
    span = period()
    calls = counted(filled, span)
    with filled.session() as session:
        worst = history.calls(session, HOUSE, Scope(), span, "worst", 20)
        best = history.calls(session, HOUSE, Scope(), span, "best", 20)
        newest = history.calls(session, HOUSE, Scope(), span, "newest", 20)
        said = history.sentences(session, HOUSE, [worst[0].id])[worst[0].id]
    moods = sorted(call.mood_caller for call in calls if call.mood_caller is not None)
    assert [call.mood_caller for call in worst] == moods[:20]
    assert [call.mood_caller for call in best] == moods[::-1][:20]
    assert [call.started_at for call in newest] == sorted((call.started_at for call in calls), reverse=True)[:20]
    assert [one.start_ms for one in said] == sorted(one.start_ms for one in said)
    assert len(said) == worst[0].sentences


def test_customers_are_found_by_any_part_of_name_or_number(filled: Database) -> None:
    with filled.session() as session:
        assert [one.id for one in history.customers(session, HOUSE, "ng-1001")] == ["NG-1001"]
        person = history.customers(session, HOUSE)[0]
        part = person.name[2:6].upper()
        assert person.id in {one.id for one in history.customers(session, HOUSE, part, 60)}
        assert history.customers(session, HOUSE, "%") == []
        assert history.customers(session, HOUSE, "nobody of that name") == []


def test_nothing_is_nothing(database: Database) -> None:
    span = period()
    with database.session() as session:
        assert history.by_day(session, HOUSE, Scope(), span) == {}
        assert history.total(session, HOUSE, Scope(), span).calls == 0
        assert history.agents(session, HOUSE) == {}
        assert history.customers(session, HOUSE) == []
        assert history.calls(session, HOUSE, Scope(), span) == []


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC"])
def test_every_moment_of_a_year_is_in_its_own_day(database: Database, zone: str) -> None:
    place = ZoneInfo(zone)
    span = Period(date(2026, 1, 1), date(2026, 12, 31), place)
    moments = [span.since + step * 5_401.7 for step in range(5_800)]
    with database.begin() as session:
        session.execute(text("CREATE TEMPORARY TABLE moments (at DOUBLE PRECISION)"))
        session.execute(text("INSERT INTO moments VALUES (:at)"), [{"at": at} for at in moments])
        at = column("at", Float)
        rows = session.execute(
            select(at, span.day_number(at), span.hour_of_day(at), span.weekday(at)).select_from(table("moments"))
        )
        for moment, day, hour, weekday in rows:
            local = datetime.fromtimestamp(moment, place)
            assert (day_of(day), hour, weekday) == (local.date(), local.hour, local.weekday())


def test_the_indexes_are_used(filled: Database) -> None:
    """Of one agent, of one customer, and of a stretch of time: none reads the whole table."""
    span = Period.ending(NOW, 2, UTC)
    plans = []
    with filled.session() as session:
        if filled.is_postgres:
            session.execute(text("SET enable_seqscan = off"))  # the table is small; what matters is that it could
        for scope in (Scope(agent="lena.hofer"), Scope(customer="NG-1001"), Scope()):
            query = history._summed(HOUSE, scope, span).compile(filled.engine, compile_kwargs={"literal_binds": True})
            rows = session.execute(text(("EXPLAIN " if filled.is_postgres else "EXPLAIN QUERY PLAN ") + str(query)))
            plans.append(" ".join(map(str, rows)))
    for plan, index in zip(plans, ("calls_by_agent", "calls_by_customer", "calls_by_"), strict=True):
        assert index in plan
