"""The assistant's labels: intents that flows route, names that stand for others, and slots in NeMo's order.

A model or a Riva server may answer `find_the_store` and `unknown`, as NeMo's dictionaries have them; flows route
`store_location` and `nomatch.none`. `routed_intent` and `printed_intent` lead from one to the other.
"""

from __future__ import annotations

from typing import Final

NO_MATCH: Final = "nomatch.none"
SERVICE_ERROR: Final = "jarvis_error"
"""Routed like an intent when a service fails; no sentence means it."""

ROUTED_INTENTS: Final = (
    SERVICE_ERROR,
    "price_check",
    "inventory_check",
    "store_location",
    "weather.weather",
    "weather.temperature",
    "weather.sunny",
    "weather.cloudy",
    "weather.snow",
    "weather.rainfall",
    "weather.snow_yes_no",
    "weather.rainfall_yes_no",
    "weather.temperature_yes_no",
    "weather.humidity",
    "weather.humidity_yes_no",
    "navigation.startnavigationpoi",
    "navigation.geteta",
    "navigation.showdirection",
    "navigation.showmappoi",
    NO_MATCH,
)
"""The twenty of the paper's main flow, in its order."""

SHOP_INTENTS: Final = ("product_info", "reserve")
SMALL_TALK_INTENTS: Final = (
    "smalltalk.greeting",
    "smalltalk.thanks",
    "smalltalk.how_are_you",
    "smalltalk.who_are_you",
    "smalltalk.praise",
    "smalltalk.insult",
)
UNIVERSAL_INTENTS: Final = (
    "universal.repeat",
    "universal.cancel",
    "universal.start_over",
    "universal.help",
    "universal.person",
    "universal.goodbye",
    "universal.wait",
    "universal.yes",
    "universal.no",
)
"""What can be said in every state."""
FURTHER_INTENTS: Final = (*SHOP_INTENTS, *SMALL_TALK_INTENTS, *UNIVERSAL_INTENTS)

INTENTS: Final = (*ROUTED_INTENTS, *FURTHER_INTENTS)
"""All that a flow may route."""
SPOKEN_INTENTS: Final = tuple(intent for intent in INTENTS if intent != SERVICE_ERROR)
"""Those that a sentence can mean: what a model chooses from."""

ALIASES: Final = {"find_the_store": "store_location", "unknown": NO_MATCH}
"""Names of NeMo's intent dictionary that a flow routes under another name."""
NEMO_INTENTS: Final = ("price_check", "find_the_store", "unknown")
"""The paper's `dict.intents.csv`."""

SLOT_NAMES: Final = (
    "store.type",
    "store.name",
    "store.status",
    "store.hour.start",
    "store.hour.end",
    "store.hour.day",
    "item.type",
    "item.name",
    "item.color",
    "item.size",
    "item.quantity",
    "location",
    "cost.high",
    "cost.average",
    "cost.low",
    "time.period_of_time",
    "rating.high",
    "rating.average",
    "rating.low",
    "interrogative.location",
    "interrogative.manner",
    "interrogative.time",
    "interrogative.personal",
    "interrogative",
    "verb",
    "article",
)
OUTSIDE: Final = "O"
SLOT_LABELS: Final = (*(f"B-{name}" for name in SLOT_NAMES), *(f"I-{name}" for name in SLOT_NAMES), OUTSIDE)
"""The 53 lines of the paper's `dict.slots.csv`: an I- label stands 26 after its B- label, `O` last."""

_PRINTED: Final = {routed: alias for alias, routed in ALIASES.items()}


def routed_intent(name: str) -> str:
    """The intent that flows route for a name that a model or a server gave."""
    return ALIASES.get(name, name)


def printed_intent(name: str) -> str:
    """The name under which an intent is shown to people and written into NeMo's files."""
    return _PRINTED.get(name, name)
