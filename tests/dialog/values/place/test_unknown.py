"""A place that is not known is named in the reply, and nothing else is taken for one."""

from __future__ import annotations

import pytest

from dialog.values.place.parser import PlaceParser

PLACES = PlaceParser()


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("weather in Qwertyville", "Qwertyville"),
        ("will it rain in qwertyville tomorrow", "qwertyville"),
        ("is it cold in Atlantis?", "Atlantis"),
        ("what's the weather like in paris", "paris"),
        ("forecast for london this week", "london"),
        ("stores in Zzyzx please", "Zzyzx"),
        ("weather for xanadu", "xanadu"),
        ("restaurants near blorptown", "blorptown"),
        ("how warm is it in New Foobar City today", "New Foobar City"),
        ("weather in texas", "texas"),
        ("is it snowing in new mexico", "new mexico"),
        ("weather in boston, texas", "boston, texas"),
        ("weather zip 99999", "99999"),
        ("tokyo weather", "tokyo"),
        ("what about london", "london"),
    ],
)
def test_an_unknown_place_is_named(line: str, name: str) -> None:
    assert PLACES.unknown(line) == name


@pytest.mark.parametrize(
    "line",
    [
        "is it in stock",
        "do you have it in black",
        "in dark blue please",
        "in a size ten",
        "in the morning",
        "in an hour",
        "in march",
        "stores near me",
        "anything around here",
        "at target",
        "near walmart",
        "how much for jeans",
        "directions to walmart",
        "in general",
        "in total",
        "at the mall",
        "in town",
        "in medium",
        "in 2xl",
        "show in-n-out locations",
        "weather in boston",
        "weather in bostin",
        "will it rain next week in los angeles",
        "do you have the laptop in silver with more memory",
        "is the best pasta in chicago",
        "who is the president of france",
        "hello",
        "",
        "weather",
    ],
)
def test_other_words_are_no_unknown_places(line: str) -> None:
    assert PLACES.unknown(line) is None


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("qwertyville", "qwertyville"),
        ("uh in Blorptown please", "Blorptown"),
        ("london", "london"),
        ("99915", "99915"),
        ("texas", "texas"),
    ],
)
def test_when_a_city_was_asked_for_a_strange_line_is_its_name(line: str, name: str) -> None:
    assert PLACES.unknown(line, asked=True) == name


@pytest.mark.parametrize(
    "line", ["yes", "no", "i don't know", "what do you mean", "jeans", "cancel", "tucson", "", "how much is it"]
)
def test_when_a_city_was_asked_for_other_answers_are_no_names(line: str) -> None:
    assert PLACES.unknown(line, asked=True) is None
