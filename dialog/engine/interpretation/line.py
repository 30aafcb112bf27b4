"""A line as the engine reads it: what is wanted, and the values of slots that stand in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from dialog.engine.interpretation.anaphora import LAST_PLACE
from dialog.engine.interpretation.settling import HERE, HERE_SAID, is_wish, release, settle
from dialog.engine.session import SlotValue
from dialog.engine.turn import Turn
from dialog.flow.model import Slot
from dialog.understanding.keywords import normal
from dialog.understanding.types import Reading, Span, Understander
from dialog.understanding.words import CHAINS
from dialog.values.shop.item import names_nothing
from dialog.values.tokens import word_set
from dialog.values.types import KNOWN, Value

_CHAINS: Final = {chain.replace(" ", ""): chain for chain in sorted(CHAINS)}

LABELS: Final = {
    "place": ("location",),
    "when": ("time.period_of_time", "store.hour.day"),
    "item": ("item.type", "item.name"),
    "store": ("store.name", "store.type"),
    "sort": ("cost.low", "cost.high", "rating.high", "rating.low"),
    "color": ("item.color",),
    "size": ("item.size",),
    "quantity": ("item.quantity",),
}
"""Slots of NeMo's dictionary that fill a slot of ours, by its type."""
SORTS: Final = {
    "cost.low": "price.low",
    "cost.high": "price.high",
    "rating.high": "rating.high",
    "rating.low": "rating.low",
}
SPANS_ONLY: Final = frozenset(("item", "store", "text"))
"""Types whose values cannot be told from other words without an understander."""
NOT_SOUGHT: Final = frozenset(("yes_no", "number", "choice", "text"))
"""Types that are read only where they were asked for."""

STORE_LOCATION: Final = "store_location"
SUGGESTED: Final = 0.5
"""A span that scores less is only an idea: it counts if the catalogue knows its words."""

_THERE: Final = re.compile(rf"^(?:(?:at|in|near|around|to|by|right|over|out|close to) )*{LAST_PLACE}$")
_SAME_AGAIN: Final = re.compile(
    rf"^(?:(?:um|uh|oh|well|just|still|also|and|yes|yeah|at|in|near|for) )*(?:{LAST_PLACE}|(?:the )?same(?: one)?)"
    r"(?: (?:as before|as last time|again|please|too|as well|still|then))*$"
)
_CUE_WORDS: Final = frozenset(("near", "around", "nearby", "close", "over", "in", "at", "by", "to"))
_MEANS_ANOTHER: Final = frozenset(("eat", "hungry", "starving", "dine"))
_FILLERS: Final = word_set(
    "and or but so then also what what's whats about how how's the a an in at on for to of near around by with from "
    "please pls thanks ok okay well um uh hmm er ah oh just maybe perhaps one ones instead rather it it's its "
    "is be let "
    "me let's lets try i i'd like say um, now make that this these which are yes yeah yep wrong think guess those only "
    "same thing hey actually no not meant mean "
    "i'm sorry said want wanted need change there during until fine sure alright cool never mind problem worries "
    "would will should see too as wait oops whoops k kk lol yo"
)


@dataclass(slots=True)
class Line:
    text: str
    reading: Reading
    values: dict[str, list[Value]] = field(default_factory=dict)
    """By slot, in the order of the line."""
    unknown_place: str = ""
    remaining: list[str] | None = None
    """The other words, where they cannot be told from the text: of a line that put itself right."""
    here: bool = False
    """Whether the place is said to be where the shopper is, which nobody knows."""
    denied: list[Value] = field(default_factory=list)
    """Values that the line says not to be meant."""

    @property
    def intent(self) -> str:
        return self.reading.intents[0].name

    @property
    def score(self) -> float:
        return self.reading.intents[0].score

    def slots(self, turn: Turn, origin: str = "said") -> dict[str, SlotValue]:
        """One value per slot: the first of each."""
        return {name: held(turn, name, values[0], origin) for name, values in self.values.items() if values}

    def rest(self) -> list[str]:
        """The words that are no part of a value and no filler."""
        if self.remaining is not None:
            return self.remaining
        kept = list(self.text)
        for value in [*self.denied, *(one for values in self.values.values() for one in values)]:
            kept[value.start : value.end] = " " * (value.end - value.start)
        return [word for word in normal("".join(kept)).split() if word not in _FILLERS]

    @property
    def only_here(self) -> bool:
        """Whether the line says "near me" and nothing else that counts."""
        words = normal(HERE_SAID.sub(" ", self.text.replace("\u2019", "'"))).split()
        return self.here and all(word in _FILLERS for word in words)

    @property
    def only_values(self) -> bool:
        return bool(self.values) and not self.rest()


def held(turn: Turn, name: str, value: Value, origin: str = "said") -> SlotValue:
    slot = turn.slot(name)
    return SlotValue(
        value=_named(value) if value.type in ("item", "store") else value.value,
        text=value.text,
        turn=turn.session.turn,
        origin=origin,  # type: ignore[arg-type]
        score=value.score,
        keep=slot.keep if slot is not None else "topic",
        alternatives=list(value.alternatives),
    )


def _named(value: Value) -> Any:
    """The shopper's own words for a product, but for the catalogue's spelling of a misspelt one."""
    if not isinstance(value.value, str):
        return value.text
    if value.type == "store" and " " in value.text and (chain := _CHAINS.get(_letters(value.text))):
        return chain  # "star bucks"
    cut = " " in value.text and value.value.count(" ") < value.text.count(" ")
    misspelt = value.score < 1.0 and (cut or len(value.value.split()) == len(value.text.split()))
    misspelt = misspelt or (cut and _letters(value.value) == _letters(value.text).removesuffix("s"))  # "lap top"
    if not misspelt and value.text.lower() not in _MEANS_ANOTHER:
        return value.text
    several = value.text.lower().endswith("s") and not value.value.endswith("s")
    return f"{value.value}s" if several and misspelt else value.value


def _letters(text: str) -> str:
    return text.lower().replace(" ", "")


def read_line(turn: Turn, understander: Understander, text: str) -> Line:
    reading = understander.read(text)
    line = Line(text=text, reading=reading)
    for slot in turn.assistant.slots.values():
        if slot.type not in SPANS_ONLY | NOT_SOUGHT and (values := _sought(turn, slot, line)):
            line.values[slot.name] = values
    for ideas in (False, True):  # what could be anything counts only where nothing is known to be a thing
        for slot in turn.assistant.slots.values():
            if slot.type not in SPANS_ONLY or slot.name in line.values:
                continue
            values = _labelled(turn, slot, line, ideas=ideas)
            if not is_wish(reading.intents[0].name):  # then words that could be anything are none
                values = [value for value in values if value.score > KNOWN]
            if values and (ideas or any(value.score > KNOWN for value in values)):
                line.values[slot.name] = values
    settle(turn, line)
    return line


def labels(slot: Slot) -> tuple[str, ...]:
    return slot.labels or LABELS.get(slot.type, ())


def _sought(turn: Turn, slot: Slot, line: Line) -> list[Value]:
    """What the slot's parser finds, and what the understander saw and the parser can read."""
    parser = turn.parsers.get(slot.type)
    if parser is None:
        return []
    context = turn.parse_context(slot.name)
    values = list(parser.find(line.text, context))
    for span in line.reading.spans:
        wanted = span.slot in labels(slot) or (slot.type == "size" and span.slot == "location")
        if not wanted or any(one.start < span.end and span.start < one.end for one in values):
            continue
        if slot.type == "size" and _is_amount(turn, line.text, span):
            continue
        if slot.type == "place" and HERE.match(normal(span.text)):
            line.here = True
        elif slot.type == "place" and refers_back(span.text):
            continue
        elif value := parser.answer(span.text, context):
            if value.score == 1.0 or not _is_product(turn, span.text):  # oranges are not orange
                values.append(_moved(value, span, slot))
        elif slot.type == "sort" and span.slot in SORTS:
            values.append(Value(type="sort", text=span.text, start=span.start, end=span.end, value=SORTS[span.slot]))
        elif slot.type == "place" and span.score >= 0.5 and not _is_size(turn, span):
            line.unknown_place = span.text
    return sorted(values, key=lambda one: one.start)


def refers_back(text: str) -> bool:
    """Whether the words of a place name none: "near there", or a preposition alone."""
    words = normal(text)
    return bool(_THERE.match(words)) or _CUE_WORDS.issuperset(words.split())


def means_last_place(text: str) -> bool:
    """Whether an answer is the last place again: "same city", "the same as before"."""
    return bool(_SAME_AGAIN.match(normal(text)))


def _is_size(turn: Turn, span: Span) -> bool:
    """ "in queen" is where no place is."""
    parser = turn.parsers.get("size")
    return parser is not None and parser.answer(span.text, turn.parse_context()) is not None


def _is_amount(turn: Turn, text: str, span: Span) -> bool:
    """ "3 gallons of milk" says how much, not which one."""
    parser = turn.parsers.get("quantity")
    found = parser.find(text, turn.parse_context()) if parser is not None else []
    return any(one.start < span.end and span.start < one.end for one in found)


def _is_product(turn: Turn, text: str) -> bool:
    parser = turn.parsers.get("item")
    value = parser.answer(text, turn.parse_context()) if parser is not None else None
    return value is not None and value.score == 1.0


def _moved(value: Value, span: Span, slot: Slot) -> Value:
    return Value(
        type=slot.type,
        text=span.text,
        start=span.start,
        end=span.end,
        value=value.value,
        score=value.score,
        alternatives=value.alternatives,
    )


def _labelled(turn: Turn, slot: Slot, line: Line, *, ideas: bool) -> list[Value]:
    """The words the understander labelled, neighbours joined ("sony headphones"), without what other slots took."""
    parser = turn.parsers.get(slot.type)
    context = turn.parse_context(slot.name)

    @cache
    def answered(text: str) -> Value | None:
        return parser.answer(text, context) if parser is not None else None

    def known(text: str) -> bool:
        value = answered(text)
        return value is not None and value.score == 1.0

    def trimmed(span: Span) -> tuple[int, int]:
        if known(span.text):  # "red wine" is not wine that is red
            return span.start, span.end
        return _without(line.text, span.start, span.end, [one for values in line.values.values() for one in values])

    spans = [one for one in line.reading.spans if one.slot in labels(slot) or _is_kind(turn, slot, line, one, known)]
    runs: list[tuple[int, int]] = []
    for span in _chosen(
        spans, lambda one: known(line.text[slice(*trimmed(one))]), others=not ideas or _has_thing(turn, line)
    ):
        start, end = trimmed(span)
        if known(span.text):
            release(line, start, end)
        if start >= end:
            continue
        between = line.text[runs[-1][1] : start].strip().lower() if runs else "-"
        if not between:
            runs[-1] = (runs[-1][0], end)
        elif between in ("and", "&") and not (known(line.text[slice(*runs[-1])]) and known(line.text[start:end])):
            runs[-1] = (runs[-1][0], end)  # "pots and pans"
        else:
            runs.append((start, end))
    values = []
    for start, end in runs:
        text = line.text[start:end].strip(" ?!.,;:\"'")
        if not text or names_nothing(text):
            continue
        value = answered(text)
        values.append(
            Value(
                type=slot.type,
                text=text,
                start=start,
                end=end,
                value=value.value if value else text.lower(),
                score=value.score if value else KNOWN,
            )
        )
    return sorted(values, key=lambda one: one.score <= KNOWN)  # what the catalogue knows comes first


def _is_kind(turn: Turn, slot: Slot, line: Line, span: Span, known: Callable[[str], bool]) -> bool:
    """ "somewhere nice and italian": what could be any product is a kind of restaurant where a place is looked for."""
    sought = line.intent == STORE_LOCATION or line.intent.startswith("navigation.")
    sure = any(one.start < span.end and span.start < one.end for one in line.reading.spans if one.score >= SUGGESTED)
    idea = span.slot in LABELS["item"] and span.score < SUGGESTED and not sure
    return slot.type == "store" and sought and idea and not _has_thing(turn, line) and known(span.text)


def _chosen(spans: list[Span], known: Callable[[Span], bool], *, others: bool) -> list[Span]:
    """Of spans over the same words the longest that the catalogue knows, else the surest. Ideas that it does not know
    count only if there is nothing else."""
    kept: list[Span] = []

    def rank(span: Span) -> tuple[bool, float, int]:
        sure = known(span)
        return (not sure, 0.0 if sure else -span.score, span.start - span.end)

    for span in sorted(spans, key=rank):
        idea = span.score < SUGGESTED and not known(span)
        if not (idea and (kept or others)) and not any(one.start < span.end and span.start < one.end for one in kept):
            kept.append(span)
    return sorted(kept, key=lambda one: one.start)


def _has_thing(turn: Turn, line: Line) -> bool:
    return any(turn.assistant.slots[name].type in ("item", "store") for name in line.values)


def _without(text: str, start: int, end: int, taken: list[Value]) -> tuple[int, int]:
    """The span without values at its beginning and end ("red jeans" is "jeans" if "red" is a colour); nothing when a
    value covers it."""
    if any(value.start <= start and end <= value.end for value in taken):
        return start, start
    for value in sorted(taken, key=lambda one: one.start):
        if value.start <= start < value.end <= end:
            start = value.end
    for value in sorted(taken, key=lambda one: -one.end):
        if start <= value.start < end <= value.end:
            end = value.start
    while start < end and text[start] in " ,":
        start += 1
    while start < end and text[end - 1] in " ,":
        end -= 1
    return start, end


def all_known(line: Line) -> bool:
    """Whether no value is just any words."""
    return all(value.score > KNOWN for values in line.values.values() for value in values if value.type in SPANS_ONLY)
