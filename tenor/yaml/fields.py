"""What a value of a YAML file should be. Each of these reads one; else it says why, at its place, and returns None."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from math import isfinite

from tenor.yaml.nodes import Faults, Mapping, Node, Sequence, Text, kind_of

_QUANTITY = re.compile(r"(-?\d+(?:\.\d+)?)\s*([^\d\s.]*)")
_MS = {"ms": 1, "s": 1000, "sec": 1000, "seconds": 1000, "min": 60_000, "minutes": 60_000, "h": 3_600_000}
LONGEST_MS = 24 * 3_600_000


def mapping(node: Node, faults: Faults, what: str) -> Mapping | None:
    if isinstance(node, Mapping):
        return node
    faults.add(node, f"{what} is a mapping (name: value), not {_shown(node)}")
    return None


def text(node: Node, faults: Faults, what: str) -> str | None:
    """A text that is not empty."""
    if not isinstance(node, Text):
        faults.add(node, f"{what} is a text, not {kind_of(node)}")
    elif not node.value.strip():
        faults.add(node, f"{what} is empty")
    else:
        return node.value
    return None


def texts(node: Node, faults: Faults, what: str) -> list[Text]:
    """One text, or a list of them; those that are good, empty when none is."""
    nodes = node.items if isinstance(node, Sequence) else (node,)
    if not nodes:
        faults.add(node, f"{what} is an empty list")
    return [item for item in nodes if text(item, faults, what) is not None and isinstance(item, Text)]


def choice(node: Node, faults: Faults, what: str, choices: Collection[str]) -> str | None:
    """One of a few words."""
    value = text(node, faults, what)
    if value is None or value in choices:
        return value
    assert isinstance(node, Text)
    faults.unknown(node, what, choices)
    return None


def count(node: Node, faults: Faults, what: str, most: int = 1000) -> int | None:
    """A whole number from 1."""
    value = text(node, faults, what)
    if value is None:
        return None
    digits = value.lstrip("0") if value.isascii() and value.isdigit() else ""
    if 1 <= int(digits[:9] or 0) <= most:
        return int(digits)
    faults.add(node, f"{what} is a whole number from 1 to {most}, not {value!r}")
    return None


def duration(node: Node, faults: Faults, what: str) -> int | None:
    """Milliseconds of `20 s`, `2 min`, `500 ms`."""
    value = text(node, faults, what)
    if value is None:
        return None
    found = quantity(value)
    if found is None or found[1] not in _MS:
        faults.add(node, f"{what} is a time such as 20 s or 2 min, not {value!r}")
        return None
    ms = round(found[0] * _MS[found[1]])
    if not 0 < ms <= LONGEST_MS:
        faults.add(node, f"{what} is more than 0 s and at most 24 h, not {value!r}")
        return None
    return ms


def share(node: Node, faults: Faults, what: str) -> float | None:
    """0..1 of `80 %` or `0.8`."""
    value = text(node, faults, what)
    if value is None:
        return None
    found = quantity(value)
    if found and found[1] == "%" and 0 <= found[0] <= 100:
        return found[0] / 100
    if found and not found[1] and 0 <= found[0] <= 1:
        return found[0]
    faults.add(node, f"{what} is a share such as 80 %, not {value!r}")
    return None


def quantity(value: str) -> tuple[float, str] | None:
    """A number and its unit, which may be empty."""
    found = _QUANTITY.fullmatch(value.strip())
    if found is None or not isfinite(number := float(found[1])):  # of some hundred digits
        return None
    return number, found[2]


def seconds(value: float, unit: str) -> float | None:
    """That many of a unit of time, in seconds."""
    return value * _MS[unit] / 1000 if unit in _MS else None


def unknown_keys(tree: Mapping, faults: Faults, what: str, known: Iterable[str]) -> None:
    known = tuple(known)
    for key, _ in tree:
        if key.value not in known:
            faults.unknown(key, what, known)


def _shown(node: Node) -> str:
    return kind_of(node) if not isinstance(node, Text) else repr(node.value) if node.value else "nothing"
