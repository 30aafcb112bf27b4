"""Prices, stock and reservations of the sample shop."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from datetime import timedelta

from dialog.fulfilment import arguments
from dialog.fulfilment.results import NotReserved, PricedItem, PricesResult, ReserveResult, StockedItem, StockResult
from dialog.fulfilment.sample.catalogue import listed, miles
from dialog.fulfilment.sample.offers import CURRENCY, OfferSearch, by_wish
from dialog.fulfilment.sample.packages import needed
from dialog.fulfilment.sample.shop import Row, SampleShop
from dialog.fulfilment.types import ActionCall, ActionFailed, ActionResult

MOST = 10
KEPT_DAYS = 2
"""How long a reservation is kept."""


class SamplePrices:
    source = "sample"

    def __init__(self, shop: SampleShop) -> None:
        self._shop = shop

    async def run(self, call: ActionCall) -> ActionResult:
        search = OfferSearch(self._shop, call.arguments)
        offers = search.offers()
        items = self._items(search, offers, call)
        alternatives: list[PricedItem] = []
        if not items and offers:  # none for that price: what comes nearest to it
            least, most = arguments.price(call.arguments)
            alternatives = self._items(search, offers, call, anyhow=True)
            alternatives.sort(key=lambda one: abs(one["price"] - (most or least or 0)))
        elif not items and search.store:
            alternatives = self._items(search, search.offers(anywhere=True), call)
        result: PricesResult = {"items": items, "known": search.known, "alternatives": alternatives}
        return ActionResult(result=dict(result), source=self.source, sample=True)

    def _items(
        self, search: OfferSearch, rows: Sequence[Row], call: ActionCall, *, anyhow: bool = False
    ) -> list[PricedItem]:
        """Each product once, where it costs least; only for a price that was asked for, but for `anyhow`."""
        cheapest: dict[int, Row] = {}
        for row in rows:
            if search.city is None:
                row["price"] = row["list_price"]  # nobody said where: as the chain lists it
            if row["id"] not in cheapest or row["price"] < cheapest[row["id"]]["price"]:
                cheapest[row["id"]] = row
        if not anyhow:
            cheapest = {
                number: row for number, row in cheapest.items() if arguments.affordable(row["price"], call.arguments)
            }
        packages = {number: needed(row["name"], call.arguments) for number, row in cheapest.items()}
        # What comes in the quantity that was said is meant before what has to be combined to it.
        found = sorted(
            cheapest.values(),
            key=lambda row: (not search.sort and (packages[row["id"]] or 99), by_wish(search.sort, row)),
        )[:MOST]
        counted = "quantity" in call.arguments
        return [self._item(row, search, packages[row["id"]] if counted else None) for row in found]

    def _item(self, row: Row, search: OfferSearch, packages: int | None) -> PricedItem:
        item: PricedItem = {
            "name": row["name"],
            "type": row["type"],
            "brand": row["brand"],
            "price": row["price"],
            "currency": CURRENCY,
            "store": row["store"],
            "city": row["city_name"] if search.city else None,
            "rating": row["rating"],
            "colors": listed(row["colors"]),
            "sizes": listed(row["sizes"]),
        }
        if packages is not None:
            item["total"] = round(row["price"] * packages, 2)
        return item


class SampleStock:
    source = "sample"

    def __init__(self, shop: SampleShop) -> None:
        self._shop = shop

    async def run(self, call: ActionCall) -> ActionResult:
        search = OfferSearch(self._shop, call.arguments)
        rows = [row for row in search.offers() if arguments.affordable(row["price"], call.arguments)]
        rows.sort(key=lambda row: (search.pieces(row) < search.quantity, _order(search, row)))
        items = [_stocked(row, search) for row in rows[:MOST]]
        result: StockResult = {
            "items": items,
            "known": search.known,
            "available": sum(item["quantity"] for item in items),
            "enough": any(item["quantity"] >= search.quantity for item in items),
        }
        return ActionResult(result=dict(result), source=self.source, sample=True)


class SampleReserve:
    """Puts pieces aside in a store. The same key gets the same answer, whoever asks and however often."""

    source = "sample"

    def __init__(self, shop: SampleShop) -> None:
        self._shop = shop

    async def run(self, call: ActionCall) -> ActionResult:
        if not call.key:
            raise ActionFailed("a reservation needs a key")
        try:
            with self._shop.writing():
                result = self._kept(call.key) or self._reserve(call)
        except sqlite3.Error as error:
            raise ActionFailed(f"reservations: {type(error).__name__}", retry=True) from None
        return ActionResult(result=dict(result), source=self.source, sample=True)

    async def lookup(self, key: str) -> ActionResult | None:
        """What came of it, if it was done."""
        result = self._kept(key)
        return None if result is None else ActionResult(result=dict(result), source=self.source, sample=True)

    def _kept(self, key: str) -> ReserveResult | None:
        rows = self._shop.rows("SELECT result FROM orders.reservations WHERE key = :key", key=key)
        return json.loads(rows[0]["result"]) if rows else None

    def _reserve(self, call: ActionCall) -> ReserveResult:
        search = OfferSearch(self._shop, call.arguments)
        if not search.known:
            return _refused("unknown_item")
        if search.named_store_is_missing or (search.place is not None and search.city is None):
            return _refused("unknown_store")
        rows = search.offers()
        if not rows:
            return _refused("unknown_variant" if search.size or search.color else "sold_out")
        row = min(rows, key=lambda row: (search.pieces(row) < search.quantity, _order(search, row)))
        pieces = search.pieces(row)
        if pieces < search.quantity:
            return _refused("not_enough" if pieces else "sold_out", row, pieces)
        result: ReserveResult = {
            "reserved": True,
            "reason": None,
            "reference": "R-" + hashlib.sha256(call.key.encode()).hexdigest()[:6].upper(),
            "name": row["name"],
            "store": row["store"],
            "address": row["address"],
            "city": row["city_name"],
            "quantity": search.quantity,
            "price": row["price"],
            "currency": CURRENCY,
            "until": (call.now.date() + timedelta(KEPT_DAYS)).isoformat(),
        }
        self._shop.rows(
            "INSERT INTO orders.reservations VALUES (:key, :store, :product, :quantity, :result)",
            key=call.key,
            store=row["store_id"],
            product=row["id"],
            quantity=search.quantity,
            result=json.dumps(result),
        )
        return result


def _refused(reason: NotReserved, row: Row | None = None, pieces: int = 0) -> ReserveResult:
    return {
        "reserved": False,
        "reason": reason,
        "reference": None,
        "name": row["name"] if row else None,
        "store": row["store"] if row else None,
        "address": row["address"] if row else None,
        "city": row["city_name"] if row else None,
        "quantity": pieces,
        "price": None,
        "currency": None,
        "until": None,
    }


def _stocked(row: Row, search: OfferSearch) -> StockedItem:
    return {
        "name": row["name"],
        "type": row["type"],
        "store": row["store"],
        "city": row["city_name"],
        "address": row["address"],
        "quantity": search.pieces(row),
        "price": row["price"],
        "currency": CURRENCY,
        "distance_mi": _distance(search, row),
        "colors": listed(row["colors"]),
        "sizes": listed(row["sizes"]),
    }


def _order(search: OfferSearch, row: Row) -> tuple[float, float]:
    if search.sort and search.sort != "distance":
        return by_wish(search.sort, row)
    return _distance(search, row) or 0.0, -row["quantity"]


def _distance(search: OfferSearch, row: Row) -> float | None:
    if search.city is None:
        return None
    where = search.city
    return round(miles(where["latitude"], where["longitude"], row["latitude"], row["longitude"]), 1)
