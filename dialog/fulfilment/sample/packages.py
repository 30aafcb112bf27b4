"""How many packages a quantity needs: a gallon of what comes in half gallons is two."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from dialog.fulfilment import arguments
from dialog.fulfilment.sample.words import singular

_WEIGHTS = {"oz": 1.0, "ounce": 1.0, "lb": 16.0, "pound": 16.0, "kilogram": 35.27, "kg": 35.27, "gram": 0.03527}
_VOLUMES = {
    "pint": 16.0,
    "quart": 32.0,
    "gallon": 128.0,
    "liter": 33.81,
    "ml": 0.03381,
    "milliliter": 0.03381,
    "oz": 1.0,
    "ounce": 1.0,
}
_COUNTS = {"": 1.0, "piece": 1.0, "dozen": 12.0}
_MEASURES = {*_WEIGHTS, *_VOLUMES, "dozen", "cup", "slice", "ton", "foot", "yard", "meter", "inch"}
_PACKAGE = re.compile(r", (half|\d+(?:\.\d+)?) ([a-z]+)(?: \w+)?$|, (dozen)$")


def needed(name: str, wished: Mapping[str, Any]) -> int | None:
    """Packages of a product for the quantity that was said; None when its unit does not fit the package."""
    value = wished.get("quantity")
    unit = singular(str(value.get("unit") or "")) if isinstance(value, Mapping) else ""
    pieces = arguments.quantity(wished)
    if unit not in _MEASURES:  # things that are counted: pairs, bags, bottles
        return 1 if name.endswith(", dozen") and 1 < pieces <= 12 else pieces
    found = _PACKAGE.search(name)
    if found is None or not isinstance(value, Mapping):
        return None
    amount = arguments.number(value.get("amount"))
    size = 0.5 if found[1] == "half" else float(found[1] or 1)
    packed = singular(found[2] or found[3])
    for units in (_WEIGHTS, _VOLUMES, _COUNTS):
        if unit in units and packed in units and amount is not None:
            return max(1, math.ceil(amount * units[unit] / (size * units[packed]) - 1e-6))
    return None
