"""Yelp and eBay, spoken by a server on loopback."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from dialog.fulfilment.providers.ebay import Ebay
from dialog.fulfilment.providers.yelp import Yelp
from dialog.fulfilment.runner import ActionRunner
from dialog.fulfilment.types import ActionFailed
from tests.dialog.fulfilment.calls import BOSTON, call_of
from tests.dialog.fulfilment.conftest import ApiServer, Asked, Reply

SEARCH = "/v3/businesses/search"
TOKEN = "/identity/v1/oauth2/token"
BROWSE = "/buy/browse/v1/item_summary/search"


def yelp(server: ApiServer) -> ActionRunner:
    return ActionRunner({"places": Yelp(server.url, "a-key")}, timeout_s=10, retries=0)


def ebay(server: ApiServer) -> ActionRunner:
    server.replies.setdefault(TOKEN, Reply({"access_token": "t-1", "expires_in": 7200, "token_type": "Application"}))
    return ActionRunner({"prices": Ebay(server.url, "an-id", "a-secret")}, timeout_s=10, retries=0)


def business(name: str, **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "name": name,
        "rating": 4.0,
        "review_count": 10,
        "price": "$$",
        "categories": [{"alias": "sushi", "title": "Sushi Bars"}],
        "coordinates": {"latitude": 42.36, "longitude": -71.06},
        "location": {
            "address1": "1 Main St",
            "city": "Boston",
            "state": "MA",
            "zip_code": "02108",
            "display_address": ["1 Main St", "Boston, MA 02108"],
        },
        "display_phone": "(617) 555-0100",
        "distance": 1609.344,
        "is_closed": False,
        "url": "https://www.yelp.com/biz/x",
        **more,
    }


async def test_yelp_gives_stores_as_the_sample_does(server: ApiServer) -> None:
    server.replies[SEARCH] = Reply({"total": 1, "businesses": [business("Blue")], "region": {}})
    result = (await yelp(server).run(call_of("places", location=BOSTON, item="sushi"))).result
    assert result["stores"] == [
        {
            "name": "Blue", "type": "sushi bars", "address": "1 Main St", "city": "Boston", "state": "MA",
            "distance_mi": 1.0, "rating": 4.0, "price_level": 2, "open_now": None, "opens": None, "closes": None,
            "telephone": "(617) 555-0100",
        }
    ]  # fmt: skip
    asked = server.asked[0]
    assert asked.headers["authorization"] == "Bearer a-key"
    assert (asked.query["term"], asked.query["latitude"], asked.query["sort_by"]) == ("sushi", "42.36", "best_match")
    assert int(asked.query["limit"]) <= 50


async def test_a_place_without_a_position_goes_by_its_name(server: ApiServer) -> None:
    server.replies[SEARCH] = Reply({"total": 0, "businesses": []})
    result = (
        await yelp(server).run(call_of("places", location={"name": "Boston", "state": "MA"}, store="bank"))
    ).result
    assert result == {"stores": [], "known": False, "alternatives": []}
    assert server.asked[0].query["location"] == "Boston, MA"


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("price.low", ["cheap", "middle", "dear", "unknown"]),
        ("price.high", ["dear", "middle", "cheap", "unknown"]),
        ("rating.high", ["dear", "cheap", "middle", "unknown"]),
        ("rating.low", ["middle", "cheap", "dear", "unknown"]),
        ("distance", ["middle", "dear", "cheap", "unknown"]),
        ("", ["middle", "unknown", "dear", "cheap"]),
    ],
)
async def test_stores_are_in_the_order_that_was_asked_for(server: ApiServer, sort: str, order: list[str]) -> None:
    """Yelp cannot sort by price, so we do."""
    shops = [
        business("middle", price="$$", rating=3.0, distance=100),
        business("unknown", price=None, rating=None, distance=None),
        business("dear", price="$$$$", rating=5.0, distance=200),
        business("cheap", price="$", rating=4.0, distance=300),
        business("gone", price="$", is_closed=True),
    ]
    server.replies[SEARCH] = Reply({"total": 5, "businesses": shops})
    result = (await yelp(server).run(call_of("places", location=BOSTON, item="food", sort=sort))).result
    assert [store["name"] for store in result["stores"]] == order


async def test_yelps_daily_limit_stops_us_from_asking(server: ApiServer) -> None:
    error = {"error": {"code": "ACCESS_LIMIT_REACHED", "description": "..."}}
    server.replies[SEARCH] = Reply(
        error, 429, {"RateLimit-Remaining": "0", "RateLimit-ResetTime": "2036-11-19T00:00:00+00:00"}
    )
    runner = yelp(server)
    for _ in range(3):
        with pytest.raises(ActionFailed):
            await runner.run(call_of("places", location=BOSTON, item="sushi"))
    assert len(server.asked) == 1


def summary(title: str, value: Any, **more: Any) -> dict[str, Any]:
    return {
        "itemId": f"v1|{title}|0",
        "title": title,
        "price": {"value": value, "currency": "USD"},
        "condition": "New",
        "image": {"imageUrl": "https://i.ebayimg.com/x.jpg"},
        "itemWebUrl": "https://www.ebay.com/itm/1",
        "seller": {"username": "s", "feedbackPercentage": "99.1"},
        "buyingOptions": ["FIXED_PRICE"],
        **more,
    }


async def test_ebay_gives_prices_that_are_numbers_and_in_order(server: ApiServer) -> None:
    found = [summary("Dear", "99.50"), summary("Cheap", "9.99"), summary("Auction", None), summary("Middle", "20.00")]
    server.replies[BROWSE] = Reply({"href": "x", "total": 4, "limit": 20, "offset": 0, "itemSummaries": found})
    call = call_of("prices", item="jeans", color="blue", size="32", sort="price.low", quantity=2)
    items = (await ebay(server).run(call)).result["items"]
    assert [(item["name"], item["price"], item["total"]) for item in items] == [
        ("Cheap", 9.99, 19.98),
        ("Middle", 20.0, 40.0),
        ("Dear", 99.5, 199.0),
    ]
    token, browse = server.asked
    assert token.headers["authorization"] == "Basic " + base64.b64encode(b"an-id:a-secret").decode()
    assert b"grant_type=client_credentials" in token.body
    assert b"scope=https%3A%2F%2Fapi.ebay.com%2Foauth%2Fapi_scope" in token.body
    assert browse.headers["authorization"] == "Bearer t-1"
    assert browse.headers["x-ebay-c-marketplace-id"] == "EBAY_US"
    assert (browse.query["q"], browse.query["sort"]) == ("jeans blue 32", "price")


@pytest.mark.parametrize(
    ("price", "limits"),
    [
        ({"least": 20, "most": 40}, "price:[20..40],priceCurrency:USD"),
        ({"most": 49.5}, "price:[..49.5],priceCurrency:USD"),
        ({"least": 100}, "price:[100..],priceCurrency:USD"),
        ({}, None),
    ],
)
async def test_ebay_is_asked_within_the_limits_of_a_price(
    server: ApiServer, price: dict[str, float], limits: str | None
) -> None:
    server.replies[BROWSE] = Reply({"href": "x", "total": 0, "limit": 20, "offset": 0})
    await ebay(server).run(call_of("prices", item="jeans", price=price))
    assert server.asked[-1].query.get("filter") == limits


@pytest.mark.parametrize(("sort", "asked"), [("price.high", "-price"), ("rating.high", None)])
async def test_ebay_sorts_by_price_only(server: ApiServer, sort: str, asked: str | None) -> None:
    server.replies[BROWSE] = Reply({"href": "x", "total": 0, "limit": 20, "offset": 0})
    await ebay(server).run(call_of("prices", item="jeans", sort=sort))
    assert server.asked[-1].query.get("sort") == asked


async def test_nothing_found_on_ebay_is_an_empty_result(server: ApiServer) -> None:
    server.replies[BROWSE] = Reply({"href": "x", "total": 0, "limit": 20, "offset": 0})  # no key `itemSummaries`
    result = (await ebay(server).run(call_of("prices", item="unobtainium"))).result
    assert result == {"items": [], "known": False, "alternatives": []}


async def test_a_token_is_used_until_it_ends(server: ApiServer) -> None:
    server.replies[BROWSE] = Reply({"total": 0})
    tokens = iter(range(1, 9))
    server.replies[TOKEN] = lambda _: Reply({"access_token": f"t-{next(tokens)}", "expires_in": 7200})
    runner = ebay(server)
    for item in ("a", "b", "c"):
        await runner.run(call_of("prices", item=item))
    assert [asked.path for asked in server.asked] == [TOKEN, BROWSE, BROWSE, BROWSE]
    server.replies[TOKEN] = lambda _: Reply({"access_token": f"t-{next(tokens)}", "expires_in": 30})
    short = ebay(server)
    for item in ("a", "b"):
        await short.run(call_of("prices", item=item))
    assert [asked.path for asked in server.asked[4:]] == [TOKEN, BROWSE, TOKEN, BROWSE]


async def test_a_token_that_was_taken_back_is_renewed(server: ApiServer) -> None:
    def browse(asked: Asked) -> Reply:
        return Reply({"total": 0}) if asked.headers["authorization"] == "Bearer t-2" else Reply({"errors": []}, 401)

    tokens = iter((1, 2, 3))
    server.replies[TOKEN] = lambda _: Reply({"access_token": f"t-{next(tokens)}", "expires_in": 7200})
    server.replies[BROWSE] = browse
    runner = ebay(server)
    assert (await runner.run(call_of("prices", item="milk"))).result["items"] == []
    assert [asked.path for asked in server.asked] == [TOKEN, BROWSE, TOKEN, BROWSE]


async def test_whatever_a_shop_api_does_wrong_is_a_failure(server: ApiServer, misbehaving: Reply) -> None:
    server.replies[SEARCH] = server.replies[BROWSE] = misbehaving
    with pytest.raises(ActionFailed) as caught:
        await yelp(server).run(call_of("places", location=BOSTON, item="sushi"))
    assert "secret" not in str(caught.value)
    with pytest.raises(ActionFailed):
        await ebay(server).run(call_of("prices", item="jeans"))


@pytest.mark.parametrize("token", [Reply({}, 403), Reply({"access_token": 7}), Reply([]), Reply(b"<html>")])
async def test_without_a_token_nothing_is_looked_for(server: ApiServer, token: Reply) -> None:
    server.replies[TOKEN] = token
    with pytest.raises(ActionFailed):
        await ebay(server).run(call_of("prices", item="jeans"))
    assert [asked.path for asked in server.asked] == [TOKEN]


async def test_html_in_a_title_stays_text_on_one_line(server: ApiServer) -> None:
    server.replies[BROWSE] = Reply({"itemSummaries": [summary("<b>Jeans</b>\n\x00 blue", "5.00")]})
    items = (await ebay(server).run(call_of("prices", item="jeans"))).result["items"]
    assert items[0]["name"] == "<b>Jeans</b> blue"
