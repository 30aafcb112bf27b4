"""What an action was called with, read once for all providers. Values of a wrong type count as absent."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

SORTS = ("price.low", "price.high", "rating.high", "rating.low", "distance")
LONGEST_TEXT = 200
LARGEST_QUANTITY = 10_000


class PlaceArgument(msgspec.Struct, frozen=True):
    name: str
    state: str = ""
    latitude: float | None = None
    longitude: float | None = None
    timezone: str = ""


def text(arguments: Mapping[str, Any], name: str) -> str:
    """A text, shortened; empty when it is absent. A value with a name (`{"name": ...}`) is its name."""
    value = arguments.get(name)
    if isinstance(value, Mapping):
        value = value.get("name") or value.get("text")
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return " ".join(str(value)[:LONGEST_TEXT].split())


def place(arguments: Mapping[str, Any], name: str = "location") -> PlaceArgument | None:
    value = arguments.get(name)
    if isinstance(value, Mapping):
        named = text(arguments, name)
        state, zone = value.get("state"), value.get("timezone")
        return PlaceArgument(
            named,
            state if isinstance(state, str) else "",
            _degrees(value.get("latitude"), 90),
            _degrees(value.get("longitude"), 180),
            zone if isinstance(zone, str) else "",
        )
    named = text(arguments, name)
    return PlaceArgument(named) if named else None


def days(arguments: Mapping[str, Any], today: date) -> tuple[date, date]:
    """From the first to the last day of `when`; today when nobody said."""
    value = arguments.get("when")
    if not isinstance(value, Mapping):
        return today, today
    first = _date(value.get("from")) or today
    last = _date(value.get("to")) or first
    return first, max(first, last)


def is_now(arguments: Mapping[str, Any], today: date) -> bool:
    """Whether the present is meant: nobody said when, or "right now", or a time that begins today."""
    value = arguments.get("when")
    if not isinstance(value, Mapping):
        return True
    return value.get("now") is True or (_date(value.get("from")) == today and not value.get("part"))


def sort(arguments: Mapping[str, Any]) -> str:
    value = arguments.get("sort")
    return value if isinstance(value, str) and value in SORTS else ""


def quantity(arguments: Mapping[str, Any]) -> int:
    """Pieces, at least one. A weight ("two pounds") counts in its own unit."""
    value = arguments.get("quantity")
    if isinstance(value, Mapping):
        value = value.get("amount")
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return 1
    try:
        return min(LARGEST_QUANTITY, max(1, round(float(value))))
    except (ValueError, OverflowError):
        return 1


def price(arguments: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """The least and the most that something may cost."""
    value = arguments.get("price")
    if not isinstance(value, Mapping):
        return None, None
    return number(value.get("least")), number(value.get("most"))


def affordable(amount: float, arguments: Mapping[str, Any]) -> bool:
    """Whether a price is within the limits."""
    least, most = price(arguments)
    return (least is None or amount >= least) and (most is None or amount <= most)


def number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= LARGEST_QUANTITY:
        return None
    return float(value)


def local_time(now: datetime, timezone: str) -> datetime:
    """The clock on the wall of a place. A clock without a zone is taken for the place's own."""
    if now.tzinfo is None or not timezone:
        return now
    try:
        return now.astimezone(ZoneInfo(timezone))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return now


def _degrees(value: Any, most: int) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -most <= value <= most:
        return None
    return float(value)


def _date(value: Any) -> date | None:
    try:
        return date.fromisoformat(value[:10]) if isinstance(value, str) else None
    except ValueError:
        return None
