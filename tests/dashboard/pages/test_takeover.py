"""A person in the assistant's place, in a real browser: shopper on one page, agents and a manager on others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from dialog.flow.loading import SHIPPED
from tests.dashboard.assistant.at_work import assistant_at_work
from tests.dashboard.conftest import House, Visit, running_house

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    home = tmp_path_factory.mktemp("shop")
    with running_house(home) as house, assistant_at_work(house, home):
        yield house


def asks_for_person(shop: House, visit: Visit, *before: str, **how: Any) -> tuple[Page, str]:
    """A shopper who has asked for a person, and the call."""
    page = visit(shop, "/assistant", **how)
    expect(page.get_by_role("log")).to_contain_text("How can I help you?")
    for number, text in enumerate((*before, "I want to talk to a person"), 2):
        say(page, text)
        expect(page.locator("li.assistant")).to_have_count(number)
    expect(page.get_by_role("status")).to_have_text("Waiting for a person to join…")
    return page, page.evaluate("JSON.parse(sessionStorage.getItem('assistant')).session")


def say(page: Page, text: str) -> None:
    page.get_by_label("Your message").fill(text)
    page.get_by_role("button", name="Submit").click()


def write(page: Page, text: str) -> None:
    page.get_by_label("Write to the shopper").fill(text)
    page.get_by_role("button", name="Send").click()


def test_the_whole_way_to_a_person_and_back(shop: House, visit: Visit) -> None:
    shopper, call = asks_for_person(shop, visit, "will it rain tomorrow")
    agent = visit(shop, "/", looks_as="agent:anna")
    waiting = agent.locator(f'.handover[data-call="{call}"]')
    expect(waiting).to_contain_text("Waits for a person")
    expect(waiting).to_contain_text("The shopper asked for a person. About the weather")
    waiting.get_by_role("button", name="Take the call").click()
    expect(agent.get_by_text("You have this conversation")).to_be_visible()
    expect(shopper.get_by_role("log")).to_contain_text("A person has joined the conversation.")
    expect(shopper.get_by_role("status")).to_have_text("You are talking to a person.")
    write(agent, "Hello, this is Anna. <b>How</b> can I help?")
    expect(shopper.locator("li.agent .bubble")).to_have_text("Hello, this is Anna. <b>How</b> can I help?")
    expect(agent.get_by_label("Write to the shopper")).to_have_value("")
    say(shopper, "is the shop open on sunday")
    expect(agent.locator(".lines")).to_contain_text("is the shop open on sunday")
    agent.get_by_role("button", name="Give back to the assistant").click()
    expect(shopper.get_by_role("log")).to_contain_text("The person has left.")
    expect(shopper.locator("li.assistant").last).to_contain_text("location")
    say(shopper, "Boston")
    expect(shopper.locator(".forecast")).to_contain_text("Boston")
    expect(shopper.locator("li.agent")).to_have_count(1)


def test_of_two_agents_one_has_it_and_the_other_is_told(shop: House, visit: Visit) -> None:
    _, call = asks_for_person(shop, visit)
    first = visit(shop, f"/call?call={call}", looks_as="agent:anna")
    second = visit(shop, f"/call?call={call}", looks_as="agent:ben")
    for page in (first, second):
        expect(page.get_by_text("Waits for a person")).to_be_visible()
    first.get_by_role("button", name="Take the call").click()
    expect(first.get_by_text("You have this conversation")).to_be_visible()
    expect(second.get_by_text("anna has this conversation")).to_be_visible()
    expect(second.get_by_role("button", name="Take the call")).to_be_hidden()
    expect(second.get_by_label("Write to the shopper")).to_be_hidden()


def test_on_a_phone_the_conversation_comes_before_what_is_known_of_it(shop: House, visit: Visit) -> None:
    _, call = asks_for_person(shop, visit)
    agent = visit(shop, "/", looks_as="agent:zoe", phone=True)
    agent.locator(f'.handover[data-call="{call}"]').get_by_role("button", name="Take the call").click()
    expect(agent.get_by_label("Write to the shopper")).to_be_visible()
    top = "it => it.getBoundingClientRect().top"
    assert agent.locator(".composer").evaluate(top) < agent.locator(".columns > .column").first.evaluate(top)


def test_a_line_survives_a_reload_and_is_sent_once(shop: House, visit: Visit) -> None:
    shopper, call = asks_for_person(shop, visit)
    agent = shopper.context.new_page()  # what it complains of is what this test does to it
    agent.goto(f"{shop.address}/call?call={call}&as=agent:anna")
    agent.get_by_role("button", name="Take the call").click()
    answers: list[str] = []

    def lost(route: Route) -> None:
        """The line arrives, and the answer does not."""
        answers.append(route.fetch().text())
        route.abort()

    agent.route("**/actions/write", lost)
    write(agent, "One moment, please.")
    expect(shopper.locator("li.agent .bubble")).to_have_text("One moment, please.")
    expect(agent.locator(".handover .trouble")).to_be_visible()
    agent.unroute_all()
    agent.reload()
    expect(agent.get_by_label("Write to the shopper")).to_have_value("One moment, please.")
    agent.get_by_role("button", name="Send").click()
    expect(agent.get_by_label("Write to the shopper")).to_have_value("")
    write(agent, "Here I am.")
    expect(shopper.locator("li.agent .bubble")).to_have_text(["One moment, please.", "Here I am."])
    agent.close()


def test_the_call_rises_on_live_with_reason_and_summary(shop: House, visit: Visit) -> None:
    manager = visit(shop, "/", looks_as="manager:mia")
    shopper, call = asks_for_person(shop, visit, "how much are jeans in Boston", phone=True)
    tile = manager.locator(f'.tile[data-call="{call}"]')
    expect(tile.locator(".person")).to_contain_text("Waits for a person")
    expect(tile.locator(".person")).to_contain_text("The shopper asked for a person. About")
    expect(tile).to_contain_text("Retail assistant")
    tile.click()
    banner = manager.locator(".handover")
    expect(banner).to_contain_text("Waits for a person")
    expect(banner.locator(".chip").first).to_be_visible()
    expect(manager.get_by_text("Swap sides")).to_be_hidden()
    manager.get_by_role("button", name="Take the call").click()
    expect(banner).to_contain_text("You have this conversation")
    expect(shopper.get_by_role("status")).to_have_text("You are talking to a person.")
    assert shopper.evaluate("document.documentElement.scrollWidth") <= 390


def test_an_analyst_looks_and_cannot_take_it(shop: House, visit: Visit) -> None:
    _, call = asks_for_person(shop, visit)
    page = visit(shop, f"/call?call={call}", looks_as="analyst:ada")
    expect(page.get_by_text("Waits for a person")).to_be_visible()
    expect(page.get_by_role("button", name="Take the call")).to_be_hidden()


def test_nobody_comes_and_the_shopper_chooses(tmp_path_factory: pytest.TempPathFactory, visit: Visit) -> None:
    home, flows = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("flows")
    for file in SHIPPED.glob("*.yml"):
        (flows / file.name).write_text(file.read_text().replace("wait: 60 s", "wait: 1 s"))
    with running_house(home) as house, assistant_at_work(house, home, flows=flows):
        shopper = visit(house, "/assistant")
        expect(shopper.get_by_role("log")).to_contain_text("How can I help you?")
        say(shopper, "I want to talk to a person")
        expect(shopper.locator("li.assistant").last).to_contain_text("Which would you like?")
        expect(shopper.get_by_role("status")).to_have_text("System replied. Waiting for user input.")
        call = shopper.evaluate("JSON.parse(sessionStorage.getItem('assistant')).session")
        agent = visit(house, "/", looks_as="agent:anna")
        expect(agent.locator(f'.handover[data-call="{call}"]')).to_contain_text("Nobody came yet")
        say(shopper, "how much are jeans")
        expect(shopper.locator(".card").first).to_be_visible()
        for page in (shopper, agent):
            page.goto("about:blank")  # it would complain that the server goes
