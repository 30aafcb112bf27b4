"""Days that are measured and examined, on real databases."""

from __future__ import annotations

import pytest
from sqlmodel import select

from storage.db.engine import Database
from storage.drift.queries import alarms, groups, last_day, newest_alarms, results, series
from storage.drift.watching import bring_up_to_date
from storage.tables import Call, DriftSum, DriftTest, Gate
from storage.viewer import HOUSE, Viewer
from tenor.settings import Settings
from tests.storage.drift.calls import MODEL, add_day, day_name, noon

AGENT = Viewer("amir", "agent")


def figures(database: Database, day: str, measure: str) -> dict[tuple[str, str, str], DriftTest]:
    with database.session() as session:
        found = results(session, HOUSE, since=day, until=day)
    return {(one.scope, one.name, one.value): one for one in found if one.measure == measure}


@pytest.mark.slow
def test_a_lasting_change_of_one_queue_is_an_alarm_of_that_queue_from_its_second_day(
    database: Database, database_settings: Settings
) -> None:
    with database.begin() as session:
        for number in range(18):
            add_day(session, number, queue="orders", site="south", negative=0.1)
            add_day(session, number, queue="billing", negative=0.4 if number >= 15 else 0.1)
    update = bring_up_to_date(database, database_settings, noon(18))
    assert (update.days, update.newest) == (18, day_name(17))
    with database.session() as session:
        found = {(one.scope, one.name, one.value): one for one in alarms(session, HOUSE) if one.measure == "sentiment"}
        assert last_day(session, HOUSE) == day_name(17)
        assert newest_alarms(session) == alarms(session, HOUSE)
    billing = found["queue", "billing", "negative"]
    assert (billing.first, billing.last, billing.days) == (day_name(16), day_name(17), 2)
    assert billing.kind == "data"
    assert billing.before == pytest.approx(0.1, abs=0.03)
    assert billing.now == pytest.approx(0.4, abs=0.08)
    assert ("house", "", "negative") in found
    assert not any(name == "orders" for _, name, _ in found), "the other queue is as it was"
    assert update.new_alarms < update.alarms


def test_days_are_measured_once_and_again_where_calls_were_brought_in(
    database: Database, database_settings: Settings
) -> None:
    with database.begin() as session:
        for number in range(10):
            add_day(session, number, calls=25)
    assert bring_up_to_date(database, database_settings, noon(10)).days == 10
    with database.begin() as session:
        add_day(session, 2, calls=5, queue="late")
        add_day(session, 10, calls=25)
    assert bring_up_to_date(database, database_settings, noon(10)).days == 4, (
        "the last three, and the one with new calls"
    )
    with database.session() as session:
        points = series(session, HOUSE, "sentiment")
        assert [point.calls for point in points["neutral"]] == [25, 25, 30, 25, 25, 25, 25, 25, 25, 25]
        assert groups(session, HOUSE, "queue") == ["billing", "late"]
        late = series(session, HOUSE, "sentiment", scope="queue", name="late")
        assert [point.day for point in late["neutral"]] == [day_name(2)]


def test_calls_that_are_deleted_leave_what_was_measured(database: Database, database_settings: Settings) -> None:
    with database.begin() as session:
        for number in range(9):
            add_day(session, number, calls=25)
    bring_up_to_date(database, database_settings, noon(9))
    with database.begin() as session:
        for call in session.scalars(select(Call).where(Call.started_at < noon(3))):
            session.delete(call)
    bring_up_to_date(database, database_settings, noon(9))
    with database.session() as session:
        assert len(series(session, HOUSE, "sentiment")["neutral"]) == 9


@pytest.mark.slow
def test_another_model_has_days_of_its_own_to_be_compared_with(database: Database, database_settings: Settings) -> None:
    """What it answers otherwise is no drift: the words are the same."""
    with database.begin() as session:
        for number in range(10):
            add_day(session, number, negative=0.1)
        for number in range(10, 25):
            add_day(session, number, negative=0.4, model="house-1@abcd1234")
    bring_up_to_date(database, database_settings, noon(25))
    with database.session() as session:
        assert alarms(session, HOUSE) == []
    assert figures(database, day_name(22), "sentiment") == {}, "there are too few days of the new model"
    assert figures(database, day_name(24), "sentiment")["house", "", "negative"].before == pytest.approx(0.4, abs=0.05)


def test_live_accuracy_is_compared_with_what_the_gate_measured(database: Database, database_settings: Settings) -> None:
    """What people say has changed and what the model sees has not: that is concept drift alone."""
    with database.begin() as session:
        accuracy = {"sentiment": {side: {"share": 0.9, "error": 0.01} for side in ("champion", "candidate")}}
        session.add(Gate(model="house-1", against=MODEL, passed=True, figures={"accuracy": accuracy}, at=1.0, by="ann"))
        for number in range(12):
            add_day(session, number, sentences=2, right=0.9 if number < 8 else 0.5)
    bring_up_to_date(database, database_settings, noon(12))
    tested = figures(database, day_name(7), "accuracy")["house", "", "sentiment"]
    assert (tested.kind, tested.against, tested.before, tested.alarm) == ("concept", "gate", 0.9, False)
    assert tested.calls == 320
    with database.session() as session:
        found = alarms(session, HOUSE)
        live = series(session, HOUSE, "accuracy")["sentiment"]
    assert {one.measure for one in found} == {"accuracy"}
    assert {one.kind for one in found} == {"concept"}
    assert live[-1].value == pytest.approx(0.5, abs=0.2)


def test_speech_that_is_harder_to_recognise_and_words_that_nobody_knows_are_told(
    database: Database, database_settings: Settings
) -> None:
    with database.begin() as session:
        for number in range(14):
            add_day(session, number, calls=25)
        for number in (14, 15):
            add_day(session, number, calls=25, text="My zorblifex is quarnished.", confidence=0.6, intent_score=0.5)
    bring_up_to_date(database, database_settings, noon(16))
    with database.session() as session:
        found = {(one.measure, one.value) for one in newest_alarms(session) if one.scope == "house"}
    assert found == {("unknown words", ""), ("confidence", ""), ("expected", "intent")}


def test_what_is_of_everybody_is_not_for_agents(database: Database, database_settings: Settings) -> None:
    with database.begin() as session:
        for number in range(8):
            add_day(session, number)
    bring_up_to_date(database, database_settings, noon(8))
    with database.session() as session:
        assert series(session, HOUSE, "sentiment")
        assert not series(session, AGENT, "sentiment")
        assert not results(session, AGENT)
        assert not alarms(session, AGENT)
        assert not groups(session, AGENT, "queue")


def test_an_empty_house_has_no_drift(database: Database, database_settings: Settings) -> None:
    update = bring_up_to_date(database, database_settings, noon(0))
    assert (update.days, update.newest, update.alarms) == (0, "", 0)


def test_nothing_that_is_kept_holds_words(database: Database, database_settings: Settings) -> None:
    with database.begin() as session:
        add_day(session, 0, text="My name is Rosalind.")
    bring_up_to_date(database, database_settings, noon(1))
    with database.session() as session:
        kept = " ".join(str(row.model_dump()) for row in session.scalars(select(DriftSum)))
    assert "unknown words" in kept
    assert "rosalind" not in kept.lower()
    assert "0-billing-0" not in kept
