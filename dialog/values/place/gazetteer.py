"""The cities that are known: read once, on first use, and indexed by their words."""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from dialog.values.place import states
from dialog.values.tokens import Token, tokenise

# "Portland" is a question when another one is at least this large and not dwarfed by the largest. Chosen so that
# Portland, Springfield, Columbus and Aurora are asked about, Boston, Houston and Jacksonville are not.
ALTERNATIVE_PEOPLE, ALTERNATIVE_SHARE = 60_000, 0.10
NEAR_EQUAL_PEOPLE, NEAR_EQUAL_SHARE = 40_000, 0.30
# Degrees; Kansas City in Missouri and in Kansas are one city on two sides of a border, and need no question.
BESIDE = 0.5

# People; misspellings of a smaller city must be nearer, and are not looked for everywhere.
LARGE = 100_000
# Letters an alias must have for a misspelling of it to be guessed.
SHORTEST_ALIAS = 8
# New York and Washington; smaller cities that are named like a state need their own state beside them.
STATE_NAMED_PEOPLE = 400_000

SHORT_FORMS = {"st": "saint", "ft": "fort", "mt": "mount", "pt": "port"}


class Place(NamedTuple):
    name: str
    state: str
    latitude: float
    longitude: float
    timezone: str
    population: int

    def value(self) -> dict[str, Any]:
        return self._asdict()


def words(text: str) -> list[str]:
    """The words by which a name is looked up: `St. Paul` and `saint paul` are the same."""
    return [SHORT_FORMS.get(token.key, token.key) for token in tokenise(text)]


def _lines(name: str) -> list[str]:
    text = (resources.files("dialog.values.place") / "data" / name).read_text("utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


class Gazetteer:
    """Names to places, the largest first."""

    def __init__(self) -> None:
        self.places: dict[str, list[Place]] = {}
        for name, state, latitude, longitude, timezone, population in csv.reader(_lines("places.csv")[1:]):
            place = Place(name, state, float(latitude), float(longitude), timezone, int(population))
            self.places.setdefault(" ".join(words(name)), []).append(place)
        for found in self.places.values():
            found.sort(key=lambda place: -place.population)
        self.aliases = self._read_aliases("aliases.csv")
        self.misheard = self._read_aliases("misheard.csv")
        self.zip_codes = self._read_zip_codes()
        self.names = self.misheard | self.places | self.aliases
        self.longest = max(key.count(" ") + 1 for key in self.names)
        self.first_words = frozenset(key.partition(" ")[0] for key in self.names)
        self.ordinary = frozenset(
            " ".join(words(phrase))
            for line in _lines("ordinary.txt")
            for phrase in (line.split(";") if ";" in line else line.split())
        )
        self.foreign = frozenset(
            " ".join(words(phrase)) for line in _lines("foreign.txt") for phrase in line.split(";")
        )
        self.vocabulary = frozenset(word for line in _lines("words.txt") for word in line.split())
        # Names without blanks, for misspellings and for recognisers that cut a word in two ("sea attle").
        self.compact: dict[str, list[Place]] = {}
        self.by_length: dict[int, list[str]] = {}
        """For an answer to "which city?"."""
        self.certain_by_length: dict[int, list[str]] = {}
        """For any line: without those that are also words, for other words are too like them."""
        self.large_by_length: dict[int, list[str]] = {}
        for key, found in (self.aliases | self.places).items():
            compact = key.replace(" ", "")
            like_state = key in states.BY_KEY and found[0].population < STATE_NAMED_PEOPLE
            short_alias = key not in self.places and len(compact) < SHORTEST_ALIAS
            if len(compact) < 4 or key in self.foreign or like_state or short_alias:
                continue
            self.compact.setdefault(compact, found)
            self.by_length.setdefault(len(compact), []).append(compact)
            if not self.is_ordinary(key):
                self.certain_by_length.setdefault(len(compact), []).append(compact)
                if found[0].population >= LARGE:
                    self.large_by_length.setdefault(len(compact), []).append(compact)
        self.sounds: dict[tuple[str, str], str] = {}
        """Names by their sound; `spelling` fills it when first needed."""

    def _read_aliases(self, file: str) -> dict[str, list[Place]]:
        aliases = {}
        for alias, name, state in csv.reader(_lines(file)[1:]):
            place = next(place for place in self.places[" ".join(words(name))] if place.state == state)
            key = " ".join(words(alias))
            aliases[key] = [place, *(other for other in self.places.get(key, []) if other != place)]
        return aliases

    def _read_zip_codes(self) -> dict[str, Place]:
        """The city of a ZIP code, by its first digits: three, or all of them."""
        return {
            digits: next(place for place in self.places[" ".join(words(name))] if place.state == state)
            for name, state, beginnings in csv.reader(_lines("zip_codes.csv")[1:])
            for digits in beginnings.split()
        }

    def zip_code(self, digits: str) -> Place | None:
        return self.zip_codes.get(digits) or self.zip_codes.get(digits[:3])

    def is_ordinary(self, name: str) -> bool:
        """Whether the name alone is no place: a word, or a state."""
        if name in self.ordinary:
            return True
        return name in states.BY_KEY and self.names[name][0].population < STATE_NAMED_PEOPLE

    def keys(self, tokens: list[Token]) -> list[str]:
        """The words of a line as names are looked up; "Boise's weather" has Boise in it."""
        keys = []
        for token in tokens:
            key = SHORT_FORMS.get(token.key, token.key)
            if len(key) > 3 and token.text[-2:] in ("'s", "\u2019s") and key not in self.first_words:
                key = key[:-1]
            keys.append(key)
        return keys


def alternatives(found: list[Place]) -> list[Place]:
    """The others of the same name that somebody could mean."""
    largest = found[0].population
    return [
        place
        for place in found[1:]
        if max(abs(place.latitude - found[0].latitude), abs(place.longitude - found[0].longitude)) > BESIDE
        and (
            (place.population >= ALTERNATIVE_PEOPLE and place.population >= ALTERNATIVE_SHARE * largest)
            or (place.population >= NEAR_EQUAL_PEOPLE and place.population >= NEAR_EQUAL_SHARE * largest)
        )
    ]


@cache
def gazetteer() -> Gazetteer:
    return Gazetteer()
