"""The Live page in a real browser: calls appear, move, are found and leave, without a reload."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from dashboard.ui import formatting
from storage.labels.labels import correct
from storage.queries.people import PeopleTable, store
from storage.viewer import HOUSE
from tests.dashboard.conftest import House, Visit
from tests.dashboard.floor import without
from tests.storage.conversations import NAMES

pytestmark = pytest.mark.browser


def live(house: House, visit: Visit, *, phone: bool = False) -> Page:
    page = visit(house, "/", phone=phone)
    expect(page.locator(".status.live")).to_be_visible()
    return page


def test_without_calls_it_says_how_to_get_some(house: House, visit: Visit) -> None:
    page = live(house, visit)
    expect(page.get_by_text("No calls right now")).to_be_visible()
    expect(page.get_by_text("tenor demo")).to_be_visible()


def test_a_call_and_what_is_said_appear_at_once(house: House, visit: Visit) -> None:
    page = live(house, visit)
    call = house.floor.call("anna", queue="billing", site="Porto")
    shown = page.locator(f'.tile[data-call="{call.id}"]')
    expect(shown).to_contain_text("anna")
    expect(shown).to_contain_text("billing · Porto")
    call.interim("caller", "I have been wait")
    expect(shown.locator(".interim")).to_have_text("I have been wait")
    call.interim("caller", "i have been waiting for an hour and " * 3 + "nobody picks up")
    expect(shown.locator(".interim")).to_have_text("… an hour and i have been waiting for an hour and nobody picks up")
    call.says("caller", "I have been waiting for an hour.", "negative")
    expect(shown.locator(".last")).to_have_text("Caller: I have been waiting for an hour.")
    expect(shown).to_have_class(re.compile("negative"))
    expect(shown.locator(".moods")).to_contain_text(f"Caller ▼ {formatting.MINUS}0.80")
    assert shown.locator(".line.caller").get_attribute("d")
    call.metrics(task="delivery_problem")
    expect(shown).to_contain_text("Delivery problem")
    call.ends()
    expect(shown).to_contain_text("ended")


def test_a_correction_of_the_last_sentence_is_shown_at_once(house: House, visit: Visit) -> None:
    page = live(house, visit)
    call = house.floor.call("dora")
    call.says("caller", "I want to cancel my subscription.")
    last = page.locator(f'.tile[data-call="{call.id}"] .last')
    expect(last).to_have_text("Caller: I want to cancel my subscription.")
    call.written()
    there = visit(house, f"/call?call={call.id}")
    there.locator(".bubble").hover()
    there.get_by_label("This is negative").click()
    expect(last.locator(".negative")).to_have_text("I want to cancel my subscription.")
    call.ends()


def test_a_correction_made_before_the_page_was_opened_outlives_a_revision(house: House, visit: Visit) -> None:
    call = house.floor.call("emma")
    said = call.says("caller", "I want to cancel my subscription.")
    call.written()
    with house.floor.database.begin() as session:
        correct(session, HOUSE, said.sentence, "sentiment", "negative", names=NAMES)
    page = live(house, visit)
    last = page.locator(f'.tile[data-call="{call.id}"] .last')
    expect(last.locator(".negative")).to_have_text("I want to cancel my subscription.")
    call.says_again("I want to cancel my subscription today.")
    expect(last.locator(".negative")).to_have_text("I want to cancel my subscription today.")
    call.ends()


def test_a_call_that_was_there_before_the_page_has_its_past(house: House, visit: Visit) -> None:
    call = house.floor.call("carla")
    call.says("caller", "Good morning.", "positive")
    call.alert("caller_upset", "Caller negative three sentences in a row", "critical")
    call.written(alerts=1)
    page = live(house, visit)
    shown = page.locator(f'.tile[data-call="{call.id}"]')
    expect(shown.locator(".last")).to_have_text("Caller: Good morning.")
    expect(shown.locator(".badge")).to_have_text("⚑ Caller upset")
    call.ends()


def test_the_worst_comes_first_but_nothing_moves_under_the_hand(house: House, visit: Visit) -> None:
    page = live(house, visit)
    good, bad = house.floor.call("dora"), house.floor.call("emil")
    close = house.floor.call("fred")
    good.says("caller", "Lovely.", "positive")
    close.says("caller", "Hm.", mood=0.72)
    bad.says("caller", "Dreadful.", "negative")
    expect(page.locator(".tile:not(.over)").first).to_have_attribute("data-call", bad.id)
    moods = page.locator(".tile:not(.over) .moods .mood:first-child")
    expect(moods).to_have_text(
        [re.compile(mood) for mood in (f"{formatting.MINUS}0.80", "0.72", "0.80")]
    )  # at rest, as it is
    page.locator(f'.tile[data-call="{good.id}"]').hover()
    good.alert("threat", "Says he will sue", "critical", escalation=True)
    expect(page.locator(f'.tile[data-call="{good.id}"] .badge')).to_be_visible()
    page.wait_for_timeout(3000)
    expect(page.locator(".tile:not(.over)").first).to_have_attribute("data-call", bad.id)
    page.mouse.move(5, 5)
    expect(page.locator(".tile:not(.over)").first).to_have_attribute("data-call", good.id)
    expect(page.get_by_text("needs you")).to_be_visible()
    good.ends()
    close.ends()
    bad.ends()


def test_the_page_stays_where_it_is_when_tiles_change_places(house: House, visit: Visit) -> None:
    page = live(house, visit)
    calls = [house.floor.call(f"row-{number:02}") for number in range(25)]
    for number, call in enumerate(calls):
        call.says("caller", "Hello.", mood=number / 100)
    tiles = page.locator(".tile:not(.over)")
    expect(tiles).to_have_count(25)
    expect(tiles.last).to_have_attribute("data-call", calls[-1].id)
    main = page.locator("[data-testid=stMain]")
    main.evaluate("main => { main.scrollTop = 500 }")
    page.wait_for_timeout(500)  # the browser chooses what to keep in sight
    for call in calls[6:12]:  # the rows in sight
        call.says("caller", "Lovely!", "positive")
    expect(tiles.last).to_contain_text("Lovely!")
    page.wait_for_timeout(500)
    assert main.evaluate("main => main.scrollTop") == 500
    for call in calls:
        call.ends()


def test_made_up_calls_are_said_to_be(house: House, visit: Visit) -> None:
    page = live(house, visit)
    made_up = house.floor.call("greta", attributes={"sample": "yes"})
    real = house.floor.call("hugo")
    for _ in range(2):
        expect(page.locator(f'.tile[data-call="{made_up.id}"]')).to_contain_text("sample data")
        expect(page.locator(f'.tile[data-call="{real.id}"]')).to_be_visible()
        expect(page.locator(f'.tile[data-call="{real.id}"]')).not_to_contain_text("sample data")
        made_up.written(0)
        page.reload()  # from the database then
    for call in (made_up, real):
        call.ends()


def test_filters_stay_in_the_address(house: House, visit: Visit) -> None:
    page = live(house, visit)
    leeds, porto = house.floor.call("finn", site="Leeds"), house.floor.call("gita", site="Porto")
    page.get_by_label("Site").select_option("Porto")
    expect(page.locator(f'.tile[data-call="{leeds.id}"]')).to_be_hidden()
    expect(page.locator(f'.tile[data-call="{porto.id}"]')).to_be_visible()
    assert "site=Porto" in page.url
    leeds.written(0)
    porto.written(0)
    page.reload()
    expect(page.locator(f'.tile[data-call="{porto.id}"]')).to_be_visible()
    expect(page.locator(f'.tile[data-call="{leeds.id}"]')).to_be_hidden()
    leeds.ends()
    porto.ends()


def test_a_tile_opens_its_call(house: House, visit: Visit) -> None:
    page = live(house, visit)
    call = house.floor.call("hana")
    call.says("caller", "Where is my parcel?")
    page.get_by_label("Queue").select_option("orders")
    page.locator(f'.tile[data-call="{call.id}"]').click()
    expect(page.locator(".conversation")).to_contain_text("Where is my parcel?")
    assert call.id in page.url
    page.get_by_role("button", name="← Live").click()
    expect(page.get_by_label("Queue")).to_have_value("orders")  # as it was left
    expect(page).to_have_url(re.compile("queue=orders"))
    page.locator(f'.tile[data-call="{call.id}"]').click()
    expect(page.locator(".conversation")).to_contain_text("Where is my parcel?")
    page.go_back()
    expect(page.get_by_label("Queue")).to_have_value("orders")  # the browser's own button does the same
    expect(page).to_have_url(re.compile(r"/\?queue=orders$"))
    call.ends()


def test_a_call_that_goes_on_and_sides_that_turn(house: House, visit: Visit) -> None:
    page = live(house, visit)
    # A call that ended goes last, and only what is in sight is drawn.
    page.set_viewport_size({"width": 1440, "height": 4000})
    call = house.floor.call("lars")
    call.says("caller", "Can you hear me?")
    tile = page.locator(f'.tile[data-call="{call.id}"]')
    expect(tile.locator(".last")).to_have_text("Caller: Can you hear me?")
    call.written()
    whole = visit(house, f"/call?call={call.id}")
    expect(whole.locator(".state")).to_have_text("● Live")
    call.ends(reason="audio stopped")
    expect(tile).to_contain_text("ended")
    expect(whole.locator(".state")).to_have_text("Ended")
    call.goes_on()
    expect(tile).not_to_contain_text("ended")
    expect(whole.locator(".state")).to_have_text("● Live")
    whole.get_by_role("button", name="Swap sides").click()
    expect(tile.locator(".last")).to_have_text("Agent: Can you hear me?")
    call.ends()


def test_the_pages_go_on_without_the_database(house: House, visit: Visit) -> None:
    page = live(house, visit)
    before = house.floor.call("jana")
    before.says("caller", "My first words.")
    tile = page.locator(f'.tile[data-call="{before.id}"]')
    expect(tile).to_contain_text("My first words.")
    before.written()
    with without(house.floor.database):
        new = visit(house, "/")
        expect(new.get_by_text("The database does not answer: this page goes on")).to_be_visible()
        expect(new.locator(f'.tile[data-call="{before.id}"]')).to_contain_text("jana")
        begun = house.floor.call("karl")
        begun.says("caller", "I began without it.")
        expect(new.get_by_text("I began without it.")).to_be_visible()
        with page.expect_request("**/feed?call=*") as asked:
            page.locator(f'.tile[data-call="{begun.id}"]').click()
        begun.says("caller", "And go on without it.", "negative")
        expect(page.locator(".row.negative")).to_contain_text("And go on without it.")
        wanted = {"call": before.id, "text": "A note"}
        token = {"authorization": asked.value.headers["authorization"]}
        answer = page.request.post(f"{house.address}/actions/note", headers=token, data=wanted)
        assert (answer.status, "database does not answer" in answer.json()["error"]) == (503, True)
        expect(visit(house, "/call").get_by_role("heading", name="The database does not answer")).to_be_visible()
    for shown in (new, page):
        expect(shown.get_by_text("The database does not answer")).to_be_hidden(timeout=20_000)
    expect(new.locator(f'.tile[data-call="{before.id}"]')).to_contain_text("My first words.")
    expect(page.locator(".row")).to_have_count(2)
    before.ends()
    begun.ends()


def test_words_are_words(house: House, visit: Visit) -> None:
    """Markup and SQL that a caller says, or an account is named, is shown and does nothing."""
    page = live(house, visit)
    page.evaluate("window.hurt = false")
    evil = "<img src=x onerror='window.hurt=true'><script>window.hurt=true</script>'; DROP TABLE calls; --"
    call = house.floor.call(evil, queue=evil)
    call.interim("caller", evil)
    call.says("caller", evil)
    call.alert(evil, evil)
    shown = page.locator(f'.tile[data-call="{call.id}"]')
    expect(shown.locator(".last")).to_contain_text(evil)
    shown.click()
    expect(page.locator(".row .text")).to_have_text([evil])
    assert page.evaluate("window.hurt") is False
    call.ends()


def test_on_a_phone_it_fits(house: House, visit: Visit) -> None:
    page = live(house, visit, phone=True)
    call = house.floor.call("ivo")
    call.says("caller", "A sentence that is long enough to need more than one line on a telephone, and then some more.")
    shown = page.locator(f'.tile[data-call="{call.id}"]')
    expect(shown).to_be_visible()
    box = shown.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    call.ends()


def test_a_tile_names_the_customer(house: House, visit: Visit) -> None:
    table = PeopleTable("customer", {"NG-2001": {"display_name": "Carla Diaz"}, "NG-2002": {"display_name": "Li Wei"}})
    store(house.floor.database, table, "test")
    before = house.floor.call("anna", customer="NG-2001")
    before.says("caller", "Hello.")
    before.written()
    page = live(house, visit)
    after, unknown, nobody = (house.floor.call("ben", customer=one) for one in ("NG-2002", "NG-2003", ""))
    for call, told in ((before, "with Carla Diaz"), (after, "with Li Wei"), (unknown, "with NG-2003")):
        expect(page.locator(f'.tile[data-call="{call.id}"] .customer')).to_have_text(told)
    expect(page.locator(f'.tile[data-call="{nobody.id}"] .name')).to_have_text("ben")
    expect(page.locator(f'.tile[data-call="{nobody.id}"] .customer')).to_be_hidden()
    for call in (before, after, unknown, nobody):
        call.ends()


def test_agents_are_called_by_the_names_it_knows(house: House, visit: Visit) -> None:
    table = PeopleTable("agent", {"gita": {"display_name": "Gita Rao"}, "constructor": {"team": "North"}})
    store(house.floor.database, table, "test")
    before = house.floor.call("gita", customer="555-0101")
    page = live(house, visit)
    expect(page.locator(f'.tile[data-call="{before.id}"] .name')).to_have_text("Gita Rao")
    after, nameless = house.floor.call("gita"), house.floor.call("constructor")
    expect(page.locator(f'.tile[data-call="{after.id}"] .name')).to_have_text("Gita Rao")
    expect(page.locator(f'.tile[data-call="{nameless.id}"] .name')).to_have_text("constructor")
    page.locator(f'.tile[data-call="{before.id}"]').click()
    expect(page.get_by_role("heading", name="Gita Rao with 555-0101")).to_be_visible()
    for call in (before, after, nameless):
        call.ends()
