"""What a declared query or request may use of a call, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dialog.fulfilment import arguments
from dialog.fulfilment.types import ActionCall

NAMES = (
    "item", "store", "size", "color", "sort", "measure", "question", "quantity", "price_least", "price_most",
    "location", "state", "latitude", "longitude", "from", "to", "today", "now", "key", "call", "customer",
)  # fmt: skip
"""Of every call. What nobody said is None."""
PATTERNS = ("item_like", "store_like")
"""For SQL's LIKE: the words with `%` around and between them."""


def of(call: ActionCall) -> dict[str, Any]:
    """Plain values by name; slots of the author's own as they are, if they are plain."""
    given = call.arguments
    place = arguments.place(given)
    now = arguments.local_time(call.now, place.timezone if place else "")
    first, last = arguments.days(given, now.date())
    least, most = arguments.price(given)
    said = {name: value for name, value in given.items() if isinstance(value, str | int | float | bool)}
    return {
        **dict.fromkeys((*NAMES, *PATTERNS)),
        **said,
        **{name: arguments.text(given, name) or None for name in ("item", "store", "size", "color", "question")},
        "item_like": _pattern(arguments.text(given, "item")),
        "store_like": _pattern(arguments.text(given, "store")),
        "sort": arguments.sort(given) or None,
        "quantity": arguments.quantity(given) if "quantity" in given else None,
        "price_least": least,
        "price_most": most,
        "location": place.name if place else None,
        "state": place.state or None if place else None,
        "latitude": place.latitude if place else None,
        "longitude": place.longitude if place else None,
        "from": first.isoformat(),
        "to": last.isoformat(),
        "today": now.date().isoformat(),
        "now": now.isoformat(),
        "key": call.key,
        "call": call.call,
        "customer": call.customer or None,
    }


def _pattern(words: str) -> str | None:
    """`%` and `_` of a shopper mean nothing."""
    plain = words.replace("%", " ").replace("_", " ").split()
    return f"%{'%'.join(plain)}%" if plain else None


def present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
