"""Places: cities of the United States, as they are said, misspelt and misheard.

    value {"name": "Portland", "state": "OR", "latitude": 45.5, "longitude": -122.7, "timezone": "America/Los_Angeles",
           "population": 652503}

`find` takes no ordinary word for a city: Mobile, Reading or Orange count after "in", "near" and the like, or with their
state. A name that several large cities share gives the largest, and the others as alternatives.
"""

from __future__ import annotations

from dialog.values import normalise
from dialog.values.place import spelling, states
from dialog.values.place.line import PlaceLine, PlaceMatch
from dialog.values.place.unknown import unknown_place
from dialog.values.place.words import (
    AFTER,
    AFTER_SUBJECT,
    BEFORE_SUBJECT,
    BETWEEN,
    CUES,
    DISHES_AND_TEAMS,
    SEASONS_AND_COLORS,
    SMALL,
    WEAK_CUES,
    WEATHER,
)
from dialog.values.types import ParseContext, Value

# Below this a spelling is another word; `ratio` and not one of rapidfuzz's partial scorers, which find "la" in Alafaya.
CUT_OFF = 80
# In a line where nothing says that a place stands here.
CUT_OFF_ALONE = 83
# Letters from which a single word is taken for a misspelling, after "in" or the like, and anywhere.
SHORTEST, SHORTEST_ALONE = 4, 6
# Lines longer than this are searched for exact names only, so that no line takes long.
MISSPELLING_WORDS = 60
# How sure a name is that is known as a recogniser's mistake ("fee nicks"), or cut in two ("port land").
MISHEARD_SCORE, CUT_SCORE = 0.8, 0.9

INITIALS = ("la", "ny", "l a", "n y", "kc", "sf", "dc")
TRAILING = ("area", "downtown", "city", "region", "usa", "us")
_OPENINGS = normalise.SMALL_WORDS | {"and", "what", "about", "how", "no", "its", "it", "is"}
BESIDE = normalise.SMALL_WORDS | normalise.PREPOSITIONS | AFTER | WEAK_CUES | CUES | {"city", "live", "im", "am"}


class PlaceParser:
    """Reads type `place`."""

    def find(self, line: str, context: ParseContext) -> list[Value]:
        return self._find(PlaceLine(line))

    def answer(self, line: str, context: ParseContext) -> Value | None:
        read = PlaceLine(line)
        first, end = normalise.trim(read.tokens)
        while first < end and read.keys[first] in BETWEEN:
            first += 1
        match = _whole(read, first, end)
        while match is None and end > first and read.keys[end - 1] in TRAILING:
            end -= 1
            match = _whole(read, first, end)
        if match is not None:
            return read.value(match)
        found = self._find(read)
        if found:
            value = found[0]
            beside = (token.key for token in read.tokens if token.end <= value.start or token.start >= value.end)
            return value if len(found) == 1 and all(key in BESIDE for key in beside) else None
        near = None
        name = read.keys[first:end]
        if not name or " ".join(name) in read.known.foreign or " ".join(name) in states.FULL_NAMES:
            return None
        strange = any(key not in read.known.vocabulary for key in name)
        if strange:
            near = spelling.misspelt(name, read.known, read.known.by_length, CUT_OFF)
        if near is None and len(name) <= 4 and (len(name) > 1 or strange):
            near = spelling.misheard(name, read.known)
        return None if near is None else read.value(PlaceMatch(first, end - 1, *near))

    def unknown(self, line: str, *, asked: bool = False) -> str | None:
        """The words that stand where a place should but are none that is known ("in Qwertyville"), if any.

        `asked` when the line answers "which city?": then a whole line of strange words is such a name.
        """
        read = PlaceLine(line)
        return unknown_place(read, self._find(read), asked=asked)

    def _find(self, line: PlaceLine) -> list[Value]:
        found: list[Value] = []
        i = 0
        while i < len(line):
            match = _exact(line, i) or _zip_code(line, i)
            if match is None and len(line) <= MISSPELLING_WORDS:
                match = _misspelt(line, i)
            if match is None:
                i += 1
            else:
                found.append(line.value(match))
                i = match.last + 1
        return found


def _zip_code(line: PlaceLine, i: int) -> PlaceMatch | None:
    """ "in 60614", "zip code 60614", or the code alone."""
    first = i
    while line.keys[i] in ("zip", "code", "zipcode") and i + 1 < len(line):
        i += 1
    if not (len(line.keys[i]) == 5 and line.keys[i].isdigit()):
        return None
    after, before = line.after(i), line.keys[first - 1] if first else ""
    named = first < i or (before in CUES | WEAK_CUES and (not after or after in AFTER)) or _only(line, i)
    place = line.known.zip_code(line.keys[i]) if named or before in WEATHER else None
    return None if place is None else PlaceMatch(first, i, [place], 1.0, with_state=True)


def _only(line: PlaceLine, i: int) -> bool:
    """Whether nothing else stands in the line: "and 60614?"."""
    return all(key in _OPENINGS for at, key in enumerate(line.keys) if at != i)


def _exact(line: PlaceLine, i: int) -> PlaceMatch | None:
    if line.keys[i] not in line.known.first_words:
        return None
    for n in range(min(line.known.longest, len(line) - i), 0, -1):
        name, last = " ".join(line.keys[i : i + n]), i + n - 1
        places = line.known.names.get(name)
        if places is None or any(mark in line.gap(j) for j in range(i, last) for mark in ",;:!?()\n"):
            continue
        code, state_last = line.state(last, places)
        if code:
            in_state = [place for place in places if place.state == code]
            if in_state:
                return PlaceMatch(i, state_last, in_state, 1.0, with_state=True)
            if name not in states.BY_KEY:  # a city that is not known: there is no Boston in Texas
                return None
        if name not in line.known.foreign and _stands_alone(line, i, last, name):
            return _named(line, i, last, name)
    return None


def _named(line: PlaceLine, first: int, last: int, name: str) -> PlaceMatch:
    score = MISHEARD_SCORE if name in line.known.misheard else 1.0
    return PlaceMatch(first, last, line.known.names[name], score)


def _stands_alone(line: PlaceLine, first: int, last: int, name: str) -> bool:
    """Whether a name without its state is meant as a place."""
    known, after, cue = line.known, line.after(last), line.cue(first)
    if after in DISHES_AND_TEAMS:
        return False
    if len(line) == last - first + 1:
        return not known.is_ordinary(name) or line.capital(first)
    if name in INITIALS:
        capitals = line.tokens[first].text[:2].isupper()
        return bool(cue) or capitals or after in WEATHER or (not after and name != "la")
    if name in known.misheard and all(word in known.vocabulary or len(word) < 3 for word in name.split()):
        return bool(cue)
    if not known.is_ordinary(name):
        return True
    if name in states.FULL_NAMES or name in SEASONS_AND_COLORS:
        return False
    if first and line.keys[first - 1] in BEFORE_SUBJECT and after in AFTER_SUBJECT and WEATHER & set(line.keys):
        return True
    if after and after not in AFTER and after not in normalise.SMALL_WORDS:
        return False
    return cue in ("strong", "weather") or (cue == "weak" and line.capital(first))


def _misspelt(line: PlaceLine, i: int) -> PlaceMatch | None:
    """The name that the words from `i` on are a misspelling of, or that they sound like."""
    if not line.keys[i].isalpha() or line.keys[i] in line.known.names:
        return None
    known, cue = line.known, line.cue(i)
    best: PlaceMatch | None = None
    for n in (4, 3, 2, 1):
        window = line.keys[i : i + n]
        name = " ".join(window)
        if len(window) < n or any(line.ends(j) for j in range(i, i + n - 1)) or name in known.foreign:
            continue
        if name in known.names or name in states.FULL_NAMES:  # read already, and found to mean no place
            continue
        near = None
        if cue and n > 1 and "".join(window) in known.compact:
            near = known.compact["".join(window)], CUT_SCORE
        elif "a" not in (window[0], window[-1]) and not any(key in SMALL and key != "a" for key in window):
            strange = any(key not in known.vocabulary and key.isalpha() for key in window)
            if strange and n < 4 and len(name) >= (SHORTEST if cue else SHORTEST_ALONE):
                names = known.certain_by_length if cue else known.large_by_length
                near = spelling.misspelt(window, known, names, CUT_OFF if cue else CUT_OFF_ALONE)
            if near is None and (n > 1 or strange) and cue in ("strong", "weather"):
                near = spelling.misheard(window, known)
        # A longer spelling must not lose to a part of it that happens to be as near.
        if near is not None and (best is None or near[1] > best.score + 0.02):
            best = PlaceMatch(i, i + n - 1, *near)
    if best is None:
        return None
    code, state_last = line.state(best.last, best.places)
    in_state = [place for place in best.places if place.state == code]
    if code and not in_state:  # "pitsburg california" is not the larger one in Pennsylvania
        near = spelling.misspelt(line.keys[i : best.last + 1], known, known.by_length, CUT_OFF, code)
        in_state = [place for place in near[0] if place.state == code] if near is not None else []
    return PlaceMatch(i, state_last, in_state, best.score, with_state=True) if in_state else best


def _whole(line: PlaceLine, first: int, end: int) -> PlaceMatch | None:
    """All the tokens from `first` on as one name, with or without a state."""
    for name_end in range(end, first, -1):
        name = " ".join(line.keys[first:name_end])
        places = line.known.names.get(name)
        if places is None:
            continue
        if name_end == end:
            state_only = name in states.FULL_NAMES and line.known.is_ordinary(name)
            return None if name in line.known.foreign or state_only else _named(line, first, end - 1, name)
        code = states.BY_KEY.get(" ".join(token.key for token in line.tokens[name_end:end]))
        in_state = [place for place in places if place.state == code]
        if in_state:
            return PlaceMatch(first, end - 1, in_state, 1.0, with_state=True)
    return None
