"""Repair within a line: "in boston, no wait, seattle" means Seattle.

how warm is it in boston   no wait   seattle tomorrow
------------------------   -------   ----------------
what was meant before      marker    what counts where it says something
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from dialog.engine.interpretation.correction import without_negated
from dialog.engine.interpretation.line import Line, read_line
from dialog.engine.interpretation.settling import is_wish
from dialog.engine.turn import Turn
from dialog.understanding.types import Understander
from dialog.values.types import Value

_MARKER: Final = re.compile(
    r"[\s,.;:-]*\b(?:no,? wait|wait,? no|no,? sorry|sorry,? no|oh,? sorry|no,? i mean|i mean|i meant|"
    r"no(?=,? not\b)|or rather|rather|make that|scratch that|correction|no,? actually|actually,? no|"
    r"actually make (?:it|that)|excuse me|sorry,? i mean|sorry|no no|no make (?:it|that)|wait|hang on|"
    r"actually)\b[\s,.;:-]*(?:i (?:mean|meant) )?",
    re.IGNORECASE,
)
_NO: Final = re.compile(r"[\s,.;:-]+no[\s,.;:]+(?=\w)", re.IGNORECASE)


def begins_repair(text: str) -> bool:
    """Whether a piece of a line puts right what stands before it."""
    return bool(_MARKER.match(text) or re.match(r"no\b", text, re.IGNORECASE))


def is_repair(text: str) -> bool:
    """Whether a piece of a line is a marker and nothing else: the next piece is what counts."""
    return bool(_MARKER.fullmatch(text) or re.fullmatch(r"\W*no\W*", text, re.IGNORECASE))


def read_repaired(turn: Turn, understander: Understander, text: str) -> Line:
    """The line, with the later of two values of a slot where the shopper put himself right."""
    for pattern in (_MARKER, _NO):
        cuts = [
            cut
            for cut in pattern.finditer(text)
            if text[: cut.start()].strip(" ,.") and text[cut.end() :].strip(" ,.?!")
        ]
        if cuts and (line := _repaired(turn, understander, text, cuts[-1])) is not None:
            return line
    return read_line(turn, understander, text)


def _repaired(turn: Turn, understander: Understander, text: str, cut: re.Match[str]) -> Line | None:
    before = read_repaired(turn, understander, text[: cut.start()])
    after = read_line(turn, understander, text[cut.end() :])
    without_negated(after)  # "no not mesa tempe"
    if is_wish(after.intent) and after.score >= 0.7 and not after.only_values:
        winner = after if not is_wish(before.intent) or after.rest() else before
    elif after.values and (is_wish(before.intent) or set(after.values) & set(before.values)):
        winner = before
    else:
        bare = _bare_item(turn, before, after)
        if bare is None:
            return None
        winner, after = before, bare
    turn.note("repair within the line", cut.group().strip(" ,."))
    later = {name: [_moved(value, cut.end()) for value in values] for name, values in after.values.items()}
    joined = {**before.values, **later}
    return Line(
        text=text,
        reading=winner.reading,
        values=joined,
        remaining=[*before.rest(), *after.rest()],
        here=after.here or before.here,
        unknown_place="" if "location" in joined else after.unknown_place or before.unknown_place,
    )


def _moved(value: Value, by: int) -> Value:
    return msgspec.structs.replace(value, start=value.start + by, end=value.end + by)


def _bare_item(turn: Turn, before: Line, after: Line) -> Line | None:
    """ "how much are jeans, no sorry, sneakers": nothing says that sneakers are an item but that an item was "
    "there."""
    for name, slot in turn.assistant.slots.items():
        if slot.type in ("item", "store") and name in before.values and len(after.text.split()) <= 4:
            parser = turn.parsers.get(slot.type)
            value = parser.answer(after.text, turn.parse_context(name)) if parser is not None else None
            if value is not None:
                return Line(
                    text=after.text, reading=after.reading, values={**after.values, name: [value]}, remaining=[]
                )
    return None
