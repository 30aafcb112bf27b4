"""The shapes of results: the same whatever the provider, so that a flow's templates never ask who answered.

A key that a provider cannot know is None (or absent where the type says so); lists are empty when nothing fits.
Prices are in the currency named beside them, temperatures in Fahrenheit, rain and snow in inches, distances in miles,
chances, cloud and humidity in percent, dates and times ISO.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

Unavailable = Literal["past", "too_far", "unknown_place"]
"""Why there is no forecast: the day is over, lies more than 16 days ahead, or nobody knows the place."""


class WeatherDay(TypedDict):
    date: str
    high_f: int | None
    low_f: int | None
    condition: str | None
    """In words that fit after "it will be": `sunny`, `partly cloudy`, `cloudy`, `rainy`, `snowy`, ..."""
    rain_in: float | None
    rain_chance: int | None
    snow_in: float | None
    snow_chance: int | None
    sun_hours: float | None
    cloud: int | None
    humidity: int | None


class CurrentWeather(TypedDict):
    temperature_f: int | None
    condition: str | None
    rain_in: float | None
    snow_in: float | None
    cloud: int | None
    humidity: int | None


class WeatherSummary(TypedDict):
    """All days together, since templates cannot loop: extremes, sums and means."""

    days: int
    high_f: int | None
    low_f: int | None
    condition: str | None
    """The condition of most days."""
    rain_in: float | None
    rain_chance: int | None
    """Of the likeliest day."""
    rain_day: str | None
    """The date of the likeliest day."""
    snow_in: float | None
    snow_chance: int | None
    snow_day: str | None
    sun_hours: float | None
    """Per day."""
    sunny_days: int
    cloud: int | None
    humidity: int | None
    rainy: bool
    """Whether rain is more likely than not on a day."""
    snowy: bool


# `from` is a word of Python's, so this one is written as a call.
WeatherResult = TypedDict(
    "WeatherResult",
    {
        "place": str,
        "state": str | None,
        "from": str,
        "to": str,
        "available": bool,
        "reason": Unavailable | None,
        "days": list[WeatherDay],
        "summary": WeatherSummary | None,
        "current": NotRequired[CurrentWeather],
    },
)


class Store(TypedDict):
    name: str
    type: str
    address: str
    city: str
    state: str
    distance_mi: float | None
    rating: float | None
    price_level: int | None
    """1 (cheap) to 4."""
    open_now: bool | None
    opens: str | None
    """Local time (`09:00`) on the day that was asked for, today by default; None when closed all day or unknown."""
    closes: str | None
    telephone: str | None


class PlacesResult(TypedDict):
    stores: list[Store]
    known: bool
    """Whether the kind of store, its name or the item is known at all."""
    alternatives: list[Store]
    """Stores of the same kind, when the one that was named is not there."""


class PricedItem(TypedDict):
    name: str
    type: str
    brand: str | None
    price: float
    currency: str
    store: str | None
    city: str | None
    rating: float | None
    colors: list[str]
    sizes: list[str]
    total: NotRequired[float]
    """For the quantity that was asked for; absent when its unit does not fit how the item is sold."""


class PricesResult(TypedDict):
    items: list[PricedItem]
    known: bool
    """Whether the item is known at all: `items` is empty, too, when it does not come in that size or color."""
    alternatives: list[PricedItem]
    """The same item elsewhere, when the store that was named does not have it."""


class StockedItem(TypedDict):
    name: str
    type: str
    store: str
    city: str | None
    address: str | None
    quantity: int
    """0 when it is sold out there."""
    price: float | None
    currency: str | None
    distance_mi: float | None
    colors: list[str]
    sizes: list[str]


class StockResult(TypedDict):
    items: list[StockedItem]
    known: bool
    available: int
    """Pieces in all the stores listed."""
    enough: bool
    """Whether one of them has the quantity that was asked for, one by default."""


class ProductAnswer(TypedDict):
    name: str
    answer: str
    source: str
    """Where the answer stands: `specifications of Aspen 14 Laptop`."""


class ProductInfoResult(TypedDict):
    items: list[ProductAnswer]
    known: bool
    """Whether the product is known; `items` is empty, too, when nothing is written about the question."""


NotReserved = Literal["unknown_item", "unknown_store", "unknown_variant", "sold_out", "not_enough"]


class ReserveResult(TypedDict):
    reserved: bool
    reason: NotReserved | None
    reference: str | None
    name: str | None
    store: str | None
    address: str | None
    city: str | None
    quantity: int
    """Pieces reserved; when there were not enough, how many there are."""
    price: float | None
    currency: str | None
    until: str | None
    """The last day on which it is kept."""


class HandoverResult(TypedDict):
    queue: str
    reason: str
    summary: str
    taken: bool
    """Whether a person took over at once."""
