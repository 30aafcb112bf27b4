"""Names that flows may use without declaring them."""

from __future__ import annotations

from functools import cache
from typing import Final

SLOT_TYPES: Final = (
    "place", "when", "number", "quantity", "price", "size", "color", "sort", "item", "store", "choice", "yes_no",
    "text", "units",
)  # fmt: skip
"""Types of slots whose parsers ship."""
ACTIONS: Final = ("weather", "places", "prices", "stock", "product_info", "reserve", "handover")
"""Actions that ship."""
VARIABLES: Final = {
    "intent": "of the last line, or what `change_context` put there",
    "text": "the last line as it was typed or heard",
    "wish": "the line that said what is wanted, whatever was asked for since",
    "sentiment": "negative, neutral or positive",
    "result": "what the last action answered",
    "results": "how many items or stores that was",
    "status": "what the last action answered, as a sentence",
    "retail_status": "the sentence of a `Retail` state",
    "weather_status": "the sentence of a `Weather` state",
    "jarvis_error": "set when a service failed",
    "location": "the place that was said last",
}
"""Variables that the engine sets."""


@cache
def reply_texts() -> dict[str, frozenset[str]]:
    """The engine's own texts that `patterns: replies:` may replace, with the variables each may use."""
    from dialog.engine.texts import DEFAULT

    return {name: frozenset().union(*(text.names for text in texts)) for name, texts in DEFAULT.items()}
