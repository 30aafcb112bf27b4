"""Streets with their numbers, and postal codes behind a state, as they are written: `1234 Main Street`, `TX 78701`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tenor.redaction.numbers.spoken import SCALES
from tenor.redaction.utterance import Utterance

_SURE = "street streets st avenue ave boulevard blvd road rd lane ln parkway pkwy highway hwy crescent terrace"
STREETS = frozenset(_SURE.split())
_PERHAPS = "drive dr court ct circle place pl way square trail close row loop path plaza route"
_DOUBTFUL = frozenset(_PERHAPS.split())
"""Streets only behind a number."""
_LONGEST_NAME = 3
_ORDINAL = re.compile(r"\d+(st|nd|rd|th)")
_NUMBERED = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth north south east west"
_ORDINALS = frozenset(_NUMBERED.split())
_SHORT_STATES = """
al ak az ar ca co ct de fl ga hi id il in ia ks ky la me md ma mi mn ms mo mt ne nv nh nj nm ny nc nd oh ok or pa ri sc
sd tn tx ut vt va wa wv wi wy dc
"""
_STATES_IN_SHORT = frozenset(_SHORT_STATES.split())
_ZIP = re.compile(r"\d{5}(-\d{4})?")


def streets(said: Utterance) -> Iterator[tuple[int, int]]:
    """First and last token of each, with the number before it."""
    for at in range(len(said.tokens)):
        kind = said.core(at)
        if kind not in STREETS and kind not in _DOUBTFUL:
            continue
        first = at
        while at - first < _LONGEST_NAME and first and _street_name(said, first - 1):
            first -= 1
        number = said.run_at(first - 1) if first else None
        if number is not None and (first < at or kind in STREETS):
            yield number.first, at
        elif first < at and kind in STREETS:
            yield first, at


def _street_name(said: Utterance, at: int) -> bool:
    core = said.core(at)
    ordinal = core in _ORDINALS or bool(_ORDINAL.fullmatch(core))
    return (ordinal or said.strange(at)) and core not in SCALES and not said.stops_after(at)


def is_zip(said: Utterance, at: int) -> bool:
    """Whether a postal code stands at `at`, behind the short name of a state."""
    if not at or not _ZIP.fullmatch(said.core(at)):
        return False
    state = said.tokens[at - 1]
    return state.core in _STATES_IN_SHORT and said.text[state.start : state.end].isupper()


def of_a_place(said: Utterance, first: int, last: int) -> bool:
    """Whether the number of these tokens is a house's or a postal code, whatever was said before."""
    if is_zip(said, last):
        return True
    near = {said.core(at) for at in range(last + 1, last + 2 + _LONGEST_NAME)}
    return not near.isdisjoint(STREETS | _DOUBTFUL) and any(start == first for start, _ in streets(said))
