"""What "there", "it" and "they" mean: values of an earlier task that a wish refers to without naming them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from dialog.engine.session import SlotValue, Wish
from dialog.engine.turn import Turn
from dialog.flow.model import Slot
from dialog.understanding.keywords import plain_store
from dialog.values.types import KNOWN

LAST_PLACE: Final = (
    r"(?:there|that (?:city|place|town|area|location|neighbou?rhood)|(?:the )?same (?:city|place|town|area|location))"
)
"""Means the last place; which one it was is known."""
_THERE: Final = re.compile(rf"\b{LAST_PLACE}\b", re.IGNORECASE)
_THERE_IS: Final = re.compile(
    r"\b(?:is|are|was|were|will|if) there\b(?!\s*$|[?.!])|\bthere(?:'s| is| are)\b", re.IGNORECASE
)
"""Says that something exists, not where."""
_THAT_DAY: Final = re.compile(
    r"\b(?:that|the same) (?:day|night|evening|morning|afternoon|weekend|week|time)\b|\bthen\W*$", re.IGNORECASE
)
"""Means the last time that was spoken of, and where it was spoken of."""
_HOURS: Final = re.compile(r"\b(?:open|opens|close|closes|closed|hours)\b", re.IGNORECASE)
_IT: Final = re.compile(
    r"\b(?:it|its|they|them|their|those|these|that one|this one|the same|any|one|ones|that|this)\b", re.IGNORECASE
)
_IT_HAS: Final = re.compile(
    r"\b(?:does|do|is|are|has|have|will|can|did|would) (?:it|they|that|this|those|these)\b", re.IGNORECASE
)
_STORE: Final = re.compile(
    r"\b(?:they|their|them|it|its|that (?:store|shop|place|restaurant)|the (?:store|shop|place))\b", re.IGNORECASE
)
_THAT_STORE: Final = re.compile(r"\b(?:that|the|which|this) (?:store|shop|place|restaurant)\b", re.IGNORECASE)
FOUND_STORE: Final = "found store"
"""Where the last item was found, for "where is that store?" and nothing else."""
_THEY: Final = re.compile(r"\b(?:they|their)\b", re.IGNORECASE)


_ORDINAL: Final = re.compile(
    r"\b(?:the|that) (first|second|third|last|1st|2nd|3rd)"
    r"(?: (?:one|store|shop|place|restaurant|option|choice)\b|\W*$)",
    re.IGNORECASE,
)
_NUMBERS: Final = {"first": 0, "1st": 0, "second": 1, "2nd": 1, "third": 2, "3rd": 2, "last": -1}


def resolve(turn: Turn, wish: Wish, slots: dict[str, SlotValue], needs: frozenset[str], *, either: bool) -> None:
    """Add what the wish refers to. `needs` are the slots of its action; with `either`, an item or a store will do."""
    recall = turn.session.recall
    _listed(turn, wish, slots)
    about_things = not wish.intent.startswith("weather.")
    named = recall.get("store") or recall.get(FOUND_STORE)
    if named and "store" in slots and plain_store(slots["store"].text) and _THAT_STORE.search(wish.text):
        slots["store"] = reused(named)
        _place_of_store(turn, wish, slots)
    elif "store" in slots and re.search(
        rf"\b(?:the|that|this) {re.escape(slots['store'].text)}\b", wish.text, re.IGNORECASE
    ):
        _place_of_store(turn, wish, slots, again=True)
    for slot in turn.assistant.slots.values():
        name = slot.name
        if name not in recall or (name in slots and not _is_part(wish, slot, slots[name])):
            continue
        if slot.type == "when":
            if _THAT_DAY.search(wish.text) and (not about_things or _HOURS.search(wish.text)):
                slots[name] = reused(recall[name])
                _place_from(turn, wish, slots, recall)
        elif slot.type == "place":
            if _THERE.search(_THERE_IS.sub(" ", wish.text)) and not wish.elsewhere:
                slots[name] = reused(recall[name])
        elif slot.type == "item" and about_things:
            wanted = _IT.search(wish.text) or name in needs
            if wanted and not (either and "store" in slots):
                slots[name] = reused(recall[name])
                _with_it(turn, wish, name, slots)
        elif slot.type == "store" and about_things and (_THEY if "item" in slots else _STORE).search(wish.text):
            slots[name] = reused(recall[name])
            _place_of_store(turn, wish, slots)


def _is_part(wish: Wish, slot: Slot, value: SlotValue) -> bool:
    """ "does it have hdmi": what nobody knows as a product is asked of the last one."""
    unknown = slot.type == "item" and value.score <= KNOWN and value.origin == "said"
    return unknown and wish.intent == "product_info" and bool(_IT_HAS.search(wish.text))


def _listed(turn: Turn, wish: Wish, slots: dict[str, SlotValue]) -> None:
    """ "reserve the first one": the store of that row of the last list, and its place."""
    if (found := listed_row(turn, wish.text)) is None:
        return
    row, _ = found
    name = str(row.get("store") or row.get("name"))
    for slot in turn.assistant.slots.values():
        if slot.type == "store" and slot.name not in slots:
            slots[slot.name] = SlotValue(value=name, text=name, turn=turn.session.turn, origin="reused", keep=slot.keep)
    _place_of_store(turn, wish, slots)


def listed_row(turn: Turn, text: str) -> tuple[dict[str, Any], re.Match[str]] | None:
    """The row of the last list that "the second one" means, and where the line says so."""
    ordinal, result = _ORDINAL.search(text), turn.session.context.get("result")
    if ordinal is None or not isinstance(result, dict):
        return None
    rows = [row for row in result.get("stores") or result.get("items") or () if isinstance(row, dict)]
    named = list({str(row.get("store") or row.get("name")): row for row in reversed(rows)}.values())[::-1]
    number = _NUMBERS[ordinal[1].lower()]
    return (named[number], ordinal) if named and number < len(named) else None


def reused(value: SlotValue) -> SlotValue:
    return msgspec.structs.replace(value, origin="reused")


def _with_it(turn: Turn, wish: Wish, item: str, slots: dict[str, SlotValue]) -> None:
    """An item comes with its size and colour, and is wanted where it was looked for."""
    task = turn.session.task
    if task is None or item not in task.slots:
        return
    for slot in turn.assistant.slots.values():
        comes_along = item in slot.depends_on or (slot.type in ("place", "store") and not wish.elsewhere)
        if comes_along and slot.name in task.slots:
            slots.setdefault(slot.name, reused(task.slots[slot.name]))


def _place_of_store(turn: Turn, wish: Wish, slots: dict[str, SlotValue], *, again: bool = False) -> None:
    """Where the store was found; else, unless it must have been spoken of before (`again`), the last place."""
    session, store = turn.session, str(slots["store"].value).lower()
    told = (one.slots for one in (session.task, *reversed(session.frames)) if one is not None)
    found = next((one for one in told if "store" in one and str(one["store"].value).lower() == store), {})
    places = found if again or any(_is_place(turn, name) for name in found) else session.recall
    _place_from(turn, wish, slots, places)


def _place_from(turn: Turn, wish: Wish, slots: dict[str, SlotValue], places: Mapping[str, SlotValue]) -> None:
    for name, value in places.items():
        if _is_place(turn, name) and not wish.elsewhere:
            slots.setdefault(name, reused(value))


def _is_place(turn: Turn, name: str) -> bool:
    slot = turn.slot(name)
    return slot is not None and slot.type == "place"
