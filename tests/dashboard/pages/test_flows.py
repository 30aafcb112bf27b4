"""Flows: a real conversation with the assistant looked into, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect
from sqlmodel import col, select

from dashboard.pages.flows import reason_words
from storage.tables import Label
from tests.dashboard.conftest import House, Visit, running_house
from tests.dashboard.shoppers import TALKS, shoppers_write

pytestmark = pytest.mark.browser
SLOW_MS = 40_000


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with running_house(tmp_path_factory.mktemp("shop")) as running:
        shoppers_write(running)
        yield running


def settled(page: Page) -> Page:
    expect(page.locator(".t-heading")).to_be_visible(timeout=SLOW_MS)
    expect(page.locator("[data-testid=stSkeleton]")).to_have_count(0)
    expect(page.locator("[data-testid=stException]")).to_have_count(0)
    return page


@pytest.mark.parametrize(
    ("reason", "words"),
    [("asked", "The shopper asked"), ("mood", "The shopper was unhappy"), ("rule angry", "Rule: angry"), ("my", "my")],
)
def test_why_a_person_was_called_is_told_in_words(reason: str, words: str) -> None:
    assert reason_words(reason) == words


def test_without_conversations_it_says_how_to_have_one(house: House, visit: Visit) -> None:
    page = settled(visit(house, "/flows"))
    expect(page.locator(".t-empty")).to_contain_text("No conversation with the assistant yet")


def test_a_turn_shows_what_was_said_done_and_known_and_why(shop: House, visit: Visit) -> None:
    page = settled(visit(shop, "/flows?call=jeans&turn=1"))
    expect(page.locator(".t-turn .said")).to_contain_text("how much are jeans", timeout=SLOW_MS)
    expect(page.get_by_text("price_check").first).to_be_visible()
    prices = page.locator(".t-turn details", has_text="prices")
    expect(prices).to_contain_text(re.compile(r"item: .*jeans.* · \d+ ms · sample data"))
    prices.locator("summary").click()
    expect(prices.locator("pre").last).to_contain_text("price")
    expect(page.locator(".t-turn tr", has_text="item")).to_contain_text("said in this turn")
    expect(page.locator(".t-turn ol li").first).to_be_visible()
    expect(page.locator(".t-turn .path b.stands")).to_have_count(1)


def test_one_steps_through_the_turns_and_the_picture_follows(shop: House, visit: Visit) -> None:
    page = settled(visit(shop, "/flows?call=jeans&turn=2"))
    expect(page.locator(".t-turn .said")).to_contain_text("will it rain", timeout=SLOW_MS)
    expect(page.get_by_text("a value is asked for")).to_be_visible()
    lit = page.locator("g.passed[data-state]")
    expect(lit.first).to_be_attached()
    assert any("weather" in (state.get_attribute("data-state") or "") for state in lit.all())
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".t-turn .said")).to_contain_text("boston")
    expect(page).to_have_url(re.compile("turn=3"))
    expect(page.locator(".t-turn tr", has_text="location")).to_contain_text("the answer to a question")
    page.get_by_text("how much are jeans").click()
    expect(page).to_have_url(re.compile("turn=1"))
    page.get_by_role("button", name="Previous").click()
    expect(page.get_by_text("The conversation began").last).to_be_visible()
    expect(page.get_by_role("button", name="Previous")).to_be_disabled()


def test_the_picture_is_moved_to_the_path(shop: House, visit: Visit) -> None:
    page = settled(visit(shop, "/flows?call=jeans&turn=3"))
    state = page.locator('g.passed[data-state="weather_flow.output_weather"] .state')
    expect(state).to_be_visible(timeout=SLOW_MS)
    box, frame = state.bounding_box(), page.locator(".picture").bounding_box()
    assert box is not None
    assert frame is not None
    assert frame["x"] <= box["x"] + box["width"] / 2 <= frame["x"] + frame["width"]
    page.get_by_role("button", name="Whole picture").click()
    expect(page.get_by_role("button", name="Full size")).to_be_visible()


def test_what_a_shopper_writes_is_never_markup(shop: House, visit: Visit) -> None:
    page = settled(visit(shop, "/flows?call=words&turn=1"))
    said = page.locator(".t-turn .said")
    expect(said).to_contain_text("<b>*how*</b>", timeout=SLOW_MS)
    listed = page.get_by_role("radiogroup", name="Turn").inner_text()
    assert TALKS["words"][0] in listed.replace("\u2060", "")
    expect(page.locator("a[href*='example.com']")).to_have_count(0)


def test_figures_say_what_became_of_all(shop: House, visit: Visit) -> None:
    page = settled(visit(shop, "/flows?period=7+days"))
    tile = page.locator(".t-tile", has_text="Conversations")
    expect(tile.locator("b")).to_have_text(str(len(TALKS)), timeout=SLOW_MS)
    expect(page.locator(".t-tile", has_text="Handed over")).to_contain_text("1 of 4")
    expect(page.locator(".t-tile", has_text="Given up")).to_contain_text("2 of 4")
    expect(page.get_by_text("The shopper asked")).to_be_visible()
    expect(page.locator(".t-row[data-state]").first).to_contain_text("1 gave up")


def test_an_agent_does_not_find_it(shop: House, visit: Visit) -> None:
    page = visit(shop, "/flows?call=jeans", looks_as="agent:anna")
    expect(page.get_by_text("Assistant is for managers, analysts and administrators")).to_be_visible(timeout=SLOW_MS)
    expect(page.get_by_text("how much are jeans")).to_have_count(0)


def test_on_a_phone_nothing_is_wider_than_the_screen(shop: House, visit: Visit) -> None:
    page = settled(visit(shop, "/flows?call=jeans&turn=2", phone=True, dark=True))
    expect(page.locator("g.passed[data-state]").first).to_be_attached(timeout=SLOW_MS)
    main = page.locator("[data-testid=stMain]")
    assert main.evaluate("element => element.scrollWidth - element.clientWidth") <= 0


def test_without_a_picture_the_path_is_still_shown(shop: House, visit: Visit) -> None:
    pictures = list(shop.settings.flow_versions.glob("*.svg"))
    assert pictures
    for picture in pictures:
        picture.rename(picture.with_suffix(".away"))
    try:
        page = settled(visit(shop, "/flows?call=jeans&turn=2"))
        expect(page.get_by_text("There is no picture of these flows")).to_be_visible(timeout=SLOW_MS)
        expect(page.locator(".t-turn .path b.stands")).to_contain_text("weather")
    finally:
        for picture in pictures:
            picture.with_suffix(".away").rename(picture)


def test_turns_are_accepted_with_one_key_or_mended_by_clicking_words(shop: House, visit: Visit) -> None:
    page = settled(visit(shop, "/review?kind=Assistant"))
    card = page.locator(".t-card[data-turn]")
    expect(card).to_be_visible(timeout=SLOW_MS)
    while card.get_attribute("data-turn") != "jeans/1":
        turn = card.get_attribute("data-turn") or ""
        expect(page.get_by_role("button", name="Skip")).to_be_enabled()
        page.keyboard.press("s")
        expect(card).not_to_have_attribute("data-turn", turn)
    expect(card.locator("mark", has_text="jeans")).to_be_visible()
    words = page.locator(".st-key-turn_words")
    for word in ("how", "much"):
        words.get_by_role("button", name=word).click()
        expect(words.locator("[data-testid=stBaseButton-primary]", has_text=word)).to_be_visible()
    slot = page.get_by_role("combobox", name="Slot of the picked words")
    expect(slot).to_be_enabled()
    slot.click()
    page.get_by_role("option", name="store.type").click()
    expect(card.locator('mark[data-slot="store.type"]')).to_have_text("how much")
    page.get_by_role("button", name="Keep what I mended").click()
    mended = page.locator('.t-card[data-turn="jeans/1"]')
    expect(mended).to_have_count(0)
    expect(page.locator(".t-said-last")).to_contain_text("price_check")
    with shop.floor.database.session() as session:
        labels = {row.kind: row for row in session.exec(select(Label).where(col(Label.turn) == "jeans/1"))}
    assert (labels["intent"].value, labels["intent"].predicted) == ("price_check", "price_check")
    assert '"B-store.type","I-store.type"' in labels["slots"].value
    expect(page.get_by_role("button", name="Undo")).to_be_enabled()
    page.keyboard.press("u")
    expect(mended).to_be_visible()
    expect(page.get_by_role("button", name="Accept")).to_be_enabled()
    with shop.floor.database.session() as session:
        assert session.exec(select(Label).where(col(Label.turn) == "jeans/1")).all() == []
    page.keyboard.press("a")
    expect(mended).to_have_count(0)
