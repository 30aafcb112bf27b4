"""Products and stores: by the names of a catalogue, or as they were said."""

from __future__ import annotations

import pytest

from dialog.values.shop.item import ItemParser
from dialog.values.shop.store import StoreParser
from dialog.values.text import TextParser
from tests.dialog.values.lines import CONTEXT, meanings

ITEMS = ItemParser(["Blue Jeans", "Oat Milk", "Running Shoes", "Strawberries", "Laptop Memory 16 GB", "Wi-Fi Router"])
STORES = StoreParser(["Target", "Whole Foods", "Walmart", "Trader Joe's"])


@pytest.mark.parametrize(
    ("line", "items"),
    [
        ("how much are the blue jeans", ["Blue Jeans"]),
        ("do you have oat milk and strawberries", ["Oat Milk", "Strawberries"]),
        ("a running shoe in size ten", ["Running Shoes"]),
        ("strawberry", ["Strawberries"]),
        ("wi-fi routers", ["Wi-Fi Router"]),
        ("do you have bread", []),
        ("", []),
    ],
)
def test_products_of_the_catalogue_are_found(line: str, items: list[str]) -> None:
    assert meanings(ITEMS.find(line, CONTEXT)) == items


@pytest.mark.parametrize(
    ("line", "item"),
    [
        ("uh, some oat milk please", "Oat Milk"),
        ("oatmilk", "Oat Milk"),
        ("strawberrys", "Strawberries"),
        ("runing shoes", "Running Shoes"),
        ("the blue jean", "Blue Jeans"),
        ("i'd like a garden hose", "garden hose"),
        ("flux capacitor", "flux capacitor"),
        ("<b>jeans</b>", None),
    ],
)
def test_an_answer_names_a_product(line: str, item: str | None) -> None:
    value = ITEMS.answer(line, CONTEXT)
    assert value is not None
    assert item is None or value.value == item


@pytest.mark.parametrize("line", ["", "it", "that one", "yes", "no", "something", "???", "12", "what", "one two " * 10])
def test_what_names_nothing_is_no_product(line: str) -> None:
    assert ITEMS.answer(line, CONTEXT) is None


def test_a_product_that_is_not_in_the_catalogue_is_less_sure() -> None:
    known, unknown = ITEMS.answer("oat milk", CONTEXT), ITEMS.answer("goat milk cheese", CONTEXT)
    assert known is not None
    assert unknown is not None
    assert known.score > unknown.score


@pytest.mark.parametrize(
    ("span", "clean"),
    [
        ("some of the oat milk please", "oat milk"),
        ("the laptop  memory", "laptop memory"),
        ("a pair of jeans", "jeans"),
        ("", ""),
    ],
)
def test_a_span_is_cleaned(span: str, clean: str) -> None:
    assert ItemParser().clean(span) == clean


@pytest.mark.parametrize(
    ("line", "store"),
    [
        ("the target store", "Target"),
        ("at wholefoods", "Whole Foods"),
        ("wallmart", "Walmart"),
        ("trader joes", "Trader Joe's"),
        ("the toy store", "toy store"),
        ("best buy", "best buy"),
    ],
)
def test_an_answer_names_a_store(line: str, store: str) -> None:
    value = STORES.answer(line, CONTEXT)
    assert value is not None
    assert (value.type, value.value) == ("store", store)


def test_any_words_are_a_text() -> None:
    value = TextParser().answer("uh, leave it  at the door please", CONTEXT)
    assert value is not None
    assert value.value == "leave it at the door"
    assert TextParser().find("leave it at the door", CONTEXT) == []
    assert TextParser().answer("uh", CONTEXT) is None
