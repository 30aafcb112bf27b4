"""Sort orders, colours, yes and no, one of a few choices."""

from __future__ import annotations

import pytest

from dialog.values.choice import ChoiceParser
from dialog.values.shop.color import ColorParser
from dialog.values.shop.sort import SortParser
from dialog.values.types import ParseContext
from dialog.values.yes_no import YesNoParser
from tests.dialog.values.lines import CONTEXT, NOW, meanings

SORTS, COLORS, YES_NO, CHOICES = SortParser(), ColorParser(), YesNoParser(), ChoiceParser()


@pytest.mark.parametrize(
    ("line", "orders"),
    [
        ("where can i get the best pasta", ["rating.high"]),
        ("the highest-rated sushi restaurant", ["rating.high"]),
        ("jeans with the lowest price", ["price.low"]),
        ("the cheapest jeans", ["price.low"]),
        ("something more affordable", ["price.low"]),
        ("the most expensive laptop", ["price.high"]),
        ("worst rated diner", ["rating.low"]),
        ("the nearest pharmacy", ["distance"]),
        ("the newest supermarket", ["distance"]),
        ("the newest iphone", []),
        ("coffee near me", ["distance"]),
        ("the best deal", ["price.low"]),
        ("top rated and closest", ["rating.high", "distance"]),
        ("is there a best buy here", []),
        ("a blue top", []),
        ("will it rain in boston", []),
        ("", []),
    ],
)
def test_sort_words_are_found(line: str, orders: list[str]) -> None:
    assert meanings(SORTS.find(line, CONTEXT)) == orders


@pytest.mark.parametrize(
    ("line", "order"),
    [
        ("the cheapest one please", "price.low"),
        ("uh, best rated", "rating.high"),
        ("nearest", "distance"),
        ("chepest", "price.low"),
    ],
)
def test_a_sort_order_is_read_as_an_answer(line: str, order: str) -> None:
    value = SORTS.answer(line, CONTEXT)
    assert value is not None
    assert value.value == order


@pytest.mark.parametrize(
    ("line", "colors"),
    [
        ("do you have it in dark blue", ["dark blue"]),
        ("is it available in navy or grey", ["navy", "gray"]),
        ("the red one", ["red"]),
        ("an off-white rug", ["off white"]),
        ("do you have this in orange", ["orange"]),
        ("in rose gold please", ["rose gold"]),
        ("orange juice", []),
        ("peach jam and ice cream", []),
        ("a gold ring", []),
        ("", []),
    ],
)
def test_colors_are_found(line: str, colors: list[str]) -> None:
    assert meanings(COLORS.find(line, CONTEXT)) == colors


@pytest.mark.parametrize(
    ("line", "color"),
    [
        ("blue", "blue"),
        ("uh the dark green one", "dark green"),
        ("gold", "gold"),
        ("purpel", "purple"),
        ("GREY", "gray"),
    ],
)
def test_a_color_is_read_as_an_answer(line: str, color: str) -> None:
    value = COLORS.answer(line, CONTEXT)
    assert value is not None
    assert value.value == color


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        ("yes", True),
        ("yeah sure", True),
        ("yep", True),
        ("yes please", True),
        ("uh huh", True),
        ("okay", True),
        ("that's right", True),
        ("go ahead", True),
        ("yes, that's correct", True),
        ("sounds good", True),
        ("no", False),
        ("nope", False),
        ("no thanks", False),
        ("no, not that one", False),
        ("not really", False),
        ("don't", False),
        ("i don't think so", False),
        ("no, that's wrong", False),
        ("uh no", False),
    ],
)
def test_yes_and_no_are_read_as_answers(line: str, meaning: bool) -> None:
    value = YES_NO.answer(line, CONTEXT)
    assert value is not None
    assert value.value is meaning


@pytest.mark.parametrize(
    "line", ["", "boston", "what is the weather", "no i meant omaha", "yes but in blue and size ten", "maybe"]
)
def test_what_is_neither_yes_nor_no_is_not_taken_for_it(line: str) -> None:
    assert YES_NO.answer(line, CONTEXT) is None


def chosen(line: str, *choices: str) -> object:
    value = CHOICES.answer(line, ParseContext(now=NOW, choices=choices))
    return None if value is None else value.value


@pytest.mark.parametrize(
    ("line", "choice"),
    [
        ("Portland, OR", "Portland, OR"),
        ("portland maine", "Portland, ME"),
        ("oregon", "Portland, OR"),
        ("the one in maine please", "Portland, ME"),
        ("the first one", "Portland, OR"),
        ("the second", "Portland, ME"),
        ("number two", "Portland, ME"),
        ("2", "Portland, ME"),
        ("one", "Portland, OR"),
        ("the last one", "Portland, ME"),
        ("oregan", "Portland, OR"),
        ("portland", None),
        ("neither", None),
        ("3", None),
        ("99999999999999999999", None),
        ("boston", None),
        ("yes", None),
        ("", None),
    ],
)
def test_a_choice_is_made_by_name_word_or_number(line: str, choice: str | None) -> None:
    assert chosen(line, "Portland, OR", "Portland, ME") == choice


def test_without_choices_nothing_is_chosen() -> None:
    assert chosen("the first one") is None
    assert chosen("x", "", " ", "?") is None
