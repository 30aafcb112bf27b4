"""The sample shop: what it has where, in SQL, and how a shopper's words find it."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from dialog.fulfilment.arguments import PlaceArgument
from dialog.fulfilment.sample.catalogue import build, listed, miles, table
from dialog.fulfilment.sample.matching import Matcher
from dialog.fulfilment.sample.words import COLORS, store_content, words
from tenor.errors import BadInput

BUSY_MS = 1000
"""How long to wait for another process that reserves something, too."""
REACH_MI = 60.0
"""A city without stores of its own is served by those of one this near."""

ANY_STORE = frozenset(("store", "shop", "shopping", "place", "business"))
ANY_FOOD = frozenset(("restaurant", "food", "eat", "dinner", "lunch", "dining", "meal", "eatery"))

_MODEL = re.compile(r"( \S*\d\S*)+$")
"""What stands at the end of a name and is left out when one speaks (`Galaxy S26`)."""

Row = dict[str, Any]


class StoreWish:
    """Which stores are meant: of these types, of this name, or one of somebody else's chain that is not here."""

    def __init__(self, types: tuple[str, ...] = (), name: str = "", instead: bool = False) -> None:
        self.types = types
        self.name = name
        self.instead = instead
        """The store that was named is not here; `types` are of its kind."""

    @property
    def known(self) -> bool:
        return bool(self.types or self.name)


class SampleShop:
    """Made up, and built in memory in a moment; what is reserved is kept in a file if one is given."""

    def __init__(self, orders: Path | None = None) -> None:
        self._database = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._database.row_factory = sqlite3.Row
        self._database.deserialize(_image())
        try:
            self._database.execute("ATTACH ? AS orders", (str(orders) if orders else ":memory:",))
            self._database.execute(f"PRAGMA orders.busy_timeout = {BUSY_MS}")
            self._database.execute(
                "CREATE TABLE IF NOT EXISTS orders.reservations"
                " (key TEXT PRIMARY KEY, store INTEGER, product INTEGER, quantity INTEGER, result TEXT)"
            )
        except sqlite3.Error as error:
            self._database.close()
            raise BadInput(
                f"cannot keep reservations in {orders}: {error}", "move the file away, or choose a home"
            ) from None

    def close(self) -> None:
        self._database.close()

    def rows(self, query: str, /, **parameters: Any) -> list[Row]:
        return [dict(row) for row in self._database.execute(query, parameters)]

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Nobody else writes meanwhile, and what is written is kept whole or not at all."""
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._database.execute("COMMIT")
        except BaseException:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            raise

    def city(self, place: PlaceArgument) -> Row | None:
        """The city itself, else the nearest one that has stores."""
        same = [
            row
            for row in self._cities
            if row["name"].lower() == place.name.lower() and place.state.upper() in ("", row["state"])
        ]
        if same:
            return same[0]
        if place.latitude is None or place.longitude is None:
            return None
        here = place.latitude, place.longitude
        near = [(miles(*here, row["latitude"], row["longitude"]), row) for row in self._cities]
        distance, row = min(near, key=lambda pair: pair[0])
        return row if distance <= REACH_MI else None

    @cached_property
    def _cities(self) -> list[Row]:
        return self.rows("SELECT * FROM cities ORDER BY id")

    def products(self, item: str) -> list[int]:
        """Ids of the products that are meant; none when there is no such thing."""
        return list(_products(item))

    def color_in(self, item: str) -> str:
        """The color in "red jeans"; none in "red wine", which is called so."""
        if _product_matcher()[0].says(item):
            return ""
        return next((word for word in words(item) if word in COLORS), "")

    def stores(self, wish: str) -> StoreWish:
        return _stores(wish)

    def sellers(self, products: list[int]) -> tuple[str, ...]:
        """Types of stores that have one of them."""
        rows = self.rows(
            "SELECT stores.type AS type, count(DISTINCT carried.product) AS many FROM carried"
            " JOIN stores ON stores.name = carried.chain AND stores.city = 1"
            " WHERE carried.product IN (SELECT value FROM json_each(:ids)) GROUP BY stores.type ORDER BY many DESC",
            ids=json.dumps(products),
        )
        return tuple(row["type"] for row in rows)

    @staticmethod
    def item_names() -> list[str]:
        """What a shopper may call the products, for parsers and recognisers that want to know."""
        rows = table("products")
        whole = {row["name"].split(",")[0] for row in rows}
        names = {row["type"] for row in rows} | whole | {_MODEL.sub("", name) for name in whole}
        words = {word.lstrip("=") for row in [*rows, *table("departments")] for word in listed(row["words"])}
        return sorted(names | {word for word in words if word.replace(" ", "").isalpha()})  # "65 inch" is a size

    @staticmethod
    def misheard() -> dict[str, str]:
        """Products as recognisers write them, and what was said. What is a product itself is none of these."""
        return {row["heard"]: row["meant"] for row in table("misheard")}

    @staticmethod
    def store_names() -> list[str]:
        columns = [(row, column) for row in table("store_types") for column in ("type", "names", "words")]
        columns += [(row, "names") for row in table("chains")]
        return sorted({name for row, column in columns for name in listed(row[column])})


@lru_cache(1)
def _image() -> bytes:
    """The shop as SQLite stores it: to build it takes a tenth of a second, to copy it a few milliseconds."""
    with closing(sqlite3.connect(":memory:")) as database:
        build(database)
        return database.serialize()


@lru_cache(1)
def _product_matcher() -> tuple[Matcher, Matcher, Matcher]:
    """Of products by their names, of whole departments, and of brands."""
    names, departments, brands = Matcher(), Matcher(), Matcher()
    shelves: dict[str, list[str]] = {row["department"]: listed(row["words"]) for row in table("departments")}
    for number, row in enumerate(table("products"), 1):
        whole = row["name"].split(",")[0]
        name, _, use = whole.partition(" for ")
        called = [row["type"], name, *listed(row["words"])]
        model = _MODEL.sub("", whole)
        as_a_whole = [*(phrase for phrase in called if phrase.startswith("=")), model, f"{row['brand']} {model}"]
        names.add(
            number,
            [phrase for phrase in called if not phrase.startswith("=")],
            [*as_a_whole, whole, f"{row['brand']} {row['type']}"],
            [use, row["brand"]],
        )
        brands.add(number, [row["brand"]])
        departments.add(number, shelves.get(row["department"], []))
    return names, departments, brands


@lru_cache(512)
def _products(item: str) -> tuple[int, ...]:
    names, departments, brands = _product_matcher()
    exact = names.exact(item) or departments.exact(item) or brands.exact(item)
    return tuple(exact or names.loose(item) or departments.loose(item))


@lru_cache(1)
def _store_matcher() -> tuple[Matcher, Matcher, Matcher, list[str]]:
    kinds, ours, theirs = Matcher(store_content), Matcher(store_content), Matcher(store_content)
    names: list[str] = []
    types = [row["type"] for row in table("store_types")]
    for number, row in enumerate(table("store_types")):
        kinds.add(number, [row["type"], *listed(row["words"])])
        for name in listed(row["names"]):
            ours.add(len(names), [name])
            names.append(name)
    for row in table("chains"):
        theirs.add(types.index(row["type"]), listed(row["names"]))
    return kinds, ours, theirs, names


def matchers() -> tuple[Matcher, ...]:
    """All that know words of the shop."""
    return *_product_matcher(), *_store_matcher()[:3]


@lru_cache(512)
def _stores(wish: str) -> StoreWish:
    kinds, ours, theirs, names = _store_matcher()
    types = [row["type"] for row in table("store_types")]
    said = set(words(wish))
    if said & ANY_FOOD and not set(store_content(list(said))) - ANY_FOOD and not said & ANY_STORE - {"place"}:
        return StoreWish(tuple(kind for kind in types if "restaurant" in kind))
    if found := kinds.match(wish):
        return StoreWish(tuple(types[number] for number in found))
    if found := ours.match(wish):
        return StoreWish(name=names[found[0]])
    if found := theirs.match(wish):
        return StoreWish(tuple(types[number] for number in found), instead=True)
    if said & ANY_STORE and not set(store_content(list(said))) - ANY_STORE:
        return StoreWish(tuple(row["type"] for row in table("store_types") if row["departments"]))
    return StoreWish()
