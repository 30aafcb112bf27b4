"""The sample shop's data is whole: every city has what people ask for, and figures are plausible."""

from __future__ import annotations

import time
from zoneinfo import ZoneInfo

import pytest

from dialog.fulfilment.sample.catalogue import DATA, listed, table
from dialog.fulfilment.sample.data.make_not_misspelt import not_misspelt, whole_words
from dialog.fulfilment.sample.shop import SampleShop, matchers

MUST = (
    "Boston", "Seattle", "Denver", "Portland", "Tucson", "Omaha", "Miami", "Atlanta", "New Orleans", "Savannah",
    "Las Vegas", "Salt Lake City", "New York", "Los Angeles", "Chicago", "Houston",
)  # fmt: skip


def test_cities_products_and_kinds_of_stores_are_many() -> None:
    assert set(MUST) <= {row["city"] for row in table("cities")}
    assert len(table("cities")) >= 40
    assert len(table("products")) >= 250
    for row in table("cities"):
        ZoneInfo(row["timezone"])


def test_every_department_is_sold_somewhere_and_has_its_terms() -> None:
    departments = {row["department"] for row in table("products")}
    sold = {name for row in table("store_types") for name in listed(row["departments"])} | {"produce", "snacks"}
    assert departments <= sold
    assert {row["department"] for row in table("departments")} <= departments


def test_how_tos_and_chains_name_types_that_there_are() -> None:
    products = {row["type"] for row in table("products")}
    stores = {row["type"] for row in table("store_types")}
    assert {name for row in table("how_tos") for name in listed(row["types"])} <= products
    assert {row["type"] for row in table("chains")} <= stores


def test_every_product_has_a_price_in_a_store() -> None:
    shop = SampleShop()
    rows = shop.rows("SELECT count(*) AS missing FROM products WHERE id NOT IN (SELECT product FROM carried)")
    assert rows == [{"missing": 0}]
    off = shop.rows(
        "SELECT products.name FROM carried JOIN products ON products.id = carried.product"
        " WHERE carried.price NOT BETWEEN 0.7 * products.price AND 1.3 * products.price"
    )
    assert off == []


def test_the_shop_is_the_same_in_every_process_and_quickly_there() -> None:
    SampleShop()  # files are read and modules loaded
    began = time.process_time()
    shop = SampleShop()
    assert time.process_time() - began < 0.5
    query = "SELECT name, address, rating FROM stores ORDER BY id LIMIT 1"
    assert shop.rows(query) == [{"name": "Corner Pantry", "address": "4016 Park Avenue", "rating": 4.1}]


def test_the_data_is_small() -> None:
    assert sum(len(file.read_bytes()) for file in DATA.iterdir()) < 1_000_000


@pytest.mark.slow
def test_words_that_are_no_misspelt_products_are_made_from_the_tokenizers_words() -> None:
    shipped = (DATA / "not_misspelt.txt").read_text("utf-8").split()
    assert shipped == not_misspelt(whole_words(), matchers())
    assert "horse" in shipped
    assert not {"jewellery", "tyre", "jeans"} & set(shipped)
