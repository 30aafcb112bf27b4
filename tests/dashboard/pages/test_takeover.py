"""A person in the assistant's place, in a real browser: shopper on one page, agents and a manager on others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

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
