"""Agents, Customers, Search, Review and Operations, in a real browser."""

from __future__ import annotations

import csv
import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Locator, Page, expect
from sqlalchemy import func, select, text
from sqlmodel import SQLModel, col

from dashboard.auth.sign_in import OWNER
from storage import sample
from storage.labels import labels, review
from storage.queries import history
from storage.queries.history import Scope
from storage.queries.periods import Period
from storage.tables import Call, DeadLetter, Label, SavedSearch, Score, Sentence
from storage.viewer import HOUSE
from tests.dashboard.conftest import House, Visit, running_house
from tests.storage.conversations import NAMES

pytestmark = pytest.mark.browser
SLOW_MS = 40_000
"""The first look at a page on a machine that has other things to do."""
PAGES = ("agents", "customers", "search", "review", "operations")


@pytest.fixture(scope="module")
def new_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with running_house(tmp_path_factory.mktemp("history")) as running:
        yield running


@pytest.fixture(scope="module")
def old_house(new_house: House) -> House:
    """With weeks behind it."""
    sample.add(new_house.floor.database, 5)
    return new_house


def settled(page: Page) -> Page:
    """Once nothing is being drawn any more."""
    expect(page.locator(".t-heading")).to_be_visible(timeout=SLOW_MS)
    expect(page.locator("[data-testid=stSkeleton]")).to_have_count(0)
    expect(page.locator("[data-testid=stException]")).to_have_count(0)
    return page


@pytest.mark.parametrize("name", PAGES)
def test_pages_say_why_they_are_empty(new_house: House, visit: Visit, name: str) -> None:
    page = settled(visit(new_house, f"/{name}"))
    if name == "operations":
        expect(page.get_by_text("No sentence in this time.")).to_be_visible()
        expect(page.locator("[data-stage=storage]")).to_contain_text("nothing waiting")
        expect(page.locator("[data-stage=language]")).to_contain_text("not running")
        expect(page.get_by_text("tenor serve asr language")).to_be_visible()
    else:
        expect(page.locator(".t-empty")).to_contain_text("tenor sample add")


def test_agents_shows_everyone_and_one(old_house: House, visit: Visit) -> None:
    page = settled(visit(old_house, "/agents"))
    expect(page.locator(".t-sample")).to_contain_text("tenor sample remove")
    expect(page.locator("[data-testid=stVegaLiteChart]")).to_have_count(5)
    page.get_by_role("combobox", name="Agent").click()
    page.get_by_role("option", name=re.compile("Grace Linden")).click()
    expect(page).to_have_url(re.compile("agent=grace.linden"))
    with old_house.floor.database.session() as session:
        span = Period.ending(
            time.time(), 28, ZoneInfo(page.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone"))
        )
        own = history.total(session, HOUSE, Scope(agent="grace.linden"), span)
    tile = page.locator(".t-tile", has_text="Calls").first
    expect(tile.locator("b")).to_have_text(str(own.calls))
    expect(page.locator(".t-tile", has_text="Callers' mood")).to_contain_text("the team")
    expect(page.get_by_text(re.compile("^Mood.*Caller: (falling|no clear trend)"))).to_be_visible()


def test_a_link_shows_what_its_sender_saw_down_to_the_sentence(old_house: House, visit: Visit) -> None:
    page = settled(visit(old_house, "/agents?agent=lena.hofer&period=7+days&order=newest+first"))
    expect(page.get_by_role("combobox", name="Agent")).to_have_value(re.compile("Lena Hofer"))
    expect(page.get_by_role("radio", name="7 days")).to_be_checked()
    call = page.locator("details.t-call").first
    expect(call).to_be_visible()
    call.locator("summary").click()
    line = call.locator("a.t-said").first
    said = line.locator("span").last.inner_text()
    line.click()
    expect(page).to_have_url(re.compile(r"/call\?call=sample-.*sentence="))
    expect(page.get_by_text(said).first).to_be_visible()


def test_few_calls_are_said_to_be_few(old_house: House, visit: Visit) -> None:
    page = settled(visit(old_house, "/agents?agent=david.roth"))
    expect(page.locator(".t-tile", has_text="Callers' mood")).to_contain_text(
        re.compile(r"\d calls?: too few to compare")
    )
    expect(page.get_by_text(re.compile("^Mood.*too few for a trend"))).to_be_visible()


def test_an_agent_finds_themselves_and_nobody_else(old_house: House, visit: Visit) -> None:
    page = settled(visit(old_house, "/agents?agent=grace.linden", looks_as="agent:owen.price"))
    expect(page.get_by_role("heading", name="My figures")).to_be_visible()
    expect(page.get_by_role("link", name="My figures")).to_be_visible()
    expect(page.locator(".t-tile").first).to_be_visible()
    expect(page.get_by_text("Grace Linden")).to_have_count(0)
    expect(page.locator(".t-tile", has_text="the team")).to_have_count(0)
    expect(page.get_by_role("link", name="Review")).to_have_count(0)
    page = settled(visit(old_house, "/search", looks_as="agent:owen.price"))
    rows = page.locator(".t-row")
    expect(rows.first).to_be_visible()
    assert all("Owen Price" in row for row in rows.all_inner_texts())


def test_scorecards_are_shown_with_intervals_from_what_people_confirmed(old_house: House, visit: Visit) -> None:
    page = settled(visit(old_house, "/agents?agent=grace.linden&period=8+weeks"))
    with old_house.floor.database.session() as session:
        of_grace = col(Score.call).in_(select(col(Call.id)).where(col(Call.agent) == "grace.linden"))
        asked = select(func.count()).where(of_grace, col(Score.point) == "closed", col(Score.value) != "not_due")
        confirmed = session.execute(asked).scalar_one()
    section = page.locator(".t-section", has_text="Scorecard")
    expect(section).to_contain_text("only what a person confirmed")
    expect(page.locator("[data-testid=stVegaLiteChart]", has_text=f"Closed ({confirmed})")).to_be_visible()


def test_what_is_shown_can_be_taken_along(old_house: House, visit: Visit) -> None:
    page = settled(visit(old_house, "/agents?agent=lena.hofer"))
    with page.expect_download() as got:
        page.get_by_role("button", name="Figures as CSV").click()
    rows = list(csv.DictReader(Path(got.value.path()).read_text("utf-8").splitlines()))
    shown = int(page.locator(".t-tile", has_text="Calls").first.locator("b").inner_text())
    assert sum(int(row["calls"]) for row in rows) == shown


def test_a_customer_across_media(old_house: House, visit: Visit) -> None:
    page = settled(visit(old_house, "/customers"))
    expect(page.locator("[data-testid=stVegaLiteChart]")).to_have_count(2)  # who calls, and about what
    with old_house.floor.database.session() as session:
        media = session.execute(
            select(col(Call.customer)).group_by(col(Call.customer)).having(func.count(col(Call.medium).distinct()) == 3)
        ).first()
    assert media is not None
    page = settled(visit(old_house, f"/customers?customer={media[0]}"))
    expect(page.locator("[data-testid=stVegaLiteChart]")).to_have_count(9)  # the agents' four, and by group
    expect(page.get_by_text(re.compile("^Mood.*Caller: (rising|falling|no clear trend|.*too few)"))).to_be_visible()
    expect(page.locator("details.t-call").first).to_be_visible()
    page.get_by_role("radio", name="Week", exact=True).click()
    expect(page.locator(".t-section", has_text="a week; orange")).to_be_visible()
    page.get_by_role("textbox", name="Find").fill("NG-100")
    page.get_by_role("textbox", name="Find").press("Enter")
    expect(page.locator("a.t-line", has_text="NG-1003")).to_be_visible()
    page.get_by_role("textbox", name="Find").fill("NG-1003")
    page.get_by_role("textbox", name="Find").press("Enter")
    expect(page.get_by_role("combobox", name="Customer")).to_have_value(re.compile("NG-1003"))
    expect(page.locator(".t-tile").first).to_be_visible()


def test_own_dates(old_house: House, visit: Visit) -> None:
    today = datetime.now(UTC).date()
    days = Period(today - timedelta(days=12), today - timedelta(days=5), UTC)
    dates = f"dates={days.first}&dates={days.last}"
    with old_house.floor.database.session() as session:
        own = history.total(session, HOUSE, Scope(agent="lena.hofer"), days)
        heard = {call.id for call in history.calls(session, HOUSE, Scope(site="Porto"), days, limit=500)}
    page = settled(visit(old_house, f"/agents?agent=lena.hofer&period=Own+dates&{dates}", zone="UTC"))
    expect(page.locator(".t-tile", has_text="Calls").first.locator("b")).to_have_text(str(own.calls))
    page = settled(visit(old_house, f"/search?when=Own+dates&{dates}&site=Porto", zone="UTC"))
    expect(page.locator(".t-row").first).to_be_visible()
    links = page.locator(".t-row").evaluate_all("rows => rows.map(row => new URL(row.href).searchParams.get('call'))")
    assert {*links} <= heard


def test_one_clock_the_readers(old_house: House, visit: Visit) -> None:
    zone = ZoneInfo("Pacific/Kiritimati")  # nobody is further ahead
    with old_house.floor.database.session() as session:
        call = session.scalars(select(Call).where(col(Call.medium) == "chat", col(Call.sentences) > 3)).first()
        assert call is not None
        lines = history.sentences(session, HOUSE, [call.id])[call.id]
    then = datetime.fromtimestamp(call.started_at, zone)
    place = f"period=Own+dates&dates={then.date()}&dates={then.date()}"
    page = settled(visit(old_house, f"/agents?agent={call.agent}&{place}", zone=zone.key))
    shown = page.locator("details.t-call", has_text=f"{then:%H:%M}").filter(has_text="chat").first
    shown.locator("summary").click()
    times = [f"{datetime.fromtimestamp(line.spoken_at, zone):%H:%M}" for line in lines]
    expect(shown.locator(".at")).to_have_text(times)  # of a chat, when it was written
    with page.expect_download() as got:
        page.get_by_role("button", name="Calls as CSV").click()
    rows = csv.DictReader(Path(got.value.path()).read_text("utf-8").splitlines())
    assert then.isoformat(sep=" ", timespec="seconds") in {row["started_at"] for row in rows}


def test_what_was_said_is_shown_as_people_left_it(old_house: House, visit: Visit) -> None:
    call = old_house.floor.call("nora.swap")
    said = call.says("caller", "I candle my order.", "negative")
    call.ends()
    _until(lambda: _count(old_house, f"SELECT count(*) FROM calls WHERE id = '{call.id}' AND state = 'ended'"))
    with old_house.floor.database.begin() as session:
        labels.swap_sides(session, OWNER, call.id)
        labels.correct(session, OWNER, said.sentence, "text", "I cancel my order.", names=NAMES)
    page = settled(visit(old_house, "/agents?agent=nora.swap"))
    page.locator("details.t-call summary").first.click()
    expect(page.locator("a.t-said").first).to_contain_text(re.compile("agent.*I cancel my order", re.DOTALL))
    with old_house.floor.database.session() as session:
        looked = review.look(session, OWNER, said.sentence)
    assert looked is not None
    assert (looked.said.role, looked.said.text) == ("agent", "I cancel my order.")


def test_search_finds_marks_and_keeps(old_house: House, visit: Visit) -> None:
    page = settled(visit(old_house, "/search?words=manager&sentiment=negative"))
    rows = page.locator(".t-row")
    expect(rows.first.locator("mark")).to_have_text(re.compile("manager", re.IGNORECASE))
    page.get_by_role("button", name=re.compile("Save this search")).click()
    page.get_by_label("Save this search as").fill("Wants a manager")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("button", name="Wants a manager").first).to_be_visible()
    with old_house.floor.database.session() as session:
        (kept,) = session.scalars(select(SavedSearch).where(col(SavedSearch.name) == "Wants a manager"))
        assert kept.query == {"words": "manager", "sentiment": ["negative"]}
    page = settled(visit(old_house, "/search"))
    page.get_by_role("button", name="Wants a manager").first.click()
    expect(page).to_have_url(re.compile("words=manager"))
    expect(page.locator(".t-row mark").first).to_be_visible()
    page.get_by_role("textbox", name="Words").fill("")
    page.get_by_role("textbox", name="Words").press("Enter")
    expect(page.locator(".t-row").first).to_be_visible()
    expect(page.locator(".t-row small", has_text="Unknown")).to_have_count(0)
    page.get_by_role("textbox", name="Words").fill("nothing*says*this")
    page.get_by_role("textbox", name="Words").press("Enter")
    expect(page.locator(".t-empty")).to_contain_text("Nothing found")


def test_calls_are_found_by_their_sentences_and_kept(old_house: House, visit: Visit) -> None:
    said = "(role:caller sentiment:negative) then (role:agent sorry)"
    page = settled(visit(old_house, f"/search?find=Calls&said={quote(said)}"))
    call = page.locator(".t-found-call").first
    expect(call.locator("mark").first).to_have_text(re.compile("sorry", re.IGNORECASE))
    assert call.locator(".t-row").count() == 3
    expect(call.locator(".t-row").nth(2)).to_have_attribute("href", re.compile("call=.*sentence="))
    page.get_by_role("button", name=re.compile("Use it in a rule")).click()
    expect(page.locator("code", has_text="tenor dataset make")).to_contain_text(said)
    expect(page.locator("code", has_text="my-rule")).to_contain_text(said)
    page.keyboard.press("Escape")
    page.get_by_role("button", name=re.compile("Save")).first.click()
    page.get_by_label("Save this search as").fill("Sorry afterwards")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("button", name="Sorry afterwards").first).to_be_visible()
    page = settled(visit(old_house, "/search"))
    page.get_by_role("button", name="Sorry afterwards").first.click()
    box = page.get_by_role("textbox", name="Sentences of one call")
    expect(box).to_have_value(said)
    expect(page.locator(".t-found-call").first).to_be_visible()
    box.fill("(rol:caller) thn (sorry)")
    box.press("Enter")
    expect(page.locator(".t-trouble")).to_contain_text("column 2: a search has no 'rol'; did you mean 'role'?")
    expect(page.locator(".t-trouble")).to_contain_text("column 14: 'thn' joins no sentences; did you mean 'then'?")


@pytest.mark.parametrize(("when", "kept"), [("7 days", {"days": 7}), ("Own dates", {})])
def test_a_saved_search_keeps_how_far_back_it_looks(
    old_house: House, visit: Visit, when: str, kept: dict[str, int]
) -> None:
    name = f"*Lately* ![{when}](/x.png)"  # a name is no Markdown
    page = settled(visit(old_house, f"/search?words=refund&when={quote(when)}"))
    page.get_by_role("button", name=re.compile("Save")).first.click()
    page.get_by_label("Save this search as").fill(name)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("button", name=name).first).to_be_visible()
    with old_house.floor.database.session() as session:
        (one,) = session.scalars(select(SavedSearch).where(col(SavedSearch.name) == name))
    assert one.query == {"words": "refund", **kept}
    page = settled(visit(old_house, "/search?when=4+weeks"))
    page.get_by_role("button", name=name).first.click()
    recalled = when if kept else "Any time"
    expect(page.get_by_role("combobox", name="When")).to_have_value(re.compile(recalled))
    expect(page.get_by_role("textbox", name="Words")).to_have_value("refund")


def test_a_call_leads_back_to_where_it_was_opened(old_house: House, visit: Visit) -> None:
    page = settled(visit(old_house, "/search?words=refund"))
    page.locator(".t-row").first.click()
    page.get_by_role("button", name="← Search").click()
    expect(page).to_have_url(re.compile(r"/search\?words=refund$"))
    page.locator(".t-row").first.click()
    expect(page.get_by_role("button", name="← Search")).to_be_visible()
    page.get_by_role("link", name="Live").click()
    call = old_house.floor.call("back.again")
    page.locator(f'.tile[data-call="{call.id}"]').click()
    expect(page.get_by_role("button", name="← Live")).to_be_visible()
    call.ends()


def test_a_callers_words_stay_words(old_house: House, visit: Visit) -> None:
    said = "<img src=x onerror=alert(1)> </details><script>window.bad = 1</script> unmistakable"
    call = old_house.floor.call("lena.hofer", customer="<b>bold</b>")
    call.says("caller", said)
    call.ends()
    _until(lambda: _count(old_house, "SELECT count(*) FROM sentences WHERE text LIKE '%unmistakable%'"))
    page = settled(visit(old_house, "/search?words=unmistakable"))
    expect(page.locator(".t-row").first).to_contain_text("<script>window.bad = 1</script>")
    assert page.evaluate("window.bad") is None


def ready_to_answer(page: Page) -> Locator:
    """The card, once its keys work."""
    expect(page.get_by_role("button", name="Skip")).to_be_enabled()
    expect(page.locator(".t-section", has_text="Reviewers")).to_be_visible()
    return page.locator(".t-card")


def test_review_needs_no_mouse(old_house: House, visit: Visit) -> None:
    page = settled(visit(old_house, "/review"))
    card = ready_to_answer(page)
    page.wait_for_timeout(400)
    seen: list[str] = []
    for key in ("2", "a", "3", "s", "1"):
        seen.append(card.get_attribute("data-sentence") or "")
        page.keyboard.press(key)
        expect(card).not_to_have_attribute("data-sentence", seen[-1])
    assert len(set(seen)) == 5
    answered = [one for one in seen if one != seen[3]]
    with old_house.floor.database.session() as session:
        own = select(Label).where(col(Label.author) == OWNER.name, col(Label.kind) == "sentiment")
        labels = {one.sentence: one for one in session.scalars(own)}
        assert labels.keys() == {*answered}
        first = session.get(Sentence, answered[0])
        assert first is not None
        assert (labels[answered[0]].value, labels[answered[0]].predicted) == ("neutral", first.sentiment)
        assert labels[answered[1]].value == labels[answered[1]].predicted
        assert labels[answered[2]].value == "positive"
        assert labels[answered[3]].value == "negative"
        assert (labels[answered[0]].seconds or 0) >= 0.4  # since it was there to be read
    expect(page.get_by_test_id("progress")).to_contain_text("4 today")
    expect(page.get_by_test_id("progress")).to_contain_text("1 skipped")
    page.keyboard.press("u")
    expect(card).to_have_attribute("data-sentence", seen[4])
    expect(page.get_by_test_id("progress")).to_contain_text("3 today")


def test_review_of_intents_by_keyboard(old_house: House, visit: Visit) -> None:
    page = settled(visit(old_house, "/review?kind=Intent"))
    card = ready_to_answer(page)
    first = card.get_attribute("data-sentence") or ""
    page.keyboard.press("l")
    box = page.get_by_role("combobox", name="Intent")
    expect(box).to_be_focused()
    page.keyboard.type("opening hours")
    page.keyboard.press("Enter")
    expect(card).not_to_have_attribute("data-sentence", first)
    with old_house.floor.database.session() as session:
        values = list(
            session.scalars(select(col(Label.value)).where(col(Label.sentence) == first, col(Label.kind) == "intent"))
        )
    assert "opening_hours" in values


def test_administrators_are_told_of_labels_nobody_shares(old_house: House, visit: Visit) -> None:
    page = settled(visit(old_house, "/review"))
    expect(page.locator(".t-warn", has_text="pat.vance")).to_contain_text("unlike everyone else")
    page = settled(visit(old_house, "/review", looks_as="analyst:ada"))
    expect(page.locator(".t-section", has_text="Reviewers")).to_be_visible()
    expect(page.locator(".t-warn", has_text="pat.vance")).to_have_count(0)


def test_operations_tells_what_waits_and_what_failed(old_house: House, visit: Visit) -> None:
    page = settled(visit(old_house, "/operations?span=8+weeks"))
    expect(page.locator("[data-testid=stVegaLiteChart]")).to_have_count(3)
    expect(page.locator(".t-row").first).to_be_visible()
    expect(page.locator("[data-stage=language] b")).to_contain_text("waiting")
    with old_house.floor.database.session() as session:
        reason = session.scalars(
            select(col(Call.reason)).where(col(Call.state) == "failed").order_by(col(Call.started_at).desc())
        ).first()
    expect(page.get_by_text(reason or "-").first).to_be_visible()
    before = _count(old_house, "SELECT count(*) FROM dead_letters")
    with old_house.floor.database.begin() as session:
        for number in range(60):
            lost = {"id": f"letter-{number}", "call": "", "stage": "language", "reason": "not JSON"}
            session.add(DeadLetter(**lost, topic="tenor.audio", partition=0, offset=number, at=time.time()))
    page = settled(visit(old_house, "/operations?span=8+weeks"))
    expect(page.locator(".t-tile", has_text="Dead letters").locator("b")).to_have_text(str(before + 60))
    with page.expect_download() as got:
        page.get_by_role("button", name="Dead letters as CSV").click()
    assert len(Path(got.value.path()).read_text("utf-8").splitlines()) == before + 61


@pytest.mark.parametrize(
    "path", ["/agents", "/agents?agent=lena.hofer", "/customers", "/search", "/review", "/operations"]
)
def test_on_a_phone_nothing_sticks_out(old_house: House, visit: Visit, path: str) -> None:
    page = settled(visit(old_house, path, phone=True))
    expect(page.get_by_test_id("stHeader")).to_have_css(
        "background-color", "rgb(255, 255, 255)"
    )  # nothing shows through
    expect(page.locator(".t-tile, .t-row, .t-card, [data-testid=stVegaLiteChart]").first).to_be_visible()
    wider = page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth - window.innerWidth")
    assert wider <= 0


LONG = "W" * 90


@pytest.mark.parametrize(
    "path", ["/agents?agent=" + LONG, "/search?words=unbroken", "/operations", "/call?call=" + LONG]
)
def test_long_words_stay_on_a_phones_page(old_house: House, visit: Visit, path: str) -> None:
    call = old_house.floor.call(LONG, call=LONG, customer=LONG, queue=LONG, site=LONG)
    call.says("caller", f"unbroken {LONG}")
    call.ends("failed", LONG)
    _until(lambda: _count(old_house, f"SELECT count(*) FROM calls WHERE id = '{LONG}' AND state = 'failed'"))
    page = visit(old_house, path, phone=True)
    expect(page.locator(".t-row, .t-call, .conversation").filter(has_text="WWW").first).to_be_visible()
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390


def test_ten_thousand_calls(old_house: House, visit: Visit) -> None:
    database = old_house.floor.database
    of_call, of_sentence = _columns(Call, "id"), _columns(Sentence, "id", "call")
    times = 10_000 // _count(old_house, "SELECT count(*) FROM calls WHERE sample") + 1
    with database.begin() as session:
        for number in range(times):
            again = f"SELECT id || '+{number}', {of_call} FROM calls WHERE sample AND id NOT LIKE '%+%'"
            session.execute(text(f"INSERT INTO calls (id, {of_call}) {again}"))
            first = "start_ms = (SELECT min(start_ms) FROM sentences o WHERE o.call = s.call)"
            first += " AND s.call LIKE 'sample-%' AND s.call NOT LIKE '%+%'"
            again = f"SELECT id || '+{number}', call || '+{number}', {of_sentence} FROM sentences s"
            session.execute(text(f"INSERT INTO sentences (id, call, {of_sentence}) {again} WHERE {first}"))
        session.execute(text("UPDATE calls SET customer = 'C-' || id WHERE id LIKE '%+1'"))
        rare = session.scalars(select(col(Call.customer)).where(col(Call.customer).like("C-%")).limit(1)).one()
    page = settled(visit(old_house, "/agents?period=6+months"))
    calls = page.locator(".t-tile", has_text="Calls").first.locator("b")
    expect(calls).to_have_text(re.compile(r"1\d\D?\d{3}"))
    page = settled(visit(old_house, f"/customers?period=6+months&find={quote(rare)}"))
    expect(page.get_by_role("combobox", name="Customer")).to_have_value(rare)
    page = settled(visit(old_house, "/customers?period=6+months"))
    expect(page.locator("[data-testid=stVegaLiteChart]")).to_have_count(2)
    expect(page.locator(".t-section", has_text="Who calls often")).to_contain_text("the busiest 500")
    page = settled(visit(old_house, "/search?words=Northgate"))
    expect(page.locator(".t-section")).to_contain_text(re.compile(r"\d\D?\d{3} sentences"))
    page = settled(visit(old_house, "/call"))
    expect(page.locator(".t-line")).to_have_count(100)
    page = settled(visit(old_house, "/agents?agent=tomas.reis&period=6+months"))
    expect(page.locator("details.t-call").first).to_be_visible()


def _columns(table: type[SQLModel], *without: str) -> str:
    return ", ".join(f'"{name}"' for name in table.model_fields if name not in without)


def _count(house: House, query: str) -> int:
    with house.floor.database.session() as session:
        return int(session.execute(text(query)).scalar_one())


def _until(found: Callable[[], object]) -> None:
    end = time.monotonic() + 10
    while not found():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.05)
