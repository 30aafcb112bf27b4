"""What a line that was read comes to: values that mean something else give way, and the place is where it is said."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Protocol, cast

import msgspec

from dialog.engine.interpretation.anaphora import LAST_PLACE
from dialog.engine.turn import Turn
from dialog.understanding.keywords import WORN_OUTSIDE, normal, plain_store
from dialog.understanding.types import Intent
from dialog.values.types import Value
from tenor.taxonomy.assistant import NO_MATCH

if TYPE_CHECKING:
    from dialog.engine.interpretation.line import Line

_MINE: Final = (
    r"(?:my|our) (?:own |current )?(?:place|area|city|town|village|location|house|home|neighbou?rhood|street|block|"
    r"region|office|work|zip|zip code|apartment|hometown)"
)
_NEAR: Final = (
    rf"{_MINE}|near ?by|close by|(?:near|around|round|by|close to|next to|not far from) (?:me|us|here|home)|"
    r"where (?:i'm|im|i am|i live|we are|we live)(?: at)?|(?:in|around) this (?:area|town|city|neighbou?rhood|place)"
)
"""Says that the place is where the shopper is."""
HERE: Final = re.compile(
    rf"^(?:(?:at|in|near|around|to|by|right|over|out) )*(?:{_NEAR}|here|this area|in the area|downtown|the area|home)$"
)
HERE_SAID: Final = re.compile(rf"\b(?:{_NEAR}|(?<!from )here(?!'s\b| (?:is|are|we|you|to)\b))\b", re.IGNORECASE)
_THERE_SAID: Final = re.compile(rf"\b{LAST_PLACE}\b", re.IGNORECASE)
_WAY: Final = re.compile(r"\bfrom\s+(\S.*?)\s+to\b", re.IGNORECASE)
_ZIP: Final = re.compile(
    r"(?:\bzip(?:[ -]?code)?|^(?:and |what about |how about |ok |so |then )+(?:in |for |near )?)\s*(\d{5})\b",
    re.IGNORECASE,
)
_SKY: Final = re.compile(
    r"\b(?:fog|foggy|mist|misty|hazy|hail|thunderstorms?|stormy|windy|frosty|icy)\b", re.IGNORECASE
)
_WORN_OUTSIDE: Final = re.compile(rf"\b(?:{WORN_OUTSIDE})", re.IGNORECASE)
_HUNGRY: Final = re.compile(r"\b(?:eat|hungry|starving|dine)\b", re.IGNORECASE)


class _Unknown(Protocol):
    def unknown(self, line: str, *, asked: bool = False) -> str | None: ...


def unknown_place(turn: Turn, text: str, *, asked: bool = False) -> str:
    """Words that stand where a place should and are none; empty when there are none."""
    parser = turn.parsers.get("place")
    if parser is None or not hasattr(parser, "unknown"):
        return ""
    return cast(_Unknown, parser).unknown(text, asked=asked) or ""


def city_to_city(turn: Turn, line: Line) -> bool:
    """Whether only the way from one place to another is wanted, with no store at its end."""
    kinds = {turn.assistant.slots[name].type for name in line.values}
    way = _WAY.search(line.text)
    ends = [one for one in line.values.get("location", ()) if way is not None and one.start >= way.end(1)]
    return line.intent.startswith("navigation.") and bool(ends) and not kinds & {"item", "store"}


def _unknown_zip(turn: Turn, line: Line) -> None:
    """ "what about zip 99999": a code of no region that is known, and no number of things."""
    code = _ZIP.search(line.text)
    if code is None or any(turn.assistant.slots[name].type == "place" for name in line.values):
        return
    line.unknown_place = code[1]
    release(line, code.start(), code.end())


def _overlooked(turn: Turn, line: Line) -> None:
    """A product that the catalogue knows and the understander saw none in: "put aside a winter coat", "a black
    umbrella" (which is no question about rain)."""
    kinds = {turn.assistant.slots[name].type: name for name in line.values}
    name = next((slot.name for slot in turn.assistant.slots.values() if slot.type == "item"), "")
    parser = turn.parsers.get("item")
    if not name or parser is None or {"item", "store"} & kinds.keys():
        return
    taken = [value for values in line.values.values() for value in values]
    found = [
        one
        for one in parser.find(line.text, turn.parse_context(name))
        if all(one.end <= value.start or value.end <= one.start for value in taken)
    ]
    if not found:
        return
    if line.intent == "reserve":
        line.values[name] = found[:1]
    elif line.intent.startswith("weather.") and "color" in kinds:
        colored = [
            one
            for one in found
            if any(not line.text[color.end : one.start].strip() for color in line.values[kinds["color"]])
        ]
        if colored:
            line.values[name] = colored[:1]
            line.reading = msgspec.structs.replace(line.reading, intents=(Intent("inventory_check", line.score),))


def _sky(line: Line) -> None:
    """ "is it foggy in San Francisco": a word of the weather for which there is no intent of its own."""
    if line.intent == NO_MATCH and (found := _SKY.search(line.text)):
        line.reading = msgspec.structs.replace(line.reading, intents=(Intent("weather.weather", 0.8),))
        release(line, found.start(), found.end())


def _worn(turn: Turn, line: Line) -> None:
    """ "will I need gloves": nothing to buy, but how cold it is."""
    if line.intent.startswith("weather.") and _WORN_OUTSIDE.search(line.text):
        for name in [one for one in line.values if turn.assistant.slots[one].type == "item"]:
            del line.values[name]


def settle(turn: Turn, line: Line) -> None:
    _worn(turn, line)
    _limits(turn, line)
    _unknown_zip(turn, line)
    _overlooked(turn, line)
    _sky(line)
    for name, values in tuple(line.values.items()):  # a ZIP code or "forty two inch" is no number of things
        kind = turn.assistant.slots[name].type
        if kind == "place":
            _no_number(turn, line, [one for one in values if one.text[-1].isdigit()], ("quantity", "number", "size"))
        elif kind == "size":
            _no_number(turn, line, values, ("quantity", "number"))
    _without_origin(turn, line)
    elsewhere = [there.group().lower() for there in _THERE_SAID.finditer(line.text)]
    for there in _THERE_SAID.finditer(line.text):  # "in that city": no city is wanted
        release(line, there.start(), there.end())
    here = HERE_SAID.search(line.text.replace("\u2019", "'"))
    if here is not None:  # "near my house": no house is wanted
        line.here = True
        release(line, here.start(), here.end())
    _somewhere_to_eat(turn, line)
    _plain_store(turn, line)
    for slot in turn.assistant.slots.values():
        if slot.type != "place" or slot.name in line.values:
            continue
        line.unknown_place = line.unknown_place or unknown_place(turn, line.text)
        if any(line.unknown_place in one.text for values in line.values.values() for one in values):
            line.unknown_place = ""  # "in fahrenheit"
        if HERE.match(normal(line.unknown_place)):
            line.here, line.unknown_place = True, ""
        if here is not None:
            elsewhere.append(here.group().lower())
        if any(line.unknown_place.lower() in words for words in elsewhere):
            line.unknown_place = ""
        return
    line.unknown_place = ""


def _without_origin(turn: Turn, line: Line) -> None:
    """ "from the airport to a hotel": the way is to the hotel. Where it begins is nothing to look for."""
    way = _WAY.search(line.text)
    if way is None:
        return
    for name, values in list(line.values.items()):
        kept = [one for one in values if not (way.start(1) <= one.start and one.end <= way.end(1))]
        follows = any(one.start >= way.end(1) for one in kept)
        if turn.assistant.slots[name].type in ("place", "item", "store") and len(kept) < len(values) and follows:
            line.values[name] = kept


def _limits(turn: Turn, line: Line) -> None:
    """ "under 50 dollars" is no size 50 and asks for nothing cheap; "above 80" of the weather is no price."""
    name = next((name for name in line.values if turn.assistant.slots[name].type == "price"), None)
    if name is None:
        return
    task = turn.session.task
    of_task = task is not None and "item" in task.slots and len(line.text.split()) <= 4  # "under 50", after a price
    if line.intent.startswith("weather.") and not of_task:
        del line.values[name]
        return
    for other in [one for one in line.values if one != name]:
        _drop(line, other, line.values[name])


def _no_number(turn: Turn, line: Line, taken: list[Value], kinds: tuple[str, ...]) -> None:
    for name in [one for one in line.values if turn.assistant.slots[one].type in kinds]:
        _drop(line, name, taken)


def _drop(line: Line, name: str, taken: list[Value]) -> None:
    """What a slot has of words that mean something else."""
    kept = [one for one in line.values[name] if all(one.end <= it.start or it.end <= one.start for it in taken)]
    if kept:
        line.values[name] = kept
    else:
        del line.values[name]


def _plain_store(turn: Turn, line: Line) -> None:
    """ "a store that sells laptops": the item says which."""
    kinds = {turn.assistant.slots[name].type: name for name in line.values}
    if "item" in kinds and "store" in kinds and all(plain_store(one.text) for one in line.values[kinds["store"]]):
        del line.values[kinds["store"]]


def _somewhere_to_eat(turn: Turn, line: Line) -> None:
    """Who is hungry and says no more wants a restaurant."""
    named = {slot.type: slot.name for slot in turn.assistant.slots.values()}
    hungry = _HUNGRY.search(line.text)
    if (
        hungry
        and is_wish(line.intent)
        and "store" in named
        and not {"item", "store"} & {turn.assistant.slots[name].type for name in line.values}
    ):
        line.values[named["store"]] = [
            Value(
                type="store",
                text=hungry.group(),
                start=hungry.start(),
                end=hungry.end(),
                value="restaurant",
                score=0.9,
            )
        ]


def release(line: Line, start: int, end: int) -> None:
    """Values that stand inside a product's name are none."""
    for name, values in list(line.values.items()):
        kept = [value for value in values if not (start <= value.start and value.end <= end)]
        if kept:
            line.values[name] = kept
        else:
            del line.values[name]


def is_wish(intent: str) -> bool:
    """Whether the intent is something to look up or do, not small talk, a universal word or nothing."""
    return intent != NO_MATCH and not intent.startswith(("smalltalk.", "universal."))
