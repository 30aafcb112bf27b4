"""Stores and places as one says them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from dialog.replies.phrases import clock, listed, miles, number, other_city, place_name, store_name

_SUPERLATIVES: Final = {
    "rating.high": "The highest-rated",
    "rating.low": "The lowest-rated",
    "price.low": "The cheapest",
    "price.high": "The most expensive",
    "distance": "The nearest",
}
_TELEPHONE: Final = re.compile(r"\b(?:phone|telephone|number|call)\b", re.IGNORECASE)
_ASKS_OPEN: Final = re.compile(
    r"^\W*(?:(?:and|so|ok|okay|um|uh|do you know|any idea)\W+)*(?:if |whether )?(?:is|are|will) (?!there\b).*\bopen\b",
    re.IGNORECASE,
)
_HOUR: Final = re.compile(r"\b(?:\d|noon|midnight|morning|afternoon|evening|night|tonight|late)", re.IGNORECASE)
MINUTES_PER_MILE: Final = 2.5
"""In a city, by car."""

Store = Mapping[str, Any]


def told(result: Mapping[str, Any], slots: Mapping[str, Any], intent: str, text: str) -> str:
    place = place_name(slots.get("location"))
    wanted = str(slots.get("item") or store_name(slots.get("store")) or "store")
    found = result.get("stores") or []
    if not found:
        return _nothing(result, wanted, place)
    first = found[0]
    if intent == "navigation.geteta":
        return _distance(first, place, other_city(slots.get("location"), first))
    if intent.startswith("navigation."):
        return (
            f"{first['name']} is at {_address(first)}{_in(other_city(slots.get('location'), first))}"
            f"{_away(first, place)}. "
            "I can't guide you turn by turn, but any map will find that address."
        )
    if _TELEPHONE.search(text) and first.get("telephone"):
        return f"The telephone number of {first['name']} in {place} is {first['telephone']}."
    if city := other_city(slots.get("location"), first):
        lead = f"In {place} itself I know of none; the nearest is {first['name']} in {city},"
    else:
        lead = _lead(first, slots, wanted, place)
    return f"{_whether_open(first, slots, text)}{lead} at {_address(first)}{_facts(first)}.{_others(found)}"


def _whether_open(first: Store, slots: Mapping[str, Any], text: str) -> str:
    """Yes or no, to who asks whether a store is open on a day or now. Of an hour the opening times tell."""
    if not _ASKS_OPEN.search(text) or _HOUR.search(text) or "opens" not in first:
        return ""
    when = slots.get("when")
    if first["opens"] is None:
        return "No. "
    if not isinstance(when, Mapping) or when.get("now"):
        known = first.get("open_now")
        return "" if known is None else "Yes. " if known else "No, not right now. "
    return "Yes. " if when.get("from") == when.get("to") else ""


def _lead(first: Store, slots: Mapping[str, Any], wanted: str, place: str) -> str:
    superlative = _SUPERLATIVES.get(str(slots.get("sort") or ""))
    where = f" in {place}" if place else ""
    if slots.get("item"):
        what = f"place for {wanted}"
    else:
        what = "match" if _same(wanted, str(first["name"])) else _singular(wanted)
    if superlative is not None:
        return f"{superlative} {what}{where} is {first['name']}"
    if slots.get("item"):
        return f"{f'In {place}, ' if place else ''}I found this for {wanted}: {first['name']}"
    return f"In {place}, there is {first['name']}" if place else f"There is {first['name']}"


def _nothing(result: Mapping[str, Any], wanted: str, place: str) -> str:
    others = result.get("alternatives") or []
    where = f" in {place}" if place else ""
    if others:
        names = listed([str(one["name"]) for one in others[:2]])
        return f"There is no {wanted}{where}, but there is {names}."
    if result.get("known"):
        return f"I found no {wanted}{where}."
    return f"I couldn't find {wanted}{where}. Tell me what else to look for."


def _address(store: Store) -> str:
    return str(store.get("address") or store.get("city") or "an unknown address")


def _facts(store: Store) -> str:
    facts = []
    if store.get("rating") is not None:
        facts.append(f"rated {number(store['rating'])} of 5")
    if store.get("distance_mi") is not None:
        facts.append(f"{miles(store['distance_mi'])} from the center")
    if store.get("opens") and store.get("closes"):
        facts.append(f"open from {clock(store['opens'])} to {clock(store['closes'])}")
    elif store.get("opens") is None and "opens" in store:
        facts.append("closed that day")
    return "".join(f", {fact}" for fact in facts)


def _others(found: list[Store]) -> str:
    names = [str(one["name"]) + (f" at {one['address']}" if one.get("address") else "") for one in found[1:3]]
    return f" There {'is' if len(names) == 1 else 'are'} also {listed(names)}." if names else ""


def _distance(store: Store, place: str, city: str) -> str:
    away = store.get("distance_mi")
    if away is None:
        return f"{store['name']} is at {_address(store)}; I don't know how far that is."
    minutes = max(2, round(float(away) * MINUTES_PER_MILE))
    return (
        f"{store['name']} at {_address(store)}{_in(city)} is {miles(away)} from the center of {place}, "
        f"about {minutes} minutes by car."
    )


def _in(city: str) -> str:
    return f" in {city}" if city else ""


def _away(store: Store, place: str) -> str:
    return f", {miles(store['distance_mi'])} from the center of {place}" if store.get("distance_mi") is not None else ""


def _same(wanted: str, name: str) -> bool:
    return wanted.lower() in name.lower()


def _singular(words: str) -> str:
    if words.endswith(("eries", "acies")):  # bakeries, pharmacies
        return f"{words[:-3]}y"
    return words[:-1] if words.endswith("s") and not words.endswith("ss") else words
