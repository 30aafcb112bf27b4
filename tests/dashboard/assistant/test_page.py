"""The page as it is served: what it may load, who may frame it, what its notice says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from dashboard.assistant.cards import card_of
from dashboard.assistant.page import AssistantPage, notice
from dashboard.assistant.voice import Voice
from tenor.errors import BadInput
from tenor.settings import AssistantSettings, Settings, SpeechSettings, StorageSettings


def client(**assistant: object) -> TestClient:
    settings = Settings(home=Path("nowhere"), assistant=AssistantSettings.model_validate(assistant))
    return TestClient(Starlette(routes=AssistantPage(settings, Voice(settings, "a secret")).routes()))


def test_everything_the_page_loads_is_there_and_under_its_own_path() -> None:
    shop = client()
    page = shop.get("/assistant")
    loaded = re.findall(r'(?:src|href)="(/[^"]+)"', page.text)
    assert len(loaded) == 3
    for address in loaded:
        assert address.startswith("/assistant/assets/")
        assert shop.get(address).status_code == 200
    folder = next(address for address in loaded if address.endswith("main.js")).rpartition("/")[0]
    scripts = {"main.js"}
    for name in ("main.js", "connection.js", "log.js", "cards.js", "forecast.js", "voice.js", "worklet.js"):
        answer = shop.get(f"{folder}/{name}")
        assert answer.headers["content-type"].startswith("text/javascript")
        scripts |= set(re.findall(r'from "\./([^"]+)"', answer.text))
        assert "innerHTML" not in answer.text
    assert all(shop.get(f"{folder}/{name}").status_code == 200 for name in scripts)
    for name in ("sign_in.html", "..%2fmain.py", "page.html", "live.js", "%00"):
        assert shop.get(f"{folder}/{name}").status_code == 404


def test_it_runs_no_script_of_others_and_only_allowed_web_sites_frame_it() -> None:
    policy = client(origins=["https://shop.example"]).get("/assistant").headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "default-src 'none'" in policy
    assert policy.endswith("frame-ancestors 'self' https://shop.example")
    assert client().get("/assistant").headers["content-security-policy"].endswith("frame-ancestors 'self'")


@pytest.mark.parametrize(
    "origin", ["*", "shop.example", "https://shop.example/", "https://a.example https://b.example", "https://*.example"]
)
def test_an_origin_that_is_none_is_refused_at_the_start(origin: str) -> None:
    with pytest.raises(BadInput, match="is no web site"):
        client(origins=[origin])


def test_a_hostile_title_stays_text() -> None:
    shop = client(title='</title><script>"\\${x}')
    assert "<script>" not in shop.get("/assistant").text.replace('<script type="module"', "")
    assert "</title><script>" not in shop.get("/assistant/widget.js").text
    assert r'"Nara \u{1f389}"' in client(title="Nara 🎉").get("/assistant/widget.js").text


def test_the_widget_may_be_loaded_from_anywhere() -> None:
    answer = client().get("/assistant/widget.js")
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert '"NARA"' in answer.text


@pytest.mark.parametrize(
    ("days", "redact", "said"),
    [
        (0, "off", ["until we delete it", "Do not write or say card numbers"]),
        (1, "off", ["deleted after 1 day."]),
        (30, "text", ["deleted after 30 days", "card numbers and e-mail addresses"]),
    ],
)
def test_the_notice_says_what_is_kept_and_for_how_long(days: int, redact: str, said: list[str]) -> None:
    speech = SpeechSettings.model_validate({"redact": redact, "redact_kinds": ["card", "email"]})
    told = notice(Settings(storage=StorageSettings(keep_calls_days=days), speech=speech))
    for part in said:
        assert part in told


def test_a_privacy_policy_is_linked_and_a_script_is_not() -> None:
    assert (
        'href="https://shop.example/privacy"'
        in client(privacy_url="https://shop.example/privacy").get("/assistant").text
    )
    page = client(privacy_url="javascript:alert(1)").get("/assistant").text
    assert re.search(r"<a [^>]*hidden>", page)


@pytest.mark.parametrize(
    "card",
    [
        None,
        {},
        {"action": "prices"},
        {"action": "prices", "result": None},
        {"action": "prices", "result": {"items": "many"}},
        {"action": "prices", "result": {"items": []}},
        {"action": "prices", "result": {"items": [5, None]}},
        {"action": ["prices"], "result": {"items": [{"name": "a"}]}},
        {"action": "handover", "result": {"summary": "secret"}},
        {"action": "reserve", "result": {"reserved": False, "name": "table"}},
    ],
)
def test_a_result_without_anything_to_show_has_no_card(card: object) -> None:
    assert card_of(card) is None  # type: ignore[arg-type]


def test_a_card_has_a_few_rows_of_known_fields() -> None:
    item = {"name": "x" * 5000, "price": 5, "secret": "s", "colors": ["red", {"a": 1}], "store": {"deep": 1}}
    card = card_of({"action": "prices", "result": {"items": [item] * 50}})
    assert card is not None
    assert card["kind"] == "prices"
    assert card["rows"] == [{"name": "x" * 200, "price": 5, "colors": ["red"]}] * 4


@pytest.mark.parametrize(
    ("settings", "reached"),
    [
        ({}, "connect-src 'self' ws://testserver:8400/browser;"),
        (
            {"gateway": {"public_url": "https://calls.example.com"}},
            "connect-src 'self' wss://calls.example.com/browser;",
        ),
        (
            {"assistant": {"voice_url": "wss://voice.example/browser"}},
            "connect-src 'self' wss://voice.example/browser;",
        ),
        ({"assistant": {"voice_url": "off"}}, "connect-src 'self';"),
        ({"gateway": {"port": 0}}, "connect-src 'self';"),
    ],
)
def test_the_page_reaches_the_gateway_and_nobody_else(settings: dict[str, Any], reached: str) -> None:
    made = Settings.model_validate({"home": "nowhere", **settings})
    page = TestClient(Starlette(routes=AssistantPage(made, Voice(made, "a secret")).routes())).get("/assistant")
    assert reached in page.headers["content-security-policy"]
    assert ('data-voice="on"' in page.text) == ("//" in reached)
    assert page.headers["permissions-policy"] == "microphone=(self)"
