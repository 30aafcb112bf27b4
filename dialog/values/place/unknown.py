"""Names that stand where a place should, but are none that is known: so that a reply can name them."""

from __future__ import annotations

import re

from dialog.values import normalise
from dialog.values.place import states
from dialog.values.place.line import PlaceLine
from dialog.values.place.words import AFTER, CUES, NOWHERE, WEATHER, ZIP_CUES
from dialog.values.types import Value

LONGEST = 4
"""Words of a name that is not known."""
BEFORE_OF = ("outside", "city", "town", "east", "west", "north", "south")
SECOND_WORDS = ("city", "beach", "springs", "falls")


def unknown_place(line: PlaceLine, found: list[Value], *, asked: bool) -> str | None:
    """`found` are the places of the line that are known. Conservative: "in stock" and "in dark blue" are no names."""
    spans = [(value.start, value.end) for value in found]

    def free(first: int, last: int) -> bool:
        start, end = line.tokens[first].start, line.tokens[last].end
        return all(end <= known_start or start >= known_end for known_start, known_end in spans)

    for read in (_elsewhere, _foreign, _strange):
        for i in range(len(line)):
            last = read(line, i, asked)
            if last is not None and free(i, last):
                return line.words(i, last)
    if asked and not found:
        first, end = normalise.trim(line.tokens)
        keys = line.keys[first:end]
        strange = " ".join(keys) in states.FULL_NAMES or any(key not in line.known.vocabulary for key in keys)
        if strange and len(keys) <= LONGEST and all(key.isalpha() for key in keys):
            return line.words(first, end - 1)
    return None


def _elsewhere(line: PlaceLine, i: int, asked: bool) -> int | None:
    """ "boston, texas": a known name with a state that has no such city."""
    for n in range(min(line.known.longest, len(line) - i), 0, -1):
        name = " ".join(line.keys[i : i + n])
        places = line.known.names.get(name)
        if places is None or name in states.BY_KEY or (line.known.is_ordinary(name) and not line.cue(i)):
            continue
        code, last = line.state(i + n - 1, places)
        if code and all(place.state != code for place in places):
            return last
    return None


def _foreign(line: PlaceLine, i: int, asked: bool) -> int | None:
    """A city or country that is not served; a ZIP code of a region that is not known."""
    before = line.keys[i - 1] if i else ""
    if re.fullmatch(r"\d{5}", line.keys[i]) and (asked or before in ZIP_CUES):
        return i
    if before == "new":  # New Mexico
        return None
    for n in range(min(LONGEST, len(line) - i), 0, -1):
        if " ".join(line.keys[i : i + n]) in line.known.foreign:
            about_weather = any(key in WEATHER for key in line.keys)
            if asked or about_weather or before in CUES or before in ("for", "to") or len(line) - n <= 3:
                return i + n - 1
    return None


def _strange(line: PlaceLine, i: int, asked: bool) -> int | None:
    """Words after "in" or "near" that are no ordinary ones; a state without a city."""
    if i == 0 or line.ends(i - 1) or line.gap(i - 1).strip():
        return None
    cue, before = line.keys[i - 1], line.keys[i - 2] if i > 1 else ""
    if not (
        cue in ("in", "near", "around", "outside")
        or (cue in ("for", "to") and before in WEATHER)
        or (cue == "of" and before in BEFORE_OF)
    ):
        return None
    for n in range(states.LONGEST, 0, -1):
        if i + n <= len(line) and " ".join(line.keys[i : i + n]) in states.FULL_NAMES:
            after = line.after(i + n - 1)
            return i + n - 1 if not after or after in AFTER else None
    last = _end_of_name(line, i)
    name = line.keys[i : last + 1]
    ordinary = line.known.vocabulary
    if any(not key.isalpha() or key in NOWHERE or key in ("a", "an", "the") for key in name):
        return None
    if name[0] in ordinary and not line.capital(i):
        return None
    return None if all(key in ordinary or len(key) < 3 for key in name) else last


def _end_of_name(line: PlaceLine, first: int) -> int:
    last = first
    while last - first < LONGEST - 1 and (after := line.after(last)):
        if after in AFTER or after in normalise.SMALL_WORDS or after in NOWHERE:
            break
        named = line.capital(first) and line.capital(last + 1)
        if after in line.known.vocabulary and not named and after not in SECOND_WORDS:
            break
        last += 1
    return last
