"""What a shopper's screen shows of an action's result: known fields of known kinds, a few rows, and texts of bearable
length. Results come from shops and other people's APIs, so nothing is passed on unread."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

MOST_ROWS: Final = 4
MOST_DAYS: Final = 16
LONGEST_TEXT: Final = 200
MOST_TEXTS: Final = 8
FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "places": (
        *("name", "type", "address", "city", "state", "distance_mi", "rating", "price_level"),
        *("open_now", "opens", "closes", "telephone"),
    ),
    "prices": ("name", "brand", "price", "currency", "store", "city", "rating", "colors", "sizes", "total"),
    "stock": ("name", "store", "city", "address", "quantity", "price", "currency", "distance_mi"),
    "weather": ("date", "high_f", "low_f", "condition", "rain_in", "rain_chance", "snow_in", "snow_chance"),
    "reserve": ("name", "store", "address", "city", "quantity", "price", "currency", "reference", "until"),
}
ROWS: Final = {"places": "stores", "prices": "items", "stock": "items", "weather": "days"}
"""Where a result has its rows."""


def card_of(card: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The card for the screen; None when there is nothing to show beside the reply."""
    action, result = (card or {}).get("action"), (card or {}).get("result")
    if not isinstance(action, str) or action not in FIELDS or not isinstance(result, Mapping):
        return None
    if action == "reserve":
        return {"kind": action, "rows": [_row(action, result)]} if result.get("reserved") is True else None
    rows = result.get(ROWS[action]) or result.get("alternatives")
    if not isinstance(rows, list):
        return None
    most = MOST_DAYS if action == "weather" else MOST_ROWS
    shown = [_row(action, row) for row in rows[:most] if isinstance(row, Mapping)]
    if not shown:
        return None
    about = {"place": _plain(result.get("place")), "state": _plain(result.get("state"))} if action == "weather" else {}
    return {"kind": action, "rows": shown, **about}


def _row(action: str, row: Mapping[str, Any]) -> dict[str, Any]:
    found = ((name, _plain(row.get(name))) for name in FIELDS[action])
    return {name: value for name, value in found if value is not None}


def _plain(value: Any) -> Any:
    """A text, number, truth or list of texts; None for anything else."""
    if isinstance(value, str):
        return value[:LONGEST_TEXT]
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, Iterable) and not isinstance(value, Mapping | bytes):
        return [one[:LONGEST_TEXT] for one in value if isinstance(one, str)][:MOST_TEXTS]
    return None
