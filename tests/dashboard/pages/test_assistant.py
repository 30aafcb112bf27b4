"""The shoppers' page in a real browser: typing, cards, a reload, a phone, and a widget on a shop's own page."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from dialog.fulfilment.types import ActionCall, ActionResult
from tests.dashboard.assistant.at_work import assistant_at_work
from tests.dashboard.conftest import House, Visit, running_house

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=\"document.title='hit'\"><b>Jeans</b>"
STATUS = "System replied. Waiting for user input."


class HostilePrices:
    """A shop whose items are called what they should not be."""

    source = "hostile"

    async def run(self, call: ActionCall) -> ActionResult:
        item = {
            "name": HOSTILE,
            "type": "jeans",
            "brand": "javascript:alert(1)",
            "price": 49.5,
            "currency": "USD",
            "store": "<script>document.title='hit'</script>",
            "city": None,
            "rating": 4.5,
            "colors": [],
            "sizes": [],
        }
        result = {"items": [item], "known": True, "alternatives": []}
        return ActionResult(result=result, source=self.source)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    home = tmp_path_factory.mktemp("shop")
    with running_house(home) as house, assistant_at_work(house, home, prices=HostilePrices()):
        yield house


def opened(shop: House, visit: Visit, **how: Any) -> Page:
    page = visit(shop, "/assistant", **how)
    expect(page.get_by_role("log")).to_contain_text("How can I help you?")
    return page


def say(page: Page, text: str) -> None:
    page.get_by_label("Your message").fill(text)
    page.get_by_role("button", name="Submit").click()


def test_a_shopper_types_and_sees_replies_and_cards(shop: House, visit: Visit) -> None:
    page = opened(shop, visit)
    expect(page).to_have_title("NARA")
    expect(page.get_by_role("heading", name="NARA")).to_be_visible()
    expect(page.get_by_placeholder("Write your message...")).to_be_focused()
    expect(page.get_by_role("status")).to_have_text(STATUS)
    say(page, "where is the nearest supermarket?")
    expect(page.locator("li.caller .bubble")).to_have_text("where is the nearest supermarket?")
    expect(page.locator("li.assistant")).to_have_count(2)
    say(page, "Boston")
    expect(page.locator(".card h2").first).to_be_visible()
    expect(page.locator(".card").first).to_contain_text("Boston, MA")
    say(page, "will it rain in Boston next week?")
    expect(page.locator(".forecast")).to_contain_text("Boston, MA")
    expect(page.locator(".forecast svg .day")).to_have_count(7)
    expect(page.get_by_role("status")).to_have_text(STATUS)


def test_html_in_a_name_is_shown_as_text(shop: House, visit: Visit) -> None:
    page = opened(shop, visit)
    say(page, "how much are jeans <b>now</b>")
    expect(page.locator(".card h2")).to_have_text(HOSTILE)
    expect(page.locator("li.caller .bubble")).to_have_text("how much are jeans <b>now</b>")
    assert page.locator("#log img, #log script, #log b").count() == 0
    expect(page).to_have_title("NARA")


def test_a_reload_keeps_the_conversation_and_a_new_one_does_not(shop: House, visit: Visit) -> None:
    page = opened(shop, visit)
    say(page, "will it rain tomorrow?")
    expect(page.locator("li.assistant")).to_have_count(2)
    page.reload()
    expect(page.locator("li.caller .bubble")).to_have_text("will it rain tomorrow?")
    expect(page.locator("li.assistant")).to_have_count(2)
    say(page, "Boston")
    expect(page.locator(".forecast")).to_contain_text("Boston")
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator("li.caller")).to_have_count(0)
    expect(page.get_by_role("log")).to_contain_text("How can I help you?")


def test_it_fits_a_phone_and_works_with_the_keyboard(shop: House, visit: Visit) -> None:
    page = opened(shop, visit, phone=True)
    page.keyboard.type("will it rain in Boston next week?")
    page.keyboard.press("Enter")
    expect(page.locator(".forecast svg .day")).to_have_count(7)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.get_by_role("button", name="Submit")).to_be_in_viewport()
    page.keyboard.type("two")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("lines")
    expect(page.get_by_label("Your message")).to_have_value("two\nlines")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Submit")).to_be_focused()
    page.get_by_text("This conversation is recorded").click()
    expect(page.get_by_text("It is kept until we delete it.")).to_be_visible()


def test_a_message_that_is_too_long_is_told_and_stays(shop: House, visit: Visit) -> None:
    page = opened(shop, visit)
    say(page, "x" * 2001)
    expect(page.get_by_role("alert")).to_contain_text("2,001 characters; 2,000 are allowed")
    expect(page.locator("li.caller")).to_have_count(0)
    expect(page.get_by_label("Your message")).to_have_value("x" * 2001)


def test_after_goodbye_it_is_over(shop: House, visit: Visit) -> None:
    page = opened(shop, visit)
    say(page, "goodbye")
    expect(page.get_by_role("status")).to_contain_text("This conversation is over")
    expect(page.get_by_role("button", name="Submit")).to_be_disabled()
    page.get_by_role("button", name="New conversation").click()
    expect(page.get_by_role("status")).to_have_text(STATUS)


def test_where_no_websocket_gets_through_requests_do(shop: House, visit: Visit) -> None:
    page = opened(shop, visit)
    page.add_init_script("delete window.WebSocket")
    page.reload()
    expect(page.get_by_role("status")).to_have_text(STATUS)
    say(page, "will it rain in Boston tomorrow?")
    expect(page.locator(".forecast")).to_contain_text("Boston")
    expect(page.locator("li.caller")).to_have_count(1)


def test_a_manager_sees_the_conversation_on_live(shop: House, visit: Visit) -> None:
    page = opened(shop, visit)
    say(page, "will it rain in Boston tomorrow?")
    expect(page.locator(".forecast")).to_be_visible()
    session = page.evaluate("JSON.parse(sessionStorage.getItem('assistant')).session")
    live = visit(shop, "/")
    expect(live.locator(f'.tile[data-call="{session}"]')).to_be_visible()


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A shop's own web site."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def test_one_line_embeds_it_in_a_page_of_an_allowed_web_site_only(
    tmp_path_factory: pytest.TempPathFactory, visit: Visit
) -> None:
    home, site = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("site")
    with (
        served(site) as allowed,
        served(site) as other,
        running_house(home, origins=f'["{allowed}"]') as house,
        assistant_at_work(house, home),
    ):
        script = f"<script src='{house.address}/assistant/widget.js' async></script>"
        (site / "index.html").write_text(f"<link rel=icon href=data:,><h1>Shop</h1>{script}")
        page = visit(house, "/assistant")
        page.goto(allowed)
        page.get_by_role("button", name="Open the assistant").click()
        frame = page.frame_locator("iframe[title=NARA]")
        expect(frame.get_by_role("log")).to_contain_text("How can I help you?")
        frame.get_by_label("Your message").fill("will it rain in Boston tomorrow?")
        frame.get_by_role("button", name="Submit").click()
        expect(frame.locator(".forecast")).to_be_visible()
        page.get_by_role("button", name="Close the assistant").click()
        expect(page.locator("iframe[title=NARA]")).to_be_hidden()
        page.keyboard.press("Enter")
        expect(page.locator("iframe[title=NARA]")).to_be_visible()
        frame.get_by_label("Your message").press("Escape")  # in the frame: the shop's page does not see the key
        expect(page.locator("iframe[title=NARA]")).to_be_hidden()
        expect(page.get_by_role("button", name="Open the assistant")).to_be_focused()

        browser = page.context.browser
        assert browser is not None
        refused = browser.new_page()
        said: list[str] = []
        refused.on("console", lambda message: said.append(message.text))
        refused.goto(other)
        refused.get_by_role("button", name="Open the assistant").click()
        expect(refused.locator("iframe[title=NARA]")).to_be_visible()
        refused.wait_for_timeout(1000)
        assert any("frame-ancestors" in text for text in said), said
        assert not any(urlsplit(one.url).path == "/assistant" for one in refused.frames)
        refused.close()
        page.goto("about:blank")  # it would complain that the server goes
