"""Calls by what their callers talk about, and the search for it: the same on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC

import pytest
from sqlmodel import Session

from storage.db.engine import Database
from storage.queries.aspects import by_aspect
from storage.queries.history import Scope
from storage.queries.periods import Period
from storage.search import SearchQuery, search
from storage.search.text import query_from_text, text_of
from storage.viewer import HOUSE, Viewer
from tests.storage.conversations import START, add_call

LINES = ("Late again.", "I see.", "And it was broken.", "Oh.", "Far too expensive.", "Hm.")


@pytest.fixture
def session(database: Database) -> Iterator[Session]:
    with database.session() as session:
        add_call(
            session, "late", *LINES, agent="ann", customer="555",
            sentences={
                0: {"labels": {"aspect": "delivery"}, "mood": -0.5},
                1: {"labels": {"aspect": "price"}, "mood": 1.0},  # the agent says it
                2: {"labels": {"aspect": "delivery,product", "topic": "brand"}, "mood": -1.0},
                4: {"labels": {"topic": "price"}, "mood": -1.0},  # another classifier's
            },
        )  # fmt: skip
        add_call(
            session, "fine", *LINES, agent="bob", started_at=START + 60, swapped=True,
            sentences={
                0: {"labels": {"aspect": "price"}},  # the sides are the wrong way round: this is the agent
                1: {"labels": {"aspect": "delivery"}, "mood": 0.5},
            },
        )  # fmt: skip
        session.commit()
        yield session


PERIOD = Period.ending(START + 3600, 2, UTC)


def test_a_call_counts_once_for_each_aspect_its_caller_speaks_of(session: Session) -> None:
    found = by_aspect(session, HOUSE, Scope(), PERIOD)
    counted: dict[str, object] = {name: (stats.calls, stats["mood_caller"].mean) for name, stats in found.items()}
    assert counted == {
        "delivery": (2, pytest.approx((-0.75 + 0.5) / 2)),
        "product": (1, pytest.approx(-1.0)),
    }
    assert list(found) == ["delivery", "product"]
    assert found["delivery"]["mood_caller"].interval is not None


def test_only_what_the_viewer_may_see_and_what_is_asked_for_counts(session: Session) -> None:
    assert by_aspect(session, Viewer("bob", "agent"), Scope(), PERIOD).keys() == {"delivery"}
    assert by_aspect(session, HOUSE, Scope(customer="555"), PERIOD)["delivery"].calls == 1
    assert by_aspect(session, HOUSE, Scope(), PERIOD.before()) == {}


def test_sentences_are_found_by_their_aspect(session: Session) -> None:
    def found(*aspects: str) -> list[str]:
        return sorted(hit.sentence for hit in search(session, HOUSE, SearchQuery(aspect=aspects)).hits)

    assert found("product") == ["late/0/2000"]
    assert found("delivery") == ["fine/1/1000", "late/0/0", "late/0/2000"]
    assert found("product", "price") == ["fine/0/0", "late/0/2000", "late/1/1000"]
    assert found("deliver") == found("%") == found("brand") == []
    query = query_from_text("aspect:delivery,product late")
    assert (query.aspect, text_of(query)) == (("delivery", "product"), "aspect:delivery,product late")
