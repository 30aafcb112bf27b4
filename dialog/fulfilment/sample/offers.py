"""Which product stands in which store of the sample shop, for how much, and how many of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dialog.fulfilment import arguments
from dialog.fulfilment.sample.catalogue import listed
from dialog.fulfilment.sample.shop import Row, SampleShop, StoreWish
from dialog.fulfilment.sample.words import words

CURRENCY = "USD"


class OfferSearch:
    """A wish for an item, read from an action's arguments."""

    def __init__(self, shop: SampleShop, wished: Mapping[str, Any]) -> None:
        self._shop = shop
        self.item = arguments.text(wished, "item")
        self.store = arguments.text(wished, "store")
        self.size = arguments.text(wished, "size")
        self.color = arguments.text(wished, "color") or shop.color_in(self.item)
        self.quantity = arguments.quantity(wished)
        self.sort = arguments.sort(wished)
        self.place = arguments.place(wished)
        self.products = shop.products(self.item) if self.item else []
        self.city = shop.city(self.place) if self.place else None
        self.stores = shop.stores(self.store) if self.store else StoreWish()

    @property
    def known(self) -> bool:
        return bool(self.products)

    @property
    def named_store_is_missing(self) -> bool:
        return bool(self.store) and (self.stores.instead or not self.stores.known)

    def offers(self, *, anywhere: bool = False) -> list[Row]:
        """One row per product and store of the city, or of the whole country when no city was said; `anywhere` looks
        past the store that was named."""
        if not self.products or (self.place is not None and self.city is None):
            return []
        if self.named_store_is_missing and not anywhere:
            return []
        named = not anywhere and self.stores.known
        rows = self._shop.rows(
            "SELECT products.*, stock.quantity - coalesce((SELECT sum(quantity) FROM orders.reservations AS taken"
            "   WHERE taken.store = stock.store AND taken.product = stock.product), 0) AS quantity,"
            " stock.price AS price, stores.id AS store_id, stores.name AS store, stores.type AS store_type,"
            " stores.address AS address, cities.name AS city_name, stores.latitude AS latitude,"
            " stores.longitude AS longitude, carried.price AS list_price"
            " FROM stock JOIN products ON products.id = stock.product JOIN stores ON stores.id = stock.store"
            " JOIN cities ON cities.id = stores.city"
            " JOIN carried ON carried.chain = stores.name AND carried.product = stock.product"
            " WHERE stock.product IN (SELECT value FROM json_each(:products))"
            " AND (:city IS NULL OR stores.city = :city) AND (:name = '' OR stores.name = :name)"
            " AND (:types = '[]' OR stores.type IN (SELECT value FROM json_each(:types))) LIMIT 20000",
            products=json.dumps(self.products),
            city=self.city["id"] if self.city else None,
            name=self.stores.name if named else "",
            types=json.dumps(self.stores.types if named and not self.stores.name else ()),
        )
        return [row for row in rows if self._fits(row)]

    def _fits(self, row: Row) -> bool:
        """Whether it comes in the size and color that were asked for; products without sizes come in the only one."""
        sizes, colors = listed(row["sizes"]), listed(row["colors"])
        return not (self.size and sizes and not _has(self.size, sizes)) and not (
            self.color and colors and not _has(self.color, colors)
        )

    def pieces(self, row: Row) -> int:
        """How many there are in that size and color: the sample counts per product, and each variant has its share."""
        variants = (len(listed(row["sizes"])) or 1 if self.size else 1) * (
            len(listed(row["colors"])) or 1 if self.color else 1
        )
        return max(0, -(-int(row["quantity"]) // variants))


def by_wish(sort: str, row: Row) -> tuple[float, float]:
    match sort:
        case "price.low":
            return row["price"], -row["rating"]
        case "price.high":
            return -row["price"], -row["rating"]
        case "rating.low":
            return row["rating"], row["price"]
    return -row["rating"], row["price"]


_SIZES = {"extra small": "xs", "small": "s", "medium": "m", "large": "l", "extra large": "xl", "double xl": "xxl"}


def _has(wished: str, offered: list[str]) -> bool:
    """`large` is `L`, `grey` is `gray`, `size 32` is `32`."""
    said = wished.lower().replace("grey", "gray").removeprefix("size ").strip()
    short = _SIZES.get(said, said)
    return any(one.lower() in (said, short) or words(one) == words(said) for one in offered)
