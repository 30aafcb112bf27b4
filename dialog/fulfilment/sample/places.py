"""Stores of the sample shop near a place: by kind, by name, or by what they sell."""

from __future__ import annotations

import json
from datetime import datetime

from dialog.fulfilment import arguments
from dialog.fulfilment.arguments import PlaceArgument
from dialog.fulfilment.results import PlacesResult, Store
from dialog.fulfilment.sample.catalogue import miles
from dialog.fulfilment.sample.shop import Row, SampleShop, StoreWish
from dialog.fulfilment.types import ActionCall, ActionResult

MOST = 10


class SamplePlaces:
    source = "sample"

    def __init__(self, shop: SampleShop) -> None:
        self._shop = shop

    async def run(self, call: ActionCall) -> ActionResult:
        store, item = arguments.text(call.arguments, "store"), arguments.text(call.arguments, "item")
        wish = self._wish(store, item)
        place = arguments.place(call.arguments)
        found = self._near(place, wish, call) if wish.known else []
        result: PlacesResult = {
            "stores": [] if wish.instead else found,
            "known": wish.known and not wish.instead,
            "alternatives": found if wish.instead else [],
        }
        return ActionResult(result=dict(result), source=self.source, sample=True)

    def _wish(self, store: str, item: str) -> StoreWish:
        """What the store is called, and, where that leaves a choice, what it must sell."""
        if store and item:
            kinds = self._shop.stores(f"{item} {store}")
            if kinds.known:
                return kinds
            kinds = self._shop.stores(store)
            if not kinds.known or kinds.name or kinds.instead or len(kinds.types) == 1:
                return kinds
            return self._of_item(item)
        return self._shop.stores(store) if store else self._of_item(item)

    def _of_item(self, item: str) -> StoreWish:
        wish = self._shop.stores(item)
        if wish.known or not item:
            return wish
        products = self._shop.products(item)
        return StoreWish(self._shop.sellers(products)[:3]) if products else wish

    def _near(self, place: PlaceArgument | None, wish: StoreWish, call: ActionCall) -> list[Store]:
        city = self._shop.city(place) if place else None
        if place and city is None:
            return []
        rows = self._shop.rows(
            "SELECT stores.*, cities.name AS city_name, cities.state AS state, cities.timezone AS timezone"
            " FROM stores JOIN cities ON cities.id = stores.city"
            " WHERE (:city IS NULL OR stores.city = :city) AND (:name = '' OR stores.name = :name)"
            " AND (:name <> '' OR stores.type IN (SELECT value FROM json_each(:types))) LIMIT 2000",
            city=city["id"] if city else None,
            name=wish.name,
            types=json.dumps(wish.types),
        )
        for row in rows:
            row["distance"] = _distance(place, city, row)
        rows.sort(key=lambda row: _order(arguments.sort(call.arguments), row))
        return [self._store(row, call) for row in rows[:MOST]]

    def _store(self, row: Row, call: ActionCall) -> Store:
        now = arguments.local_time(call.now, row["timezone"])
        day, _ = arguments.days(call.arguments, now.date())
        hours = self._hours(row["type"], day.weekday())
        today = self._hours(row["type"], now.weekday())
        return {
            "name": row["name"],
            "type": row["type"],
            "address": row["address"],
            "city": row["city_name"],
            "state": row["state"],
            "distance_mi": row["distance"],
            "rating": row["rating"],
            "price_level": row["price_level"],
            "open_now": today is not None and today[0] <= _hour(now) < today[1],
            "opens": f"{hours[0]:02}:00" if hours else None,
            "closes": f"{hours[1]:02}:00" if hours else None,
            "telephone": row["telephone"],
        }

    def _hours(self, kind: str, weekday: int) -> tuple[int, int] | None:
        rows = self._shop.rows(
            "SELECT opens, closes FROM hours WHERE type = :type AND weekday = :day", type=kind, day=weekday
        )
        return (rows[0]["opens"], rows[0]["closes"]) if rows else None


def _distance(place: PlaceArgument | None, city: Row | None, store: Row) -> float | None:
    if place is None or city is None:
        return None
    latitude = city["latitude"] if place.latitude is None else place.latitude
    longitude = city["longitude"] if place.longitude is None else place.longitude
    return round(miles(latitude, longitude, store["latitude"], store["longitude"]), 1)


def _order(sort: str, row: Row) -> tuple[float, float]:
    """The nearest first, unless something else was asked for."""
    distance = row["distance"] or 0.0
    match sort:
        case "rating.high":
            return -row["rating"], distance
        case "rating.low":
            return row["rating"], distance
        case "price.low":
            return row["price_level"], distance
        case "price.high":
            return -row["price_level"], distance
    return distance, -row["rating"]


def _hour(now: datetime) -> float:
    return now.hour + now.minute / 60
