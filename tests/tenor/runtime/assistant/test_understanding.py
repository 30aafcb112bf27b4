"""Model and rules together: what the engine is told of a line."""

from __future__ import annotations

import pytest

from dialog.understanding.keywords import Keywords
from dialog.understanding.types import Understander
from tenor.runtime.assistant.understanding import WithExamples, understander

OWN = {"loyalty.points": ["how many points do i have", "what's my points balance"]}


@pytest.fixture(scope="module")
def checked() -> Understander:
    return understander(examples=OWN)


@pytest.mark.parametrize(
    ("line", "intent"),
    [
        ("how much is milk", "price_check"),
        ("wear can i by jeans in bostin", "store_location"),
        ("will it reign next weak in los angelas", "weather.rainfall_yes_no"),
        ("can i return a laptop", "product_info"),
        ("where is my order", "nomatch.none"),
        ("purple monkey dishwasher", "nomatch.none"),
        ("never mind", "universal.cancel"),
        ("how many bonus points have i got", "loyalty.points"),
    ],
)
def test_intents(checked: Understander, line: str, intent: str) -> None:
    assert checked.read(line).intents[0].name == intent


def test_spans_are_the_words_of_the_line_without_punctuation(checked: Understander) -> None:
    line = "Where can I get the best pasta, in San Francisco?"
    spans = checked.read(line).spans
    assert ("location", "San Francisco") in [(span.slot, span.text) for span in spans]
    assert all(line[span.start : span.end] == span.text for span in spans)


@pytest.mark.parametrize("line", ["", " ", "?!", "\x00", "x" * 5_000, "🎉 " * 500])
def test_no_line_breaks_it(checked: Understander, line: str) -> None:
    assert checked.read(line).intents


def test_examples_work_without_a_model() -> None:
    rules = WithExamples(Keywords(), OWN)
    assert rules.read("how many points do i have now").intents[0].name == "loyalty.points"
    assert rules.read("how much is milk").intents[0].name == "price_check"


def test_without_a_model_rules_understand() -> None:
    assert isinstance(understander(model=False), Keywords)
