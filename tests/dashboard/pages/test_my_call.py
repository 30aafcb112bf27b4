"""The agent's own page: the call at hand, by itself."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from storage.queries.people import PeopleTable, store
from tests.dashboard.conftest import House, Visit

pytestmark = pytest.mark.browser


def test_the_page_turns_to_the_call_at_hand(house: House, visit: Visit) -> None:
    page = visit(house, "/", looks_as="agent:zoe", phone=True)
    expect(page.get_by_text("No call right now")).to_be_visible()
    page.route(re.compile(r"/feed(\?|$)"), lambda route: None)  # an answer that takes its time
    page.reload()
    expect(page.get_by_label("Loading")).to_be_visible()
    expect(page.get_by_text("No call right now")).to_be_hidden()
    page.unroute_all()
    page.reload()
    expect(page.get_by_text("No call right now")).to_be_visible()
    house.floor.call("ben").says("caller", "Not for Zoe.")
    first = house.floor.call("zoe", customer="M. Okafor")
    expect(page.get_by_text("On the line: M. Okafor")).to_be_visible()
    first.says("caller", "I want to cancel my contract, this is awful.", "negative", intent="cancel")
    expect(page.locator(".feeling")).to_contain_text("Unhappy")
    expect(page.locator(".lines")).to_contain_text("I want to cancel my contract")
    expect(page.locator(".steps li").first).to_contain_text("Because the caller")
    expect(page.locator(".under")).not_to_contain_text("sample data")
    first.metrics(task="cancel")
    expect(page.locator(".task")).to_have_text("Cancel")
    first.alert("cancel_said", "Says that they want to cancel")
    expect(page.get_by_text("⚑ Cancel said")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    second = house.floor.call("zoe", customer="P. Hart")
    expect(page.get_by_text("On the line: P. Hart")).to_be_visible()
    expect(page.get_by_text("I want to cancel my contract")).to_have_count(0)
    expect(page.get_by_text("Not for Zoe.")).to_have_count(0)
    second.ends()
    expect(page.get_by_text("Call is over")).to_be_visible()
    expect(page.get_by_text("Last call: P. Hart")).to_be_visible()
    expect(page.get_by_text("On the line")).to_have_count(0)
    first.ends()


def test_the_customer_is_called_by_name_also_in_a_call_that_began_just_now(house: House, visit: Visit) -> None:
    store(house.floor.database, PeopleTable("customer", {"NG-1008": {"display_name": "Marco Keller"}}), "test")
    page = visit(house, "/", looks_as="agent:yara")
    expect(page.get_by_text("No call right now")).to_be_visible()
    call = house.floor.call("yara", customer="NG-1008", attributes={"sample": "yes"})
    expect(page.get_by_text("On the line: Marco Keller")).to_be_visible()
    expect(page.locator(".under")).to_contain_text("sample data")
    call.ends()
