"""What templates and conditions work on: plain JSON values, looked up by key, compared without ever failing.

Nothing here calls a method of a value or reads an attribute of an object, so no text of a flow can reach code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, Final

LONGEST_VALUE: Final = 2_000
"""Characters of one value in a text."""
MOST_ITEMS: Final = 50
"""Items of a list that a text or a filter looks at."""
SAID_KEYS: Final = ("text", "name", "title", "value")
"""Which part of a value with several is said: `when` has a `text`, a place a `name`."""


class Missing:
    """A name that has no value, and how it was written."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path

    def __bool__(self) -> bool:
        return False


def look_up(value: Any, key: str | int, path: str) -> Any:
    """A part of a value by key or position; Missing when it has no such part."""
    if isinstance(value, Missing):
        return value
    if isinstance(value, Mapping):
        return value.get(key, Missing(path))
    if isinstance(value, list | tuple) and isinstance(key, int) and -len(value) <= key < len(value):
        return value[key]
    return Missing(path)


def exists(value: Any) -> bool:
    """Whether there is something to say: no name without value, no empty text, list or mapping."""
    if value is None or isinstance(value, Missing):
        return False
    return len(value) > 0 if isinstance(value, str | list | tuple | Mapping) else True


def holds(value: Any) -> bool:
    """Whether a value counts as true: `false` and 0 do not, nor does what does not exist."""
    return exists(value) and (not isinstance(value, bool | int | float) or bool(value))


def said(value: Any) -> str:
    """A value as words."""
    if value is None or isinstance(value, Missing):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, Mapping):
        return next((said(value[key]) for key in SAID_KEYS if key in value), "")
    if isinstance(value, list | tuple):
        return listed([said(item) for item in value[:MOST_ITEMS]])
    try:
        return str(value)[:LONGEST_VALUE]
    except ValueError:  # an integer of thousands of digits
        return ""


def listed(words: list[str], last: str = "and") -> str:
    """`a, b and c`."""
    words = [word for word in words if word]
    if len(words) < 2:
        return words[0] if words else ""
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def number(value: Any) -> float | int | None:
    """A value as a number: a list counts its items, a text may be one."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, list | tuple):
        return len(value)
    if isinstance(value, str) and len(value) <= 30:
        try:
            value = float(value.replace(",", ""))
        except ValueError:
            return None
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if isinstance(value, int) else None


def equal(left: Any, right: Any) -> bool:
    if not exists(left) or not exists(right):
        return not exists(left) and not exists(right)
    if isinstance(left, bool) or isinstance(right, bool):
        return holds(left) == holds(right)
    if isinstance(left, int | float) or isinstance(right, int | float):
        a, b = number(left), number(right)
        return a is not None and a == b
    return said(left) == said(right)


def contained(left: Any, right: Any) -> bool:
    if isinstance(right, list | tuple):
        return any(equal(left, item) for item in right[:MOST_ITEMS])
    if isinstance(right, Mapping):
        return isinstance(left, str) and left in right
    return isinstance(left, str) and isinstance(right, str) and bool(left) and left in right


def _ordered(decide: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def compare(left: Any, right: Any) -> bool:
        a, b = number(left), number(right)
        if a is not None and b is not None:
            return decide(a, b)
        if isinstance(left, str) and isinstance(right, str):  # ISO dates among others
            return decide(left, right)
        return False

    return compare


COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "eq": equal,
    "ne": lambda left, right: not equal(left, right),
    "lt": _ordered(lambda a, b: bool(a < b)),
    "lteq": _ordered(lambda a, b: bool(a <= b)),
    "gt": _ordered(lambda a, b: bool(a > b)),
    "gteq": _ordered(lambda a, b: bool(a >= b)),
    "in": contained,
    "notin": lambda left, right: not contained(left, right),
}
"""By Jinja's names. What cannot be compared is not larger and not smaller."""
