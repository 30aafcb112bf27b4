"""Tags that a list of words settles, whatever the model made of them."""

from __future__ import annotations

import pytest

from nlp.inference.assistant.tag_rules import ruled
from tenor.taxonomy.assistant import NO_MATCH

O, B = "O", "B-verb"  # noqa: E741


@pytest.mark.parametrize(
    ("line", "given", "intent", "wanted"),
    [
        ("what kind of rain", [O, O, "B-article", O], "weather.rainfall", [O, O, O, O]),
        ("priciest espresso machine", [O, O, O], "price_check", ["B-cost.high", O, O]),
        ("how much did it snow", ["B-interrogative.manner", "I-interrogative.manner", B, O, B], "weather.snow",
         ["B-interrogative.manner", "I-interrogative.manner", O, O, B]),
        ("i want to see stores", [O, B, O, O, O], "store_location", [O, O, O, B, O]),
        ("who won the game", [O, O, O, O], NO_MATCH, ["B-interrogative.personal", B, "B-article", O]),
        ("Please translate the menu.", [O, O, O, O], NO_MATCH, [O, B, "B-article", O]),
        ("what can you do", [O, O, O, O], "universal.help", [O, O, O, O]),
        ("how much is jeans", ["B-interrogative.manner", "I-interrogative.manner", B, "B-item.type"], "price_check",
         ["B-interrogative.manner", "I-interrogative.manner", B, "B-item.type"]),
    ],
)  # fmt: skip
def test_tags(line: str, given: list[str], intent: str, wanted: list[str]) -> None:
    assert list(ruled(line.split(), given, intent)) == wanted


def test_nothing_has_no_tags() -> None:
    assert ruled((), (), NO_MATCH) == ()
