"""The rule-based understander: intents and what is named, without a model."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialog.understanding.keywords import Keywords, fixed_phrase, normal


@pytest.mark.parametrize(
    ("line", "intent"),
    [
        ("will it rain next week in Los Angeles?", "weather.rainfall_yes_no"),
        ("how much rain will seattle get", "weather.rainfall"),
        ("is it snowing in denver", "weather.snow_yes_no"),
        ("how warm will it get", "weather.temperature"),
        ("do i need a jacket tonight", "weather.temperature_yes_no"),
        ("what's the humidity", "weather.humidity"),
        ("is it sunny", "weather.sunny"),
        ("will it be cloudy", "weather.cloudy"),
        ("what's the weather like", "weather.weather"),
        ("where can i get the best pasta", "store_location"),
        ("how much is a snow shovel", "price_check"),
        ("show me the jeans with the lowest price", "price_check"),
        ("do you have rain boots in stock", "inventory_check"),
        ("take me to the nearest gas station", "navigation.startnavigationpoi"),
        ("how far is the nearest pharmacy", "navigation.geteta"),
        ("directions to a hardware store", "navigation.showdirection"),
        ("show me coffee shops on a map", "navigation.showmappoi"),
        ("what is the warranty on the laptop", "product_info"),
        ("please reserve two of them", "reserve"),
        ("say that again", "universal.repeat"),
        ("never mind", "universal.cancel"),
        ("what can you do", "universal.help"),
        ("can i talk to a real person", "universal.person"),
        ("ok thanks bye", "universal.goodbye"),
        ("hold on a second", "universal.wait"),
        ("you are useless", "smalltalk.insult"),
        ("tell me a joke", "nomatch.none"),
        ("", "nomatch.none"),
    ],
)
def test_intents(line: str, intent: str) -> None:
    assert Keywords().read(line).intents[0].name == intent


@pytest.mark.parametrize(
    "line", ["how much is a two person tent", "are you a real person", "is a manager's chair in stock"]
)
def test_people_in_other_questions_are_not_asked_for(line: str) -> None:
    assert fixed_phrase(normal(line)) != "universal.person"


@pytest.mark.parametrize(
    ("line", "slot", "words"),
    [
        ("how much are running shoes", "item.type", "running shoes"),
        ("where can i get thai food in san francisco", "item.type", "thai food"),
        ("do you have laptop memory", "item.type", "laptop memory"),
        ("find the highest-rated sushi restaurant in austin", "store.type", "sushi restaurant"),
        ("how much is milk at Best Buy", "store.name", "Best Buy"),
    ],
)
def test_what_is_named(line: str, slot: str, words: str) -> None:
    spans = Keywords().read(line).spans
    assert (slot, words) in [(span.slot, span.text) for span in spans]
    assert all(line[span.start : span.end] == span.text for span in spans)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300))
def test_no_text_breaks_it(text: str) -> None:
    reading = Keywords().read(text)
    assert reading.intents
    assert all(0 <= span.start < span.end <= len(text) for span in reading.spans)


def test_a_huge_line_is_read_at_once() -> None:
    began = time.perf_counter()
    Keywords().read("put " * 25_000)
    Keywords().read("a person " * 12_000)
    assert time.perf_counter() - began < 1.0
