"""Two wishes in a line: split, in order, each with its own words; places and times hold for all of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import msgspec

from dialog.engine.comparison import compared_action, names_comparison, side_by_side
from dialog.engine.interpretation.correction import without_negated
from dialog.engine.interpretation.line import SPANS_ONLY, Line, all_known, read_line
from dialog.engine.interpretation.repair import begins_repair, is_repair, read_repaired
from dialog.engine.interpretation.settling import is_wish
from dialog.engine.scope import needed_by
from dialog.engine.session import Wish
from dialog.engine.turn import Turn
from dialog.understanding.keywords import plain_store
from dialog.understanding.types import Intent, Understander
from dialog.values.types import Value

ActionOf = Callable[[str], str]
MOST: Final = 3
_CUT: Final = re.compile(
    r"\s*(?:[?!;]+|\.(?=\s)|,?\s+\b(?:and then|and also|and|also|plus|then|as well as|oh and|but also|but first|"
    r"but before that|or)\b|,)\s+",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(
    r"^\W*(?:what|how|where|when|which|who|will|is|are|do|does|can|could|should|would|tell|show|find|i)\b",
    re.IGNORECASE,
)
_STATES: Final = re.compile(
    r"^\W*(?:(?:hi|hello|hey|so|um|uh|well|ok|okay)\W+)*(?:i(?:'m| am|'d| would)?|we(?:'re| are)?|looking|my)\b",
    re.IGNORECASE,
)
"""Says what is wanted, and asks nothing."""
_REACHED: Final = re.compile(
    r"^\W*(?:(?:hi|hello|hey|yes|good \w+)\W+)*(?:is this|are you|have i reached|did i reach|"
    r"am i (?:talking|speaking) (?:to|with))\b"
    r".*\b(?:store|shop|place|right)\W*$",
    re.IGNORECASE,
)
"""Asks who is there, and wants nothing found."""
_HUNGRY: Final = re.compile(
    r"^\W*(?:(?:hi|hello|hey|so|well|ok|okay|man|wow|ugh)\W+)*(?:i'm|im|i am|we're|we are|i feel) (?:\w+ ){0,2}"
    r"(?:hungry|starving|famished)\b",
    re.IGNORECASE,
)
_NOT: Final = re.compile(r"^\W*(?:and )?not\b", re.IGNORECASE)
_REFERS: Final = re.compile(
    r"\b(?:it|they|them|those|these|one|ones|any|that)\b|"
    r"^\W*where (?:can|could|do|should|would|must) (?:i|we) (?:go|get|buy|find|look|shop)\W*$",
    re.IGNORECASE,
)
SHARED: Final = frozenset(("place", "when"))
"""Types that hold for all wishes of a line."""
ADDED: Final = SHARED | {"sort"}
"""Types that a second value may bring along: "is a laptop or a tablet cheaper"."""
REPEATED: Final = frozenset(("place", "when", "item", "store"))
"""Types of which a second value is a second wish."""

PRICES: Final = "price_check"
_COMPARED: Final = {"weather": ("place",), "prices": ("item", "store", "place")}
"""What an action's answers are compared for."""
QUALIFYING: Final = frozenset(("size", "color", "quantity", "price"))
"""Types that say which one of what was named before: "hold a suit for me, size 42"."""


def split(turn: Turn, understander: Understander, text: str, whole: Line, action_of: ActionOf) -> list[Wish]:
    """The wishes of a line, one for most lines. `action_of` tells what an intent leads to."""
    if compared := _compared_beside(turn, understander, text, action_of) or _compared(turn, whole, action_of):
        return compared
    covered = [(value.start, value.end) for values in whole.values.values() for value in values]
    cuts = [
        cut for cut in _CUT.finditer(text) if not any(start < cut.start() and cut.end() < end for start, end in covered)
    ]
    if not cuts or len(cuts) > 8:
        return [wish_of(turn, whole)]
    ends = [cut.start() for cut in cuts] + [len(text)]
    starts = [0] + [cut.end() for cut in cuts]
    lines: list[Line] = []
    begins: list[int] = []
    repairing = False
    for start, end in zip(starts, ends, strict=True):
        piece = read_line(turn, understander, text[start:end])
        named = _named_in(turn, whole, start, end) if not piece.values else {}
        piece.values = piece.values or named
        if lines and without_negated(piece) and _NOT.match(piece.text):  # "a jewelry store, not a gym"
            continue
        joins = repairing or begins_repair(text[start:end])
        if not lines or (not is_wish(lines[-1].intent) and len(lines) == 1):  # what leads in belongs to the first wish
            begin = begins[0] if begins else start
            lines, begins = [read_repaired(turn, understander, text[begin:end])], [begin]
        elif (
            not joins
            and not _says_how(turn, piece)
            and (_is_own(piece) or _is_another_task(turn, lines[-1], piece, action_of))
        ):
            lines.append(piece)
            begins.append(start)
        elif not joins and _is_another(turn, lines[-1], piece) and (named or all_known(piece)):
            for name in piece.values.keys() - lines[-1].values.keys():  # "in miami or phoenix tomorrow"
                lines[-1].values[name] = piece.values[name]
            lines.append(_like(lines[-1], piece))
            begins.append(start)
        elif lines[-1].text == text[begins[-1] : begins[-1] + len(lines[-1].text)]:  # belongs to what stands before it
            lines[-1] = read_repaired(turn, understander, text[begins[-1] : end])
        repairing = is_repair(text[start:end])
    if len(lines) < 2:
        return [wish_of(turn, whole)]
    turn.note("wishes", str(len(lines)))
    wishes = _without_leads(turn, [wish_of(turn, line) for line in lines[:MOST]])
    _share(turn, wishes, action_of)
    return [wish for at, wish in enumerate(wishes) if not any(_same(wish, one) for one in wishes[:at])]


def _compared(turn: Turn, whole: Line, action_of: ActionOf) -> list[Wish]:
    """ "is a laptop or a tablet cheaper", "Boston or Denver, which is warmer": one wish for each that is compared."""
    word = names_comparison(whole.text)
    meant = action_of(whole.intent)
    action = compared_action(word) if word else meant if side_by_side(whole.text) else ""
    if not action or not is_wish(whole.intent):
        return []
    kinds = {turn.assistant.slots[name].type: name for name in whole.values}
    different = {
        kind: {str(one.value): one for one in whole.values[name] if not plain_store(one.text)}
        for kind, name in kinds.items()
        if kind in _COMPARED.get(action, ())
    }
    many = [kind for kind, values in different.items() if len(values) > 1]
    if len(many) != 1 or len(different[many[0]]) > MOST:
        return []
    if action == "prices" and meant in ("places", "stock") and "item" in kinds:  # "which store is cheaper for milk"
        whole.reading = msgspec.structs.replace(whole.reading, intents=(Intent(PRICES, whole.score),))
    elif meant != action or not {*_COMPARED[action], "when", "sort", "price", "size", "color"} >= kinds.keys():
        return []
    name, values = kinds[many[0]], different[many[0]].values()
    return [wish_of(turn, _like(whole, Line(whole.text, whole.reading, {name: [one]}))) for one in values]


def _compared_beside(turn: Turn, understander: Understander, text: str, action_of: ActionOf) -> list[Wish]:
    """ "which is warmer, Miami or Tampa, and how much is a fan": a comparison, and a wish before or after it."""
    if not (names_comparison(text) or side_by_side(text)):
        return []
    for cut in reversed([*_CUT.finditer(text)][:8]):
        parts = [read_line(turn, understander, one) for one in (text[: cut.start()], text[cut.end() :])]
        wishes = [_compared(turn, one, action_of) for one in parts]
        if any(wishes) and all(found or _is_own(part) for found, part in zip(wishes, parts, strict=True)):
            both = [
                one
                for found, part in zip(wishes, parts, strict=True)
                for one in found or split(turn, understander, part.text, part, action_of)
            ]
            _share(turn, both, action_of)
            return both
    return []


def pieces(text: str) -> list[str]:
    """A line in pieces, each of which may be a wish."""
    return [one for one in _CUT.split(text) if one.strip()]


def _same(wish: Wish, other: Wish) -> bool:
    """ "i'm hungry, where can i eat": said twice, wanted once."""
    values = {name: held.value for name, held in wish.slots.items()}
    alike = wish.intent.removesuffix("_yes_no") == other.intent.removesuffix("_yes_no")
    return alike and values == {name: held.value for name, held in other.slots.items()}


def _without_leads(turn: Turn, wishes: list[Wish]) -> list[Wish]:
    """ "i need three white t-shirts, are they in stock in dallas": what is wanted, then the question about it."""
    while len(wishes) > 1 and _REACHED.match(wishes[0].text):  # "is this the store? what does a cane cost"
        wishes = wishes[1:]
    if len(wishes) > 1 and _HUNGRY.match(wishes[0].text) and wishes[0].intent == wishes[1].intent:
        hungry, *wishes = wishes  # "i'm hungry, any good thai"
        for name, held in hungry.slots.items():
            if turn.assistant.slots[name].type in SHARED:
                wishes[0].slots.setdefault(name, held)
    kept = wishes[:1]
    for wish in wishes[1:]:
        last = kept[-1]
        about = _REFERS.search(wish.text) and not {"item", "store"} & wish.slots.keys()
        named = not _CLAUSE.match(last.text) and wish.intent == last.intent  # "a black umbrella, do you have one"
        if about and "item" in last.slots and (named or _STATES.match(last.text)):
            kept[-1] = msgspec.structs.replace(wish, slots={**last.slots, **wish.slots})
        else:
            kept.append(wish)
    return kept


def _family(wish: Wish) -> str:
    """`weather` of `weather.rainfall`: a time holds for questions of one kind."""
    return wish.intent.partition(".")[0]


def wish_of(turn: Turn, line: Line) -> Wish:
    return Wish(
        intent=line.intent,
        score=line.score,
        text=line.text,
        slots=line.slots(turn),
        unknown_place=line.unknown_place,
        here=line.here,
    )


def _is_own(line: Line) -> bool:
    """Whether the piece is a wish by itself, with words of its own beside values."""
    return is_wish(line.intent) and line.score >= 0.7 and bool(line.rest())


def _says_how(turn: Turn, line: Line) -> bool:
    """ "not too expensive": how what stands before it should be."""
    kinds = {turn.assistant.slots[name].type for name in line.values}
    return kinds == {"sort"} and not _CLAUSE.match(line.text)


def _is_another_task(turn: Turn, before: Line, piece: Line, action_of: ActionOf) -> bool:
    """ "and then the nearest starbucks": values only, and not of the wish before. A place or a time alone is none."""
    kinds = {turn.assistant.slots[name].type for name in piece.values}
    return (
        is_wish(piece.intent)
        and not (piece.only_values and (SHARED.issuperset(kinds) or QUALIFYING.issuperset(kinds)))
        and piece.score >= 0.7
        and not set(piece.values) <= set(before.values)
        and action_of(piece.intent) != action_of(before.intent)
    )


def _is_another(turn: Turn, before: Line, piece: Line) -> bool:
    """ "in boston and seattle": another value of a slot that the wish before has."""
    return (
        piece.only_values
        and any(name in before.values and turn.assistant.slots[name].type in REPEATED for name in piece.values)
        and all(name in before.values or turn.assistant.slots[name].type in ADDED for name in piece.values)
    )


def _named_in(turn: Turn, whole: Line, start: int, end: int) -> dict[str, list[Value]]:
    """Things nobody knows that only the whole line shows to be things: "butter or margarine"."""
    return {
        name: [msgspec.structs.replace(one, start=one.start - start, end=one.end - start) for one in inside]
        for name, values in whole.values.items()
        if turn.assistant.slots[name].type in SPANS_ONLY
        and (inside := [one for one in values if start <= one.start and one.end <= end])
    }


def _like(before: Line, piece: Line) -> Line:
    return Line(text=piece.text, reading=before.reading, values={**before.values, **piece.values})


def _share(turn: Turn, wishes: list[Wish], action_of: ActionOf) -> None:
    for name, slot in turn.assistant.slots.items():
        if slot.type not in SHARED:
            continue
        giver = next((wish for wish in wishes if name in wish.slots), None)
        for wish in wishes if giver is not None else ():
            placeless = slot.type == "place" and not wish.elsewhere and name in needed_by(turn, action_of(wish.intent))
            assert giver is not None
            # "rain in boston and snow in denver tomorrow": the time at the end holds for both, if it ends one clause
            timeless = slot.type == "when" and _family(wish) == _family(giver)
            begun = wishes.index(wish) > wishes.index(giver) or not wish.slots or not _CLAUSE.match(giver.text)
            if placeless or (timeless and begun):
                wish.slots.setdefault(name, giver.slots[name])
