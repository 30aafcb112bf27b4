"""The sample shop's data files, and the stores, prices and hours that follow from them: the same in every process."""

from __future__ import annotations

import csv
import math
import random
import sqlite3
from functools import lru_cache
from importlib.resources import files

DATA = files("dialog.fulfilment.sample").joinpath("data")
MILES_PER_DEGREE = 69.0

STREETS = (
    "Main Street", "Oak Avenue", "Maple Street", "Cedar Lane", "Market Street", "River Road", "Park Avenue",
    "Lincoln Avenue", "Washington Street", "Elm Street", "Mill Road", "Church Street", "Broadway", "Highland Avenue",
    "Lake Drive", "Sunset Boulevard", "Union Street", "Franklin Street", "College Avenue", "Canal Street",
)  # fmt: skip


@lru_cache
def table(name: str) -> tuple[dict[str, str], ...]:
    """A data file, row by row. Its columns are separated by bars, what is a list in a column by semicolons."""
    lines = DATA.joinpath(f"{name}.csv").read_text("utf-8").splitlines()
    return tuple(csv.DictReader(lines, delimiter="|", quoting=csv.QUOTE_NONE))


def listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(";") if part.strip()]


def build(database: sqlite3.Connection) -> None:
    """All tables, in an empty database."""
    database.executescript(DATA.joinpath("schema.sql").read_text("utf-8"))
    with database:
        database.executemany("INSERT INTO cities VALUES (?, ?, ?, ?, ?, ?, ?, ?)", _cities())
        database.executemany("INSERT INTO hours VALUES (?, ?, ?, ?)", _hours())
        database.executemany("INSERT INTO products VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", _products())
        database.executemany("INSERT INTO carried VALUES (?, ?, ?)", _carried())
        database.executemany("INSERT INTO stores VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", _stores())
        database.execute("CREATE INDEX stores_of_city ON stores (city, type)")  # indexed once, not row by row
        database.execute("CREATE INDEX stores_of_chain ON stores (name)")


def _cities() -> list[tuple[object, ...]]:
    return [
        (number, row["city"], row["state"], float(row["latitude"]), float(row["longitude"]), row["timezone"],
         row["area_code"], float(row["cost"]))
        for number, row in enumerate(table("cities"), 1)
    ]  # fmt: skip


def _hours() -> list[tuple[str, int, int, int]]:
    """Whole hours; a store that is closed on a day has no row for it."""
    rows = []
    for kind in table("store_types"):
        week, saturday, sunday = kind["hours"].split(";")
        for weekday, span in enumerate((week, week, week, week, week, saturday, sunday)):
            if span != "closed":
                opens, closes = span.split("-")
                rows.append((kind["type"], weekday, int(opens), int(closes)))
    return rows


def _products() -> list[tuple[object, ...]]:
    return [
        (number, row["department"], row["type"], row["name"], row["brand"], float(row["price"]), float(row["rating"]),
         row["colors"], row["sizes"], row["specs"])
        for number, row in enumerate(table("products"), 1)
    ]  # fmt: skip


def _carried() -> list[tuple[str, int, float]]:
    """Who sells what for how much. The first chain of a kind has everything, the others most of it."""
    rows = {}
    for kind in table("store_types"):
        departments = listed(kind["departments"])
        for rank, chain in enumerate(listed(kind["names"])):
            draw = random.Random(chain)
            level = draw.uniform(0.95, 1.08)
            for number, product in enumerate(table("products"), 1):
                if product["department"] not in _shelves(departments):
                    continue
                price = _price(float(product["price"]) * draw.uniform(level - 0.02, level + 0.02))
                if rank == 0 or draw.random() < 0.85:
                    rows[chain, number] = (chain, number, price)
    return list(rows.values())


def _shelves(departments: list[str]) -> set[str]:
    """A supermarket's groceries include fruit and snacks."""
    return {*departments, *(("produce", "snacks") if "grocery" in departments else ())}


def _price(price: float) -> float:
    if price >= 200:
        return float(round(price / 10) * 10 - 1)
    return max(0.49, round(round(price, 1) - 0.01, 2))


def _stores() -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    kinds = [
        (kind["type"], int(kind["count"]), listed(kind["names"]), int(kind["price_level"]))
        for kind in table("store_types")
    ]
    for city, where in enumerate(table("cities"), 1):
        draw = random.Random(f"{where['city']}, {where['state']}").random
        latitude, longitude = float(where["latitude"]), float(where["longitude"])
        squeeze = math.cos(math.radians(latitude))
        number = 1000 * city  # a kind of store more changes no other city's numbers
        for order, (kind, count, names, level) in enumerate(kinds):
            for rank in range(count):
                degrees = (0.2 + 2.8 * draw() + 2.5 * rank) / MILES_PER_DEGREE
                angle = 2 * math.pi * draw()
                number += 1
                rows.append(
                    (
                        number,
                        names[(rank + city + order) % len(names)],
                        kind,
                        city,
                        f"{100 + int(4800 * draw())} {STREETS[int(len(STREETS) * draw())]}",
                        f"({where['area_code']}) 555-01{number % 100:02}",
                        latitude + degrees * math.sin(angle),
                        longitude + degrees * math.cos(angle) / squeeze,
                        round(3.3 + 0.8 * (draw() + draw()), 1),
                        level,
                    )
                )
    return rows


def miles(latitude: float, longitude: float, other_latitude: float, other_longitude: float) -> float:
    """The way of a crow."""
    a, b = math.radians(latitude), math.radians(other_latitude)
    across = math.radians(other_longitude - longitude)
    half = math.sin((b - a) / 2) ** 2 + math.cos(a) * math.cos(b) * math.sin(across / 2) ** 2
    return 7917.6 * math.asin(math.sqrt(half))
