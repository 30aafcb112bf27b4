"""What an API or a database answered, read with suspicion: a value of the wrong type is absent or a failure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from dialog.fulfilment.types import ActionFailed

LONGEST_TEXT = 2000


def mapping(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ActionFailed(f"{what} is no mapping")
    return value


def rows(value: Any, what: str) -> list[Mapping[str, Any]]:
    """A list of mappings; none when it is absent."""
    if value is None:
        return []
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        raise ActionFailed(f"{what} is no list")
    return [mapping(row, f"an entry of {what}") for row in value]


def inside(value: Any, path: str) -> Any:
    """What a dotted path leads to (`price.value`, `categories.0.title`); None when there is nothing."""
    for part in path.split(".") if path else ():
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, Sequence) and not isinstance(value, str | bytes) and part.isdigit():
            value = value[int(part)] if int(part) < len(value) else None
        else:
            return None
    return value


def text(value: Any) -> str | None:
    """Without line breaks and control characters, shortened."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return " ".join("".join(char if char.isprintable() else " " for char in str(value)[:LONGEST_TEXT]).split()) or None


def number(value: Any) -> float | None:
    """Numbers may come as texts (`"699.99"`)."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        read = float(value)
    except (ValueError, OverflowError):
        return None
    return read if math.isfinite(read) else None


def whole(value: Any) -> int | None:
    read = number(value)
    return None if read is None or abs(read) > 1e15 else round(read)


def texts(value: Any) -> list[str]:
    """A list of texts, or one with commas."""
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, Sequence):
        return []
    return [one for one in map(text, value) if one]


def truth(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    return bool(value) if isinstance(value, int) else None
