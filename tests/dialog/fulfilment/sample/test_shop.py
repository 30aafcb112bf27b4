"""What the sample shop answers: stores, prices, stock, questions about products, reservations."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dialog.fulfilment.registry import ORDERS, actions
from dialog.fulfilment.runner import SHAPES
from dialog.fulfilment.sample.packages import needed
from dialog.fulfilment.sample.shop import SampleShop
from dialog.fulfilment.types import Action, ActionFailed
from tenor.errors import BadInput
from tests.dialog.fulfilment.calls import BOSTON, NOW, call_of, days, result_of

SEATTLE = {"name": "Seattle", "state": "WA", "latitude": 47.6, "longitude": -122.3, "timezone": "America/Los_Angeles"}
CAMBRIDGE = {"name": "Cambridge", "state": "MA", "latitude": 42.37, "longitude": -71.11, "timezone": "America/New_York"}
NOWHERE = {"name": "Barstow", "state": "XX", "latitude": 48.0, "longitude": -107.0, "timezone": "America/Denver"}


@pytest.fixture(scope="module")
def shop() -> Mapping[str, Action]:
    return actions("sample")


async def ask(shop: Mapping[str, Action], name: str, **arguments: Any) -> Any:
    result = await result_of(shop[name], name, **arguments)
    msgspec.convert(result, SHAPES[name])
    return result


async def test_the_highest_rated_sushi_restaurant_comes_first(shop: Mapping[str, Action]) -> None:
    stores = (await ask(shop, "places", location=BOSTON, item="sushi", sort="rating.high"))["stores"]
    assert {store["type"] for store in stores} == {"sushi restaurant"}
    assert {store["city"] for store in stores} == {"Boston"}
    ratings = [store["rating"] for store in stores]
    assert ratings == sorted(ratings, reverse=True)


async def test_the_nearest_comes_first_without_a_wish(shop: Mapping[str, Action]) -> None:
    stores = (await ask(shop, "places", location=BOSTON, store="restaurant"))["stores"]
    distances = [store["distance_mi"] for store in stores]
    assert len(stores) == 10
    assert distances == sorted(distances)


async def test_an_item_finds_the_stores_that_sell_it(shop: Mapping[str, Action]) -> None:
    for item, kind in (
        ("oat milk", "supermarket"),
        ("jeans", "clothing store"),
        ("laptop memory", "electronics store"),
    ):
        stores = (await ask(shop, "places", location=SEATTLE, item=item))["stores"]
        assert kind in {store["type"] for store in stores}, item


async def test_hours_are_those_of_the_day_that_was_asked_for(shop: Mapping[str, Action]) -> None:
    today = (await ask(shop, "places", location=BOSTON, store="bank"))["stores"][0]
    assert (today["open_now"], today["opens"], today["closes"]) == (True, "09:00", "17:00")
    sunday = (await ask(shop, "places", location=BOSTON, store="bank", when=days("2026-11-22")))["stores"][0]
    assert (sunday["opens"], sunday["closes"]) == (None, None)
    night = (await ask(shop, "places", location=BOSTON, store="bank", now=NOW.replace(hour=23)))["stores"][0]
    assert night["open_now"] is False


async def test_open_now_goes_by_the_clock_of_the_place(shop: Mapping[str, Action]) -> None:
    in_seattle = (await ask(shop, "places", location=SEATTLE, store="bank"))["stores"][
        0
    ]  # ten in Boston is seven there
    assert in_seattle["open_now"] is False
    without_zone = (await ask(shop, "places", location=SEATTLE, store="bank", now=datetime(2026, 11, 18, 10)))["stores"]
    assert without_zone[0]["open_now"] is True


async def test_a_town_without_stores_is_served_by_its_neighbour(shop: Mapping[str, Action]) -> None:
    stores = (await ask(shop, "places", location=CAMBRIDGE, item="pizza"))["stores"]
    assert {store["city"] for store in stores} == {"Boston"}
    assert (await ask(shop, "places", location=NOWHERE, item="pizza"))["stores"] == []


async def test_a_chain_that_is_not_there_has_alternatives_of_its_kind(shop: Mapping[str, Action]) -> None:
    result = await ask(shop, "places", location=BOSTON, store="Walmart")
    assert (result["stores"], result["known"]) == ([], False)
    assert {store["type"] for store in result["alternatives"]} == {"supermarket"}


async def test_the_jeans_with_the_lowest_price(shop: Mapping[str, Action]) -> None:
    items = (await ask(shop, "prices", item="jeans", sort="price.low"))["items"]
    prices = [item["price"] for item in items]
    assert prices == sorted(prices)
    assert {item["type"] for item in items} == {"jeans"}
    assert len({item["name"] for item in items}) == len(items)


async def test_a_quantity_has_a_total(shop: Mapping[str, Action]) -> None:
    result = await ask(shop, "prices", item="bananas", quantity={"amount": 3, "unit": "pound"})
    item = result["items"][0]
    assert item["total"] == pytest.approx(3 * item["price"])


async def test_a_gallon_of_milk_is_one_gallon_or_two_halves(shop: Mapping[str, Action]) -> None:
    items = (await ask(shop, "prices", item="milk", quantity={"amount": 1, "unit": "gallon"}))["items"]
    assert items[0]["name"].endswith("1 gallon")
    assert items[0]["total"] == items[0]["price"]
    half = next(item for item in items if item["name"].endswith("half gallon"))
    assert half["total"] == pytest.approx(2 * half["price"])


@pytest.mark.parametrize(
    ("name", "amount", "unit", "packages"),
    [
        ("Lean Ground Beef, 1 lb", 2, "pound", 2),
        ("Lean Ground Beef, 1 lb", 24, "ounce", 2),
        ("Jasmine Rice, 5 lb", 2, "pound", 1),
        ("Large Eggs, dozen", 12, "", 1),
        ("Large Eggs, dozen", 2, "dozen", 2),
        ("Whole Milk, 1 gallon", 3, "gallon", 3),
        ("Slim Fit Jeans", 2, "pair", 2),
        ("Slim Fit Jeans", 2, "gallon", None),
        ("Avocado", 0, "pound", None),
    ],
)
def test_packages_for_a_quantity(name: str, amount: float, unit: str, packages: int | None) -> None:
    assert needed(name, {"quantity": {"amount": amount, "unit": unit}}) == packages


async def test_a_store_that_does_not_have_it_leads_elsewhere(shop: Mapping[str, Action]) -> None:
    result = await ask(shop, "prices", item="milk", store="Walmart")
    assert (result["items"], result["known"]) == ([], True)
    assert result["alternatives"]


@pytest.mark.parametrize("name", ["places", "prices", "stock", "product_info"])
async def test_an_unknown_product_gives_an_empty_result(shop: Mapping[str, Action], name: str) -> None:
    result = await ask(shop, name, item="unobtainium", location=BOSTON, question="what is it")
    assert result["known"] is False
    assert not any(value for value in result.values())


async def test_a_size_that_does_not_exist_is_not_offered(shop: Mapping[str, Action]) -> None:
    assert (await ask(shop, "prices", item="jeans", size="99"))["items"] == []
    black = (await ask(shop, "prices", item="jeans", size="size 32", color="Black"))["items"]
    assert black
    assert all("black" in item["colors"] and "32" in item["sizes"] for item in black)


async def test_a_color_in_the_items_name_counts(shop: Mapping[str, Action]) -> None:
    assert [item["name"] for item in (await ask(shop, "prices", item="white jeans"))["items"]] == ["High-Rise Jeans"]
    assert await ask(shop, "prices", item="gold ring") == {"items": [], "known": True, "alternatives": []}
    assert (await ask(shop, "prices", item="red wine"))["items"]


async def test_large_is_l_and_grey_is_gray(shop: Mapping[str, Action]) -> None:
    items = (await ask(shop, "prices", item="hoodie", size="large", color="grey"))["items"]
    assert [item["name"] for item in items] == ["Zip Hoodie"]


async def test_stock_says_where_and_how_many(shop: Mapping[str, Action]) -> None:
    result = await ask(shop, "stock", item="55 inch tv", location=BOSTON)
    assert result["available"] == sum(item["quantity"] for item in result["items"]) > 0
    assert {item["city"] for item in result["items"]} == {"Boston"}
    assert (await ask(shop, "stock", item="55 inch tv", location=BOSTON, quantity=9999))["enough"] is False


@pytest.mark.parametrize(
    ("item", "question", "part", "source"),
    [
        ("laptop", "how long does the battery last", "hours", "specifications of"),
        ("laptop", "what is the warranty", "one year", "warranty terms"),
        ("oat milk", "does it contain gluten", "gluten", "specifications of"),
        ("jeans", "how do i wash them", "inside out", "how-to"),
        ("sofa", "can i return it", "30 days", "return terms"),
        ("laptop memory", "how do i install it", "cover", "how-to"),
    ],
)
async def test_questions_are_answered_with_their_source(
    shop: Mapping[str, Action], item: str, question: str, part: str, source: str
) -> None:
    items = (await ask(shop, "product_info", item=item, question=question))["items"]
    assert part in items[0]["answer"].lower()
    assert items[0]["source"].startswith(source)


async def test_what_is_written_nowhere_is_not_answered(shop: Mapping[str, Action]) -> None:
    assert await ask(shop, "product_info", item="jeans", question="who invented them") == {"items": [], "known": True}


async def test_a_reservation_happens_once_per_key(tmp_path: Path) -> None:
    first, second = actions("sample", tmp_path), actions("sample", tmp_path)
    wish: dict[str, Any] = {"item": "55 inch tv", "location": BOSTON, "store": "Volt & Pixel"}
    before = (await ask(first, "stock", **wish))["available"]
    done = await ask(first, "reserve", key="a", **wish)
    assert done["reserved"]
    assert await ask(second, "reserve", key="a", **wish) == done  # another process, after a crash
    assert (await ask(second, "stock", **wish))["available"] == before - 1
    found = await second["reserve"].lookup("a")  # type: ignore[attr-defined]
    assert found.result == done
    assert await second["reserve"].lookup("b") is None  # type: ignore[attr-defined]


async def test_a_reservation_waits_for_another_process_and_fails_when_that_does_not_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dialog.fulfilment.sample.shop.BUSY_MS", 50)
    shop = actions("sample", tmp_path)
    wish: dict[str, Any] = {"item": "tv", "location": BOSTON}
    other = sqlite3.connect(tmp_path / ORDERS, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(ActionFailed) as caught:
        await ask(shop, "reserve", **wish)
    assert caught.value.retry
    other.execute("ROLLBACK")
    other.close()
    assert (await ask(shop, "reserve", **wish))["reserved"], "the failure left nothing half done behind"


def test_what_is_broken_off_in_the_middle_is_not_kept_and_blocks_nobody(tmp_path: Path) -> None:
    shop = SampleShop(tmp_path / ORDERS)
    insert = "INSERT INTO orders.reservations VALUES (:key, 1, 1, 1, '{}')"
    with suppress(ZeroDivisionError), shop.writing():
        shop.rows(insert, key="a")
        _ = 1 / 0
    with shop.writing():
        shop.rows(insert, key="b")
    assert shop.rows("SELECT key FROM orders.reservations") == [{"key": "b"}]


def test_a_file_that_cannot_hold_reservations_is_told(tmp_path: Path) -> None:
    (tmp_path / ORDERS).write_bytes(b"no database at all" * 100)
    with pytest.raises(BadInput, match=ORDERS):
        actions("sample", tmp_path)


async def test_stock_runs_out(tmp_path: Path) -> None:
    shop = actions("sample", tmp_path)
    wish: dict[str, Any] = {"item": "MacBook Air", "location": BOSTON}
    taken = 0
    for number in range(100):
        result = await ask(shop, "reserve", key=f"k{number}", **wish)
        if not result["reserved"]:
            break
        taken += 1
    assert 0 < taken < 100
    assert result["reason"] == "sold_out"
    assert (await ask(shop, "stock", **wish))["available"] == 0


@pytest.mark.parametrize(
    ("wish", "reason"),
    [
        ({"item": "unobtainium"}, "unknown_item"),
        ({"item": "tv", "store": "Walmart"}, "unknown_store"),
        ({"item": "jeans", "size": "99"}, "unknown_variant"),
        ({"item": "sofa", "quantity": 999}, "not_enough"),
    ],
)
async def test_what_cannot_be_reserved_says_why(shop: Mapping[str, Action], wish: dict[str, Any], reason: str) -> None:
    result = await ask(shop, "reserve", key=reason, location=BOSTON, **wish)
    assert (result["reserved"], result["reason"]) == (False, reason)
    assert await shop["reserve"].lookup(reason) is None  # type: ignore[attr-defined]


async def test_a_reservation_without_a_key_is_refused(shop: Mapping[str, Action]) -> None:
    with pytest.raises(ActionFailed):
        await shop["reserve"].run(call_of("reserve", key="", item="tv", location=BOSTON))


@pytest.mark.parametrize("name", ["places", "prices", "stock", "product_info", "reserve", "handover"])
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"item": None, "store": [], "location": 3},
        {"item": "'; DROP TABLE stores; --", "store": "%", "location": {"name": "x" * 10_000}},
        {"item": "<script>alert(1)</script>", "size": {"a": 1}, "color": 5, "quantity": "many", "sort": "price"},
        {"item": "jeans", "quantity": float("inf"), "location": BOSTON, "when": 4},
        {"item": "x" * 100_000, "question": "y" * 100_000},
    ],
)
async def test_hostile_arguments_get_a_proper_result(
    shop: Mapping[str, Action], name: str, arguments: dict[str, Any]
) -> None:
    await ask(shop, name, key=f"{name}{len(str(arguments))}", **arguments)
    assert (await ask(shop, "stock", item="jeans", location=BOSTON))["items"]


async def test_samples_say_that_they_are(shop: Mapping[str, Action]) -> None:
    for name in ("weather", "places", "prices", "stock", "product_info"):
        result = await shop[name].run(call_of(name, item="jeans", location=BOSTON))
        assert (result.sample, result.source) == (True, "sample")
