"""A card is filled in by rules and counts once a person has confirmed it: in the tables, the figures, and a copy."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import Session, select

from storage.db.engine import Database
from storage.privacy.erasure import erase
from storage.queries import calls
from storage.queries.history import Scope
from storage.queries.periods import Period
from storage.scorecards.confirming import card_of, confirm, scored
from storage.scorecards.statistics import by_point
from storage.tables import Audit, Call, Score
from storage.transfer.document import document_of, read_document
from storage.transfer.importer import store
from storage.viewer import HOUSE, Viewer
from storage.writer.event_batch import EventBatch
from tenor.errors import BadInput, Refused
from tenor.events import CallMetrics, ScorePoint
from tenor.settings import Settings
from tests.storage.conversations import START, add_call

MIA = Viewer("mia", "manager")
PERIOD = Period.ending(START + 60, 7, UTC)
CARD = [
    {"point": "greeted", "asks": "Greets", "value": "yes", "sentence": "", "at_ms": 0},
    {"point": "closed", "asks": "Closes", "value": "no", "sentence": "", "at_ms": 0},
]


def card(*answers: tuple[str, str]) -> tuple[ScorePoint, ...]:
    return tuple(ScorePoint(point=point, asks=point.title(), value=value) for point, value in answers)  # type: ignore[arg-type]


def test_the_last_metrics_bring_the_card_and_those_before_none(database: Database) -> None:
    filled = card(("greeted", "yes"))
    with database.begin() as session:
        for at_ms, final, points in ((1000, False, ()), (2000, True, filled)):
            event = CallMetrics(call="c", at_ms=at_ms, values={}, final=final, scorecard=points)
            EventBatch([(event, START)]).write(session)
    with database.session() as session:
        found = session.get(Call, "c")
        assert found is not None
        assert found.scorecard == [{"point": "greeted", "asks": "Greeted", "value": "yes", "sentence": "", "at_ms": 0}]


def test_only_what_a_person_confirmed_counts_and_the_newest_word_of_a_point(database: Database) -> None:
    with database.begin() as session:
        for number in range(4):
            add_call(session, f"c{number}", "hello", agent="anna", scorecard=CARD)
    with database.session() as session:
        assert by_point(session, HOUSE, Scope(agent="anna"), PERIOD) == []
    scored(database, MIA, "c0", {"greeted": "yes", "closed": "no"})
    scored(database, MIA, "c1", {"greeted": "no"})
    scored(database, MIA, "c1", {"greeted": "yes"})
    scored(database, MIA, "c2", {"greeted": "not_due", "closed": "yes"})
    with database.session() as session:
        found = {one.point: one.total for one in by_point(session, HOUSE, Scope(agent="anna"), PERIOD)}
        assert (found["greeted"].n, found["greeted"].mean) == (2, 1.0)
        assert (found["closed"].n, found["closed"].mean) == (2, 0.5)
        band = found["greeted"].interval
        assert band is not None
        assert (round(band.low, 2), band.high) == (0.34, 1.0)  # Wilson: two of two do not prove that it is always done
        assert by_point(session, HOUSE, Scope(agent="ben"), PERIOD) == []
        assert by_point(session, Viewer("ben", "agent"), Scope(agent="anna"), PERIOD) == []
        whole = calls.whole(session, HOUSE, "c1")
        assert whole is not None
        shown = {point["point"]: point["confirmed"] for point in card_of(whole.call, whole.scores)}
        assert shown["closed"] is None
        assert (shown["greeted"]["value"], shown["greeted"]["author"]) == ("yes", "mia")
        assert [score.value for score in whole.scores] == ["no", "yes"]  # nothing that was said is overwritten
        trail = session.exec(select(Audit).where(Audit.action == "scorecard.confirmed")).all()
        assert [row.subject for row in trail] == ["c0", "c1", "c1", "c2"]


def test_who_may_confirm_what(database: Database) -> None:
    with database.begin() as session:
        add_call(session, "over", "hello", agent="mia", scorecard=CARD)
        add_call(session, "live", "hello", agent="anna", scorecard=CARD, state="live")
        add_call(session, "annas", "hello", agent="anna", scorecard=CARD)
    with database.begin() as session:
        for viewer, call, values, said in (
            (Viewer("anna", "agent"), "annas", {"greeted": "yes"}, "does not confirm"),
            (Viewer("ada", "analyst"), "annas", {"greeted": "yes"}, "does not confirm"),
            (MIA, "over", {"greeted": "yes"}, "a call of your own"),
        ):
            with pytest.raises(Refused, match=said):
                confirm(session, viewer, call, values)
        for call, values, said in (
            ("live", {"greeted": "yes"}, "not over yet"),
            ("gone", {"greeted": "yes"}, "there is no call"),
            ("annas", {"greted": "yes"}, "no point 'greted'; did you mean 'greeted'"),
            ("annas", {"greeted": "perhaps"}, "'perhaps' is no answer"),
            ("annas", {}, "no point was named"),
        ):
            with pytest.raises(BadInput, match=said):
                confirm(session, MIA, call, values)
        assert session.exec(select(Score)).all() == []


async def test_cards_travel_with_their_call_and_are_erased_with_it(database: Database, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    with database.begin() as session:
        add_call(session, "c", "hello", agent="anna", scorecard=CARD)
    scored(database, MIA, "c", {"greeted": "no", "closed": "yes"})
    document = _document(database)
    assert [score["value"] for score in document["scores"]] == ["no", "yes"]
    assert store(database, settings, read_document(document), by="mia").outcome == "unchanged"
    document["scores"][0]["value"] = "yes"
    told = store(database, settings, read_document(document), by="mia")
    assert (told.outcome, told.detail) == ("conflict", "it is here already and differs in scores")
    assert store(database, settings, read_document(document), by="mia", replace=True).outcome == "replaced"
    assert _document(database)["scores"] == document["scores"]
    receipt = await erase(database, settings, by="mia", call="c")
    assert receipt.rows["scores"] == 2
    with database.session() as session:
        assert session.exec(select(Score)).all() == []


def _document(database: Database) -> dict[str, list[dict[str, str]]]:
    with database.session() as session:
        whole = calls.whole(session, HOUSE, "c")
        assert whole is not None
        return document_of(session, whole)


def test_a_card_that_is_filled_in_anew_keeps_what_people_said(database: Database) -> None:
    from storage.scorecards.filling import keep

    with database.begin() as session:
        add_call(session, "c", "hello", agent="anna", scorecard=CARD)
    scored(database, MIA, "c", {"greeted": "no", "closed": "yes"})
    with database.begin() as session:
        assert keep(session, {"c": card(("greeted", "yes"), ("sold", "yes"))}, "mia", "ours.yaml") == 1
        assert keep(session, {"c": card(("greeted", "yes"), ("sold", "yes"))}, "mia", "ours.yaml") == 0
    with database.session() as session:
        shown = {point["point"]: point["confirmed"] for point in _card(session)}
    assert {name: said and said["value"] for name, said in shown.items()} == {
        "greeted": "no",
        "sold": None,
        "closed": "yes",
    }


def _card(session: Session) -> list[dict[str, Any]]:
    whole = calls.whole(session, HOUSE, "c")
    assert whole is not None
    return card_of(whole.call, whole.scores)
