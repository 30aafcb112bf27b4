"""Sizes of clothes, shoes, beds, screens and memory.

value the size as text: "10.5", "XL", "queen", "55 inch", "16 GB", "32x34"
"""

from __future__ import annotations

import re

from dialog.values import normalise
from dialog.values.number import read_number
from dialog.values.tokens import LONGEST, Token, tokenise, word_set
from dialog.values.types import ParseContext, Value

NAMED = {
    "XS": "xs;extra small;x small",
    "S": "small;smalls",
    "M": "medium;med;mediums",
    "L": "large;larges",
    "XL": "xl;extra large;x large;xlarge",
    "XXL": "xxl;2xl;double xl;double extra large;extra extra large;two xl;2 xl",
    "XXXL": "xxxl;3xl;triple xl;three xl;triple extra large;3 xl",
    "twin": "twin size;twin sized;twin",
    "full": "full size;full sized",
    "queen": "queen size;queen sized;queen",
    "king": "king size;king sized;king;california king",
    "newborn": "newborn",
    "one size": "one size;one size fits all",
    "petite": "petite",
    "plus": "plus size;plus sized",
    "travel": "travel size;travel sized",
    "family": "family size;family sized",
    "toddler": "toddler size",
}
PHRASES = {tuple(phrase.split()): name for name, joined in NAMED.items() for phrase in joined.split(";")}
LONGEST_NAME = max(len(phrase) for phrase in PHRASES)
LETTERS = {"s": "S", "m": "M", "l": "L", "x": "X"}
MEASURES = {
    "inch": 'inch inches inchs " ″',
    "foot": "foot feet ft",
    "GB": "gb gig gigs gigabyte gigabytes",
    "TB": "tb terabyte terabytes",
    "MB": "mb megabyte megabytes",
    "cm": "cm centimeter centimeters centimetre centimetres",
    "mm": "mm millimeter millimeters",
    "meter": "meter meters metre metres",
    "ounce": "oz ounce ounces",
    "gallon": "gallon gallons",
    "liter": "liter liters litre litres",
    "ml": "ml milliliter milliliters",
    "kg": "kg kilo kilos kilogram kilograms",
    "pound": "lb lbs pound pounds",
    "watt": "watt watts w",
    "piece": "piece",
    "count": "count",
    "pack": "pack",
}
BY_WORD = {word: unit for unit, words in MEASURES.items() for word in words.split()}
# Found without being asked for; of the others only an answer is a size ("two pounds" is a quantity).
SURE = frozenset(("inch", "foot", "GB", "TB", "MB", "cm", "mm", "watt"))
ATTACHED = re.compile(
    r"(?<![\w.])(\d+(?:\.\d+)?)[ -]?(gb|tb|mb|cm|mm|ml|oz|kg|lbs?|ft|xl|w)\b|(?<![\w.])(\d{2}) ?x ?(\d{2})\b", re.I
)


class SizeParser:
    """Reads type `size`."""

    def find(self, line: str, context: ParseContext) -> list[Value]:
        return self._read(line, tokenise(line), asked=False)

    def answer(self, line: str, context: ParseContext) -> Value | None:
        tokens = tokenise(line)
        found = self._read(line, tokens, asked=True)
        if len(found) == 1 and all(
            token.key in _BESIDE for token in tokens if token.end <= found[0].start or token.start >= found[0].end
        ):
            return found[0]
        return None

    def _read(self, line: str, tokens: list[Token], *, asked: bool) -> list[Value]:
        keys = [token.key for token in tokens]
        attached = {match.start(): match for match in ATTACHED.finditer(line, 0, LONGEST)}
        found: list[Value] = []
        i = 0
        while i < len(tokens):
            match = attached.get(tokens[i].start)
            if match is not None:
                found.append(_value(line, match.start(), match.end(), _attached(match)))
                while i < len(tokens) and tokens[i].start < match.end():
                    i += 1
                continue
            read = _named(keys, i, asked) or _sized(keys, i) or _measured(keys, i, asked)
            if read is None:
                i += 1
            else:
                end, meaning = read
                found.append(_value(line, tokens[i].start, tokens[end - 1].end, meaning))
                i = end
        return found


_BESIDE = (
    normalise.SMALL_WORDS
    | normalise.PREPOSITIONS
    | word_set("size sized one ones i would like id take need want wear it is its a an in mens womens kids us my im")
)


def _named(keys: list[str], i: int, asked: bool) -> tuple[int, str] | None:
    if named := _phrase(keys, i):
        following = keys[named[0] : named[0] + 1]
        bed = keys[i] in ("queen", "king", "twin") and named[0] == i + 1
        if bed and not asked and following not in (["mattress"], ["bed"]):
            return None
        return None if following in (["talk"], ["business"], ["number"]) else named
    if asked and keys[i] in LETTERS and keys[i] != "x":
        return i + 1, LETTERS[keys[i]]
    return None


def _phrase(keys: list[str], i: int) -> tuple[int, str] | None:
    """The longest name of a size that begins here, within the line."""
    for end in range(min(i + LONGEST_NAME, len(keys)), i, -1):
        if name := PHRASES.get(tuple(keys[i:end])):
            return end, name
    return None


def _sized(keys: list[str], i: int) -> tuple[int, str] | None:
    """ "size ten and a half", "size M"."""
    if keys[i] not in ("size", "sizes", "sz") or i + 1 >= len(keys):
        return None
    j = i + 1
    while j < len(keys) and keys[j] in ("a", "is", "of", "number", "us"):
        j += 1
    if j >= len(keys):
        return None
    if keys[j] in LETTERS:
        return j + 1, LETTERS[keys[j]]
    if named := _phrase(keys, j):
        return named
    pair = _by(keys, j)
    if pair is not None:
        return pair
    number = read_number(keys, j)
    return None if number is None else (number[0], _text(number[1]))


def _measured(keys: list[str], i: int, asked: bool) -> tuple[int, str] | None:
    pair = _by(keys, i)
    if pair is not None:
        return pair
    number = read_number(keys, i)
    if number is None:
        return None
    end, amount = number
    unit = BY_WORD.get(keys[end]) if end < len(keys) else None
    if unit is not None and (asked or unit in SURE):
        return end + 1, f"{_text(amount)} {unit}"
    return (end, _text(amount)) if asked else None


def _by(keys: list[str], i: int) -> tuple[int, str] | None:
    """ "thirty two by thirty four": waist and length."""
    first = read_number(keys, i)
    if first is None or keys[first[0] : first[0] + 1] not in (["by"], ["x"]):
        return None
    second = read_number(keys, first[0] + 1)
    if second is None:
        return None
    return second[0], f"{_text(first[1])}x{_text(second[1])}"


def _attached(match: re.Match[str]) -> str:
    if match[3]:
        return f"{match[3]}x{match[4]}"
    unit = match[2].lower()
    if unit == "xl":
        return {"2": "XXL", "3": "XXXL"}.get(match[1], f"{match[1]}XL")
    return f"{match[1]} {BY_WORD.get(unit, unit)}"


def _text(amount: float) -> str:
    return f"{amount:g}" if amount < 1_000_000 else str(amount)


def _value(line: str, start: int, end: int, meaning: str) -> Value:
    return Value(type="size", text=line[start:end], start=start, end=end, value=meaning)
