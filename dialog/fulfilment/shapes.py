"""Rows of a declared provider as the results that flows read, and the orders that a shopper may ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dialog.fulfilment import answers, arguments
from dialog.fulfilment.arguments import PlaceArgument
from dialog.fulfilment.forecast import forecast, unavailable
from dialog.fulfilment.results import PricedItem, ProductAnswer, StockedItem, Store, WeatherDay
from dialog.fulfilment.types import ActionCall, ActionFailed

FIELDS: Mapping[str, tuple[str, ...]] = {
    "weather": tuple(WeatherDay.__annotations__),
    "places": tuple(Store.__annotations__),
    "prices": tuple(name for name in PricedItem.__annotations__ if name != "total"),
    "stock": tuple(StockedItem.__annotations__),
    "product_info": tuple(ProductAnswer.__annotations__),
}
"""What a row of an action may hold."""

Row = Mapping[str, Any]


def result_of(action: str, call: ActionCall, rows: Sequence[Row]) -> dict[str, Any]:
    """The result of an action that ships; for one of the author's own the rows as they are, under `items`."""
    sort = arguments.sort(call.arguments)
    match action:
        case "weather":
            return _weather(call, rows)
        case "places":
            return {
                "stores": sorted_stores([_store(row) for row in rows], sort),
                "known": bool(rows),
                "alternatives": [],
            }
        case "prices":
            items = sorted_items([_priced(row, call) for row in rows], sort)
            return {"items": items, "known": bool(rows), "alternatives": []}
        case "stock":
            return _stock(call, [_stocked(row) for row in rows])
        case "product_info":
            return {"items": [_answer(row) for row in rows], "known": bool(rows)}
    return {"items": [dict(row) for row in rows]}


def sorted_stores(stores: Sequence[Store], sort: str) -> list[Store]:
    """As asked for; what has no such figure comes last, and without a wish the provider's order stays."""
    keys = {"price": "price_level", "rating": "rating", "distance": "distance_mi"}
    return _sorted(stores, keys, sort)


def sorted_items(items: Sequence[PricedItem], sort: str) -> list[PricedItem]:
    return _sorted(items, {"price": "price", "rating": "rating"}, sort)


def _sorted(rows: Sequence[Any], keys: Mapping[str, str], sort: str) -> list[Any]:
    by, _, direction = sort.partition(".")
    key = keys.get(by)
    if key is None:
        return list(rows)
    known = [row for row in rows if row[key] is not None]
    known.sort(key=lambda row: row[key], reverse=direction == "high")
    return known + [row for row in rows if row[key] is None]


def _needed(row: Row, name: str) -> str:
    value = answers.text(row.get(name))
    if value is None:
        raise ActionFailed(f"a row without {name!r}")
    return value


def _weather(call: ActionCall, rows: Sequence[Row]) -> dict[str, Any]:
    place = arguments.place(call.arguments) or PlaceArgument("")
    now = arguments.local_time(call.now, place.timezone)
    first, last = arguments.days(call.arguments, now.date())
    days = [day for row in rows if first.isoformat() <= (day := _day(row))["date"] <= last.isoformat()]
    if not days:
        return dict(unavailable(place, first, last, "past" if last < now.date() else "too_far"))
    return dict(forecast(place, sorted(days, key=lambda day: day["date"]), None))


def _day(row: Row) -> WeatherDay:
    return {
        "date": _needed(row, "date")[:10],
        "high_f": answers.whole(row.get("high_f")),
        "low_f": answers.whole(row.get("low_f")),
        "condition": answers.text(row.get("condition")),
        "rain_in": answers.number(row.get("rain_in")),
        "rain_chance": answers.whole(row.get("rain_chance")),
        "snow_in": answers.number(row.get("snow_in")),
        "snow_chance": answers.whole(row.get("snow_chance")),
        "sun_hours": answers.number(row.get("sun_hours")),
        "cloud": answers.whole(row.get("cloud")),
        "humidity": answers.whole(row.get("humidity")),
    }


def _store(row: Row) -> Store:
    return {
        "name": _needed(row, "name"),
        "type": answers.text(row.get("type")) or "",
        "address": answers.text(row.get("address")) or "",
        "city": answers.text(row.get("city")) or "",
        "state": answers.text(row.get("state")) or "",
        "distance_mi": answers.number(row.get("distance_mi")),
        "rating": answers.number(row.get("rating")),
        "price_level": answers.whole(row.get("price_level")),
        "open_now": answers.truth(row.get("open_now")),
        "opens": answers.text(row.get("opens")),
        "closes": answers.text(row.get("closes")),
        "telephone": answers.text(row.get("telephone")),
    }


def _priced(row: Row, call: ActionCall) -> PricedItem:
    price = answers.number(row.get("price"))
    if price is None:
        raise ActionFailed("a row without 'price'")
    item: PricedItem = {
        "name": _needed(row, "name"),
        "type": answers.text(row.get("type")) or arguments.text(call.arguments, "item"),
        "brand": answers.text(row.get("brand")),
        "price": price,
        "currency": answers.text(row.get("currency")) or "USD",
        "store": answers.text(row.get("store")),
        "city": answers.text(row.get("city")),
        "rating": answers.number(row.get("rating")),
        "colors": answers.texts(row.get("colors")),
        "sizes": answers.texts(row.get("sizes")),
    }
    if "quantity" in call.arguments:
        item["total"] = round(price * arguments.quantity(call.arguments), 2)
    return item


def _stocked(row: Row) -> StockedItem:
    quantity = answers.whole(row.get("quantity"))
    if quantity is None:
        raise ActionFailed("a row without 'quantity'")
    return {
        "name": _needed(row, "name"),
        "type": answers.text(row.get("type")) or "",
        "store": answers.text(row.get("store")) or "",
        "city": answers.text(row.get("city")),
        "address": answers.text(row.get("address")),
        "quantity": max(0, quantity),
        "price": answers.number(row.get("price")),
        "currency": answers.text(row.get("currency")),
        "distance_mi": answers.number(row.get("distance_mi")),
        "colors": answers.texts(row.get("colors")),
        "sizes": answers.texts(row.get("sizes")),
    }


def _stock(call: ActionCall, items: list[StockedItem]) -> dict[str, Any]:
    wanted = arguments.quantity(call.arguments)
    return {
        "items": items,
        "known": bool(items),
        "available": sum(item["quantity"] for item in items),
        "enough": any(item["quantity"] >= wanted for item in items),
    }


def _answer(row: Row) -> ProductAnswer:
    return {
        "name": _needed(row, "name"),
        "answer": _needed(row, "answer"),
        "source": answers.text(row.get("source")) or "",
    }
