"""Labels with a model of one's own, and on pages of two dashboard processes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

import httpx
import pytest
from playwright.sync_api import expect
from sqlmodel import select

from storage.tables import Label
from tests.dashboard.conftest import House, Visit, running_house

LEARNED = {"intent": ["lost_card", "open_times", "unknown"], "sentiment": ["livid", "neutral", "positive"]}


class Houses(NamedTuple):
    """Two processes that show the same calls, with a model of one's own."""

    one: House
    other: House


@pytest.fixture(scope="module")
def houses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Houses]:
    home = tmp_path_factory.mktemp("houses")
    card = {"name": "ours", "version": "1", "heads": LEARNED}
    (home / "model.json").write_text(json.dumps(card))
    with running_house(home, model=str(home)) as one, running_house(home, model=str(home)) as other:
        yield Houses(one, other)


def labels(house: House, sentence: str) -> list[tuple[str, str]]:
    with house.floor.database.session() as session:
        return [(one.kind, one.value) for one in session.exec(select(Label).where(Label.sentence == sentence))]


@pytest.mark.browser
def test_the_call_page_offers_and_takes_what_the_model_learned(houses: Houses, visit: Visit) -> None:
    call = houses.one.floor.call("anna")
    said = call.says("caller", "My card is gone.", "neutral", intent="open_times")
    call.written()
    page = visit(houses.one, f"/call?call={call.id}")
    mine = page.locator(f'[data-sentence="{said.sentence}"]')
    mine.locator(".bubble").hover()
    expect(mine.locator("button.mark")).to_have_count(4)  # three sentiments, and the menu
    mine.get_by_label("This is livid").click()
    expect(mine.locator(".feeling")).to_have_text("◆ livid")
    mine.get_by_label("Correct or note").click()
    offered = mine.get_by_label("Intent").locator("option")
    expect(offered).to_have_text(["Intent …", "Lost card", "Open times", "Unknown"])
    mine.get_by_label("Intent").select_option("lost_card")
    expect(mine.locator(".meta")).to_contain_text("Lost card")
    expect(page.locator(".trouble:visible")).to_have_count(0)
    assert labels(houses.one, said.sentence) == [("sentiment", "livid"), ("intent", "lost_card")]
    call.ends()


@pytest.mark.browser
def test_a_label_made_on_review_is_on_the_pages_of_another_process(houses: Houses, visit: Visit) -> None:
    """Also when it is taken back."""
    call = houses.one.floor.call("anna")
    said = call.says("caller", "Where are you, and when do you close?", "neutral", intent="greeting")
    call.written()
    shown = visit(houses.other, f"/call?call={call.id}").locator(f'[data-sentence="{said.sentence}"]')
    live = visit(houses.other, "/").locator(f'.tile[data-call="{call.id}"]')
    mine = visit(houses.other, "/", looks_as="agent:anna").locator(".lines")
    expect(shown.locator(".meta")).to_contain_text("Greeting")
    expect(live).to_contain_text("Where are you")
    expect(mine).to_contain_text("Caller ● Where are you")

    review = visit(houses.one, "/review?kind=Intent")
    card = review.locator(".t-card")
    while True:
        expect(card).to_be_visible()
        expect(review.get_by_role("button", name="Skip")).to_be_enabled()
        if (sentence := card.get_attribute("data-sentence")) == said.sentence:
            break
        review.keyboard.press("s")
        expect(card).not_to_have_attribute("data-sentence", sentence or "")
    expect(review.get_by_role("button", name="Accept: Greeting")).to_be_disabled()  # ours, not the model's
    review.keyboard.press("l")
    review.get_by_role("combobox", name="Intent").click()
    review.keyboard.type("open times")
    review.keyboard.press("Enter")
    expect(shown.locator(".meta")).to_contain_text("Open times")
    expect(shown.locator(".model")).to_contain_text("Greeting")
    expect(review.get_by_role("combobox", name="Intent")).to_have_count(0)  # which takes a "u" for a letter
    expect(review.get_by_role("button", name="Undo")).to_be_enabled()
    review.keyboard.press("u")
    expect(shown.locator(".meta")).to_contain_text("Greeting")
    expect(shown.locator(".model")).to_have_text("")

    review.goto(f"{houses.one.address}/review?kind=Sentiment")
    while True:
        expect(card).to_be_visible()
        expect(review.get_by_role("button", name="Skip")).to_be_enabled()
        if (sentence := card.get_attribute("data-sentence")) == said.sentence:
            break
        review.keyboard.press("s")
        expect(card).not_to_have_attribute("data-sentence", sentence or "")
    review.keyboard.press("3")
    expect(shown).to_have_class(re.compile("positive"))
    expect(live.locator(".last .positive")).to_have_text("Where are you, and when do you close?")
    expect(mine).to_contain_text("Caller ▲ Where are you")
    call.ends()


@pytest.mark.browser
def test_sides_turned_round_are_so_on_the_pages_of_another_process(houses: Houses, visit: Visit) -> None:
    call = houses.one.floor.call("anna")
    said = call.says("caller", "How can I help you?", "positive", intent="unknown")
    call.written()
    page = visit(houses.one, f"/call?call={call.id}")
    shown = visit(houses.other, f"/call?call={call.id}").locator(f'[data-sentence="{said.sentence}"]')
    live = visit(houses.other, "/").locator(f'.tile[data-call="{call.id}"]')
    expect(shown).to_have_class(re.compile("left"))
    expect(live).to_contain_text("Caller: How can I help you?")
    page.get_by_role("button", name="Swap sides").click()
    expect(shown).to_have_class(re.compile("right"))
    expect(live).to_contain_text("Agent: How can I help you?")
    expect(live.locator(".mood").last).to_contain_text("Agent ▲ +0.80")
    call.says("caller", "Is there anything else?")
    expect(live).to_contain_text("Agent: Is there anything else?")
    call.ends()


@pytest.mark.browser
def test_the_server_refuses_what_the_model_does_not_know(houses: Houses, visit: Visit) -> None:
    call = houses.one.floor.call("anna")
    said = call.says("caller", "My card is gone.")
    call.written()
    page = visit(houses.one, f"/call?call={call.id}")
    with page.expect_request("**/feed?call=*") as asked:
        page.reload()
    headers = {"Authorization": asked.value.all_headers()["authorization"]}
    wanted = {"sentence": said.sentence, "kind": "intent", "value": "lost_cart"}
    answer = httpx.post(f"{houses.one.address}/actions/correct", json=wanted, headers=headers)
    assert (answer.status_code, answer.json()) == (
        400,
        {"error": "there is no intent 'lost_cart' in force; did you mean 'lost_card'?"},
    )
    assert labels(houses.one, said.sentence) == []
    call.ends()
