"""Which of several is warmer or cheaper: each is answered, then they are compared."""

from __future__ import annotations

import re
from collections.abc import Mapping
from statistics import fmean
from typing import Any, Final

from dialog.engine.session import Wish
from dialog.engine.turn import Turn
from dialog.replies.phrases import listed, place_name, store_name

_WORDS: Final = {
    "warmer": ("weather", "temperature", True), "hotter": ("weather", "temperature", True),
    "colder": ("weather", "temperature", False), "cooler": ("weather", "temperature", False),
    "chillier": ("weather", "temperature", False), "sunnier": ("weather", "sun_hours", True),
    "rainier": ("weather", "rain_chance", True), "wetter": ("weather", "rain_chance", True),
    "drier": ("weather", "rain_chance", False), "cloudier": ("weather", "cloud", True),
    "snowier": ("weather", "snow_chance", True), "more humid": ("weather", "humidity", True),
    "cheaper": ("prices", "price", False), "less expensive": ("prices", "price", False),
    "more expensive": ("prices", "price", True), "pricier": ("prices", "price", True),
}  # fmt: skip
"""By the word: the action, the figure, and whether the highest is meant."""
_MOST: Final = {
    "warmest": "warmer", "hottest": "hotter", "coldest": "colder", "coolest": "cooler", "sunniest": "sunnier",
    "rainiest": "rainier", "wettest": "wetter", "driest": "drier", "cloudiest": "cloudier", "snowiest": "snowier",
    "cheapest": "cheaper",
}  # fmt: skip
_SAID: Final = re.compile(rf"\b(?:{'|'.join((*_WORDS, *_MOST))})\b", re.IGNORECASE)
_ADJECTIVES: Final = {
    "warm": "warmer", "hot": "hotter", "cold": "colder", "cool": "cooler", "sunny": "sunnier", "rainy": "rainier",
    "wet": "wetter", "dry": "drier", "cloudy": "cloudier", "cheap": "cheaper",
}  # fmt: skip
_MORE: Final = re.compile(rf"\b(?:more|most) ({'|'.join(_ADJECTIVES)})\b", re.IGNORECASE)
"""As those say it who learned English later: "more cold"."""
_SIDE_BY_SIDE: Final = re.compile(
    r"\b(?:compare[ds]?|comparison|comparing|versus|vs|difference (?:\w+ ){0,2}between)\b", re.IGNORECASE
)
_CHOICE: Final = re.compile(r"\b(?:which|or|between|than)\b", re.IGNORECASE)


def compares(text: str, actions: list[str]) -> str:
    """The word that wishes of one line with these actions are compared by; empty when they are not."""
    word = names_comparison(text)
    return word if word and sum(action == _WORDS[word][0] for action in actions) > 1 else ""


def side_by_side(text: str) -> bool:
    """Whether the line asks for several things side by side without a word to compare them by: "compare ..."."""
    return bool(_SIDE_BY_SIDE.search(text))


def names_comparison(text: str) -> str:
    """The word of a line that asks which one it is: "warmer"."""
    said = _SAID.search(_MORE.sub(lambda found: _ADJECTIVES[found[1].lower()], text))
    word = said.group().lower() if said is not None and _CHOICE.search(text) else ""
    return _MOST.get(word, word)


def compared_action(word: str) -> str:
    return _WORDS[word][0]


def is_compared(turn: Turn) -> bool:
    """Whether the task in hand is one of those that are compared."""
    session = turn.session
    return bool(session.comparing) and session.task is not None and session.task.action == _WORDS[session.comparing][0]


def note_figure(turn: Turn, result: Mapping[str, Any]) -> None:
    """Keep what is compared of an answer."""
    session = turn.session
    action, name, _ = _WORDS[session.comparing]
    slots = turn.slots
    figure = _price(result) if action == "prices" else _measured(result, name, slots.get("when"))
    by = next((name for name in ("item", "store") if _differ(session.together, name)), "location")
    label = slots.get(by)
    if figure is not None and label is not None:
        named = {"item": "the {}".format, "store": store_name, "location": place_name}[by]
        name = named(label.value)
        session.compared = [*session.compared, (name, figure)]


def _differ(wishes: list[Wish], name: str) -> bool:
    return len({str(one.slots[name].value) for one in wishes if name in one.slots}) > 1


def conclude(turn: Turn) -> None:
    """Say which one it is, when all have been answered."""
    session = turn.session
    word, found = session.comparing, session.compared
    session.comparing, session.compared = "", []
    if not word or len(found) < 2:
        return
    figures = [figure for _, figure in found]
    best = (max if _WORDS[word][2] else min)(figures)
    names = [name for name, figure in found if figure == best]
    if len(names) == len(found):
        turn.say("There is no difference between them.")
        return
    several = len(names) > 1 or (names[0].endswith("s") and names[0].startswith("the "))
    turn.say(f"So {listed(names)} {'are' if several else 'is'} {word}.")


def _price(result: Mapping[str, Any]) -> float | None:
    items = result.get("items") or []
    price = items[0].get("price") if items else None
    return float(price) if isinstance(price, int | float | str) and str(price).replace(".", "", 1).isdigit() else None


def _measured(result: Mapping[str, Any], name: str, when: Any) -> float | None:
    """The figure that the answer told: the present one where no day was named, else the mean of the days."""
    current = result.get("current") or {}
    present = "temperature_f" if name == "temperature" else name
    if when is None and isinstance(current.get(present), int | float):
        return float(current[present])
    days = [day.get("high_f" if name == "temperature" else name) for day in result.get("days") or []]
    known = [day for day in days if isinstance(day, int | float)]
    return fmean(known) if known else None
