"""What came of an action, as a sentence or two that sound right when spoken."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from dialog.replies import products, stores, weather


def status_of(
    action: str, result: Mapping[str, Any], *, slots: Mapping[str, Any], intent: str, text: str, now: datetime
) -> str:
    """The sentence for `weather_status` or `retail_status`; empty for actions of one's own, which have templates."""
    match action:
        case "weather":
            return weather.told(result, slots, intent, text, now)
        case "places":
            return stores.told(result, slots, intent, text)
        case "prices":
            return products.prices(result, slots)
        case "stock":
            return products.stock(result, slots)
        case "product_info":
            return products.facts(result, slots)
        case "reserve":
            return products.reserved(result, slots)
    return ""
