"""Which products and stores a shopper's words find in the sample shop."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialog.fulfilment.sample.catalogue import table
from dialog.fulfilment.sample.shop import SampleShop

_SHOP = SampleShop()


@pytest.fixture(scope="module")
def shop() -> SampleShop:
    return _SHOP


def types(shop: SampleShop, item: str) -> set[str]:
    return {table("products")[number - 1]["type"] for number in shop.products(item)}


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("jeans", "jeans"),
        ("a pair of blue jeans in size 32", "jeans"),
        ("jeens", "jeans"),
        ("laptop memory", "laptop memory"),
        ("memory", "laptop memory"),
        ("lap top", "laptop"),
        ("laptop bag", "laptop bag"),
        ("a bag of potato chips", "chip"),
        ("labtop", "laptop"),
        ("oat milk", "oat milk"),
        ("oatmilk", "oat milk"),
        ("a gallon of milk", "milk"),
        ("iphone", "smartphone"),
        ("i phone", "smartphone"),
        ("samsung galaxy", "smartphone"),
        ("macbook air", "laptop"),
        ("running shoes", "running shoe"),
        ("runing shoes", "running shoe"),
        ("dining table", "dining table"),
        ("dinning table", "dining table"),
        ("55 inch tv", "tv"),
        ("55 inch television", "tv"),
        ("couch", "sofa"),
        ("hed phones", "headphones"),
        ("two oranges", "orange"),
        ("2 pounds of ground beef", "ground beef"),
        ("levi's", "jeans"),
        ("the cheapest jeans please", "jeans"),
        ("avacado", "avocado"),
        ("Pizza!", "pizza"),
        ("apples", "apple"),
        ("2% milk", "milk"),
    ],
)
def test_words_find_the_product_they_mean(shop: SampleShop, said: str, meant: str) -> None:
    assert types(shop, said) == {meant}


@pytest.mark.parametrize(
    "said",
    [
        "unobtainium", "flux capacitor", "dragon milk", "horse", "unicorn", "time machine", "moon rocks", "a house",
        "a car", "foam", "iphone 15", "27 inch tv", "samsung tv", "gold bars", "plutonium", "weather", "", " ",
        "the", "🍕", "%", "';--", "x" * 100_000,
    ],
)  # fmt: skip
def test_an_unknown_product_is_none_and_never_a_wrong_one(shop: SampleShop, said: str) -> None:
    assert shop.products(said) == []


def test_a_phone_is_no_case_for_one(shop: SampleShop) -> None:
    assert types(shop, "iphone case") == {"phone case"}
    assert "phone case" not in types(shop, "iphone")


@pytest.mark.parametrize(
    ("said", "department"), [("furniture", "furniture"), ("groceries", "grocery"), ("clothes", "clothes")]
)
def test_a_department_finds_what_is_in_it(shop: SampleShop, said: str, department: str) -> None:
    found = {table("products")[number - 1]["department"] for number in shop.products(said)}
    assert found == {department}


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("sushi", "sushi restaurant"),
        ("highest rated sushi restaurant", "sushi restaurant"),
        ("sushy", "sushi restaurant"),
        ("thai food", "thai restaurant"),
        ("best pasta", "italian restaurant"),
        ("grocery store", "supermarket"),
        ("gas", "gas station"),
        ("drugstore", "pharmacy"),
        ("clothing stores", "clothing store"),
        ("coffee", "coffee shop"),
        ("atm", "atm"),
    ],
)
def test_words_find_the_kind_of_store_they_mean(shop: SampleShop, said: str, meant: str) -> None:
    assert shop.stores(said).types == (meant,)


def test_restaurants_are_all_kinds_of_them(shop: SampleShop) -> None:
    assert len(shop.stores("a place to eat").types) > 10


def test_somebody_elses_chain_is_not_here_but_its_kind_is(shop: SampleShop) -> None:
    wish = shop.stores("the nearest Walmart")
    assert wish.instead
    assert wish.types == ("supermarket",)


def test_an_unknown_store_is_none(shop: SampleShop) -> None:
    assert not shop.stores("qwerty store").known
    assert not shop.stores("").known


@settings(max_examples=200, deadline=None)
@given(said=st.text(max_size=80))
def test_no_text_makes_it_fail(said: str) -> None:
    _SHOP.products(said)
    _SHOP.stores(said)


def test_every_product_is_found_by_its_own_name_and_type(shop: SampleShop) -> None:
    for number, row in enumerate(table("products"), 1):
        assert number in shop.products(row["name"].split(",")[0]), row["name"]
        assert number in shop.products(row["type"]), row["type"]
