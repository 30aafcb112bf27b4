"""The filters of templates: how a value is worded. None of them fails on any value."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from dialog.flow.operands import MOST_ITEMS, Missing, exists, listed, look_up, number, said

LONGEST_ITEM: Final = 300
_PLACEHOLDER: Final = re.compile(r"\{([a-z_][a-z0-9_.]*)?(?:\|([a-z]+))?\}", re.IGNORECASE)


def _money(value: Any) -> str:
    amount = _finite(value)
    if amount is None:
        return said(value)
    sign = "-" if amount < 0 else ""
    amount = abs(amount)
    return f"{sign}${amount:,.0f}" if amount == int(amount) else f"{sign}${amount:,.2f}"


def _number(value: Any, digits: Any = 0) -> str:
    amount = _finite(value)
    places = digits if isinstance(digits, int) and not isinstance(digits, bool) and 0 <= digits <= 6 else 0
    return said(value) if amount is None else f"{amount:,.{places}f}"


def _finite(value: Any) -> float | None:
    amount = number(value)
    return float(amount) if amount is not None and abs(amount) < 1e15 else None


def _items(value: Any) -> list[Any]:
    return list(value[:MOST_ITEMS]) if isinstance(value, list | tuple) else [value] if exists(value) else []


def _listed(value: Any, key: Any = "", last: Any = "and") -> str:
    return listed([said(_path(item, said(key)))[:LONGEST_ITEM] for item in _items(value)], said(last))


def _each(value: Any, pattern: Any) -> list[str]:
    """Every item in words: `{name} for {price|money}`; `{}` is the item itself."""

    def worded(item: Any) -> str:
        def filled(found: re.Match[str]) -> str:
            part = _path(item, found[1] or "")
            filtered = FILTERS[found[2]](part) if found[2] in FILTERS else part
            return said(filtered)[:LONGEST_ITEM]

        return _PLACEHOLDER.sub(filled, said(pattern))[:LONGEST_ITEM]

    return [worded(item) for item in _items(value)]


def _path(value: Any, path: str) -> Any:
    for key in path.split(".") if path else ():
        value = look_up(value, key, path)
    return value


def _top(value: Any, most: Any = 3) -> list[Any]:
    return _items(value)[: most if isinstance(most, int) and most > 0 else 3]


def _moment(value: Any) -> datetime.date | None:
    if isinstance(value, Mapping):
        value = value.get("from")
    if isinstance(value, datetime.date):
        return value
    try:
        return datetime.datetime.fromisoformat(said(value))
    except ValueError:
        return None


def _date(value: Any) -> str:
    moment = _moment(value)
    return said(value) if moment is None else f"{moment:%A}, {moment:%B} {moment.day}"


def _weekday(value: Any) -> str:
    moment = _moment(value)
    return said(value) if moment is None else f"{moment:%A}"


def _time(value: Any) -> str:
    moment = _moment(value) if len(said(value)) > 8 else _moment(f"2000-01-01T{said(value)}")
    if not isinstance(moment, datetime.datetime):
        return said(value)
    hour = moment.hour % 12 or 12
    minutes = f":{moment.minute:02}" if moment.minute else ""
    return f"{hour}{minutes} {'am' if moment.hour < 12 else 'pm'}"


def _plural(value: Any, one: Any, many: Any = "") -> str:
    """`1 store`, `3 stores`."""
    amount = number(value)
    word = said(one) if amount == 1 else said(many) or f"{said(one)}s"
    return f"{_number(value if amount is None else amount, 0 if amount is None or amount == int(amount) else 1)} {word}"


def _count(value: Any) -> int:
    return len(value) if isinstance(value, list | tuple | Mapping) else int(exists(value))


def _default(value: Any, other: Any = "") -> Any:
    return value if exists(value) else other


def _capital(value: Any) -> str:
    """With a capital first letter, for a value that begins a sentence."""
    words = said(value)
    return words[:1].upper() + words[1:]


FILTERS: Final[Mapping[str, Callable[..., Any]]] = {
    "capital": _capital,
    "count": _count,
    "date": _date,
    "default": _default,
    "each": _each,
    "first": lambda value: _items(value)[0] if _items(value) else Missing("first"),
    "last": lambda value: _items(value)[-1] if _items(value) else Missing("last"),
    "listed": _listed,
    "lower": lambda value: said(value).lower(),
    "money": _money,
    "number": _number,
    "plural": _plural,
    "time": _time,
    "title": lambda value: said(value).title(),
    "top": _top,
    "upper": lambda value: said(value).upper(),
    "weekday": _weekday,
}
ARGUMENTS: Final[Mapping[str, tuple[int, int]]] = {
    "default": (0, 1),
    "each": (1, 1),
    "listed": (0, 2),
    "number": (0, 1),
    "plural": (1, 2),
    "top": (0, 1),
}
"""How many arguments a filter takes, at least and at most; the others take none."""
