"""A weekly report says what was, what changed and how sure that is; and what is not there, it says, too."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlmodel import Session

from dashboard.report.figures import WeekReport, week_of, week_report
from dashboard.report.page import first_lines, page
from dashboard.ui.formatting import MINUS
from storage.db.engine import Database
from storage.queries.history import Scope
from storage.scorecards.confirming import scored
from storage.tables import Agent, Turn
from storage.viewer import HOUSE, Viewer
from tenor.errors import BadInput, Refused
from tests.dashboard.conftest import BrowserThread
from tests.storage.conversations import add_alert, add_call

LINK = "https://tenor.example"
NOW = datetime(2026, 11, 19, 12, tzinfo=UTC).timestamp()
WEEK = week_of("2026-W46", UTC, NOW)
CARD = [{"point": "greeted", "asks": "Greets the caller", "value": "yes", "sentence": "", "at_ms": 0}]
EVERYONE = Scope()
HOSTILE = "<script>alert(1)</script>"


def at(day: date, hour: int = 10) -> float:
    return datetime(day.year, day.month, day.day, hour, tzinfo=UTC).timestamp()


def add_week(session: Session, name: str, monday: date, count: int, mood: float, **about: Any) -> None:
    for number in range(count):
        day = date.fromordinal(monday.toordinal() + number % 7)
        add_call(
            session,
            f"{name}-{number}",
            "hello",
            started_at=at(day, 8 + number // 7),
            mood_caller=mood + 0.02 * (number % 3),
            mood_agent=0.1,
            agent="ann" if number % 2 else "bob",
            customer="Carla Diaz",
            task="refund" if number % 3 else "cancel",
            **about,
        )


@pytest.fixture
def filled(database: Database) -> Database:
    with database.begin() as session:
        session.add(Agent(name="ann", display_name="Ann <b>", team="North"))
        session.add(Agent(name="bob", display_name="Bob", team="South"))
        add_week(
            session,
            "now",
            date(2026, 11, 9),
            28,
            -0.3,
            summary={"headline": HOSTILE, "outcome": "open"},
            scorecard=CARD,
        )
        add_week(session, "before", date(2026, 11, 2), 21, 0.1)
        add_call(session, "sunday", "late", started_at=at(date(2026, 11, 15), 23), mood_caller=-0.9, task="complaint")
        add_call(session, "monday", "early", started_at=at(date(2026, 11, 16), 0), mood_caller=-1.0)
        add_alert(session, "now-0", "caller-upset", "critical")
    scored(database, Viewer("mia", "manager"), "now-1", {"greeted": "yes"})
    return database


def made(database: Database, scope: Scope = EVERYONE, week: str = "2026-W46", now: float = NOW) -> WeekReport:
    with database.session() as session:
        return week_report(session, HOUSE, scope, week_of(week, UTC, now), now)


def test_a_week_is_told_against_the_week_before_and_a_missing_year_is_said(filled: Database) -> None:
    report = made(filled)
    assert (report.now.total.calls, report.before.total.calls, report.year_ago.total.calls) == (29, 21, 0)
    first, *changes = first_lines(report)
    assert first == "29 calls, 29 s on the phone; 8 more than in the week before (21)."
    assert any(
        re.fullmatch(rf"Callers' mood: {MINUS}0\.3\d, below the week before \(\+0\.12\)\.", line) for line in changes
    )
    html = page(report, LINK)
    assert "no calls from the same week a year ago (10 to 16 November 2025)" in html
    assert "Caller upset" in html
    assert report.notable[0].call.id == "sunday"
    assert "/call?call=sunday" in html
    assert "/call?call=monday" not in html


def test_a_year_ago_is_compared_by_weekday(filled: Database) -> None:
    with filled.begin() as session:
        add_week(session, "year", date(2025, 11, 10), 14, -0.3)
    html = page(made(filled), LINK)
    assert "a year ago: 14" in html
    assert re.search(r"(about as|above|below) a year ago", html)


def test_small_numbers_are_not_compared(database: Database) -> None:
    with database.begin() as session:
        add_week(session, "now", date(2026, 11, 9), 3, -0.9)
        add_week(session, "before", date(2026, 11, 2), 21, 0.5)
    report = made(database)
    assert first_lines(report) == ["3 calls, 3 s on the phone; 18 fewer than in the week before (21)."]
    assert "3 calls: too few to compare with the week before" in page(report, LINK)


def test_only_confirmed_scorecards_count(filled: Database) -> None:
    report = made(filled)
    assert [(point.point, point.total.n) for point in report.now.points] == [("greeted", 1)]
    assert report.agent_points["ann"].n == 1
    assert report.agent_points["bob"].n == 0
    assert "Nobody has confirmed a scorecard" in page(made(filled, week="2026-W45"), LINK)


def test_handovers_are_counted_by_reason(filled: Database) -> None:
    with filled.begin() as session:
        turn: dict[str, Any] = {"input": "", "at": NOW, "handover": {"queue": "north", "reason": "asked"}, "turn": 1}
        session.add(Turn(id="now-3/1", call="now-3", **turn))
        session.add(Turn(id="now-3/2", call="now-3", **{**turn, "turn": 2}))
    report = made(filled)
    assert report.now.handovers == {"asked": 1}
    assert made(filled, Scope(team="South")).now.handovers == {}  # it was Ann's


def test_a_team_has_its_own_report(filled: Database) -> None:
    report = made(filled, Scope(team="North"))
    assert (report.name, set(report.now.agents), report.now.total.calls) == ("North", {"ann"}, 14)
    with pytest.raises(BadInput, match="no team 'Nroth'; did you mean 'North'"):
        made(filled, Scope(team="Nroth"))
    with pytest.raises(BadInput, match="no queue 'x'"):
        made(filled, Scope(queue="x"))


def test_a_week_without_calls_says_so(filled: Database) -> None:
    html = page(made(filled, week="2026-W47"), LINK)
    assert "1 call," in html  # Monday's
    html = page(made(filled, week="2026-W40"), LINK)
    assert "No calls in this week." in html
    assert "The same week a year ago (29 September to 5 October 2025) had none." in html
    assert "this week is not over yet" in page(made(filled, week="2026-W47"), LINK)


def test_the_page_needs_nothing_else_and_names_no_customer(filled: Database) -> None:
    html = page(made(filled), LINK + "/")
    assert "Carla" not in html
    assert HOSTILE not in html
    assert "&lt;script&gt;" in html
    assert "Ann &lt;b&gt;" in html
    assert not re.findall(r"<(?:script|link|img|iframe)|@import|url\(", html)
    assert {link.split("/call?")[0] for link in re.findall(r'(?:href|src)="([^"]*)"', html)} == {LINK}


def test_agents_make_no_reports(filled: Database) -> None:
    with filled.session() as session, pytest.raises(Refused, match="does not export"):
        week_report(session, Viewer("ann", "agent"), Scope(), WEEK, NOW)


@pytest.mark.parametrize(
    ("text", "monday"),
    [("", "2026-11-09"), ("2026-W46", "2026-11-09"), ("2026-11-15", "2026-11-09"), ("2026-W01", "2025-12-29")],
)
def test_weeks_begin_on_monday(text: str, monday: str) -> None:
    week = week_of(text, ZoneInfo("Europe/Berlin"), NOW)
    assert (week.first.isoformat(), week.days) == (monday, 7)


@pytest.mark.parametrize("text", ["2026-W60", "last", "2026-02-30", "0001-W01", "9999-12-31"])
def test_what_is_no_week_is_told(text: str) -> None:
    with pytest.raises(BadInput, match="no week"):
        week_of(text, UTC, NOW)


@pytest.mark.browser
def test_it_prints_on_a4_and_fits_a_phone(filled: Database, browser_thread: BrowserThread, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(page(made(filled), LINK), "utf-8")
    browser = browser_thread.browser
    asked: list[str] = []
    tab = browser.new_page(viewport={"width": 390, "height": 800})
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(path.as_uri())
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    printed = tab.pdf(prefer_css_page_size=True)
    tab.close()
    assert asked == [path.as_uri()]
    assert printed.startswith(b"%PDF")
    sizes = {
        tuple(round(float(number)) for number in box.split()) for box in re.findall(rb"/MediaBox \[([^\]]*)\]", printed)
    }
    assert sizes == {(0, 0, 595, 842)} or sizes == {(0, 0, 596, 842)}


def test_what_callers_spoke_of_is_told_with_their_mood(filled: Database) -> None:
    monday = date(2026, 11, 9)
    with filled.begin() as session:
        labels = {0: {"labels": {"aspect": "delivery,price"}, "mood": -0.6}}
        for number in range(3):
            add_call(session, f"late-{number}", "late", started_at=at(monday, 12), sentences=labels)
    with filled.session() as session:
        report = week_report(session, HOUSE, EVERYONE, WEEK, NOW)
        nothing = week_report(session, HOUSE, EVERYONE, week_of("2026-W45", UTC, NOW), NOW)
    assert {name: stats.calls for name, stats in report.now.aspects.items()} == {"delivery": 3, "price": 3}
    made = page(report, LINK)
    table = made[made.index("What callers spoke of") :]
    assert re.search(rf"Delivery</td>.*?>3<.*?{MINUS}0\.60", table, re.S)
    assert "What callers spoke of" not in page(nothing, LINK)
