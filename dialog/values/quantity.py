"""Quantities: a number with or without a unit.

value {"amount": 2, "unit": "pound"}; the unit is empty when things are counted ("three bananas", "a dozen eggs")
"""

from __future__ import annotations

from dialog.values import normalise
from dialog.values.number import ONE_AFTER, read_number
from dialog.values.tokens import Token, tokenise, word_set
from dialog.values.types import ParseContext, Value

UNITS = {
    "pound": "pound pounds lb lbs",
    "ounce": "ounce ounces oz ozs",
    "gram": "gram grams g gr",
    "kilogram": "kilogram kilograms kilo kilos kg kgs",
    "gallon": "gallon gallons gal gals",
    "quart": "quart quarts qt qts",
    "pint": "pint pints",
    "liter": "liter liters litre litres l",
    "milliliter": "milliliter milliliters millilitre ml",
    "cup": "cup cups",
    "pair": "pair pairs",
    "pack": "pack packs package packages packet packets",
    "box": "box boxes",
    "bag": "bag bags",
    "bottle": "bottle bottles",
    "can": "can cans",
    "carton": "carton cartons",
    "case": "case cases",
    "jar": "jar jars",
    "loaf": "loaf loaves",
    "bunch": "bunch bunches",
    "roll": "roll rolls",
    "set": "set sets",
    "piece": "piece pieces pc pcs",
    "slice": "slice slices",
    "head": "head heads",
    "tube": "tube tubes",
    "bucket": "bucket buckets",
    "sheet": "sheet sheets",
    "foot": "foot feet ft",
    "yard": "yard yards yd",
    "meter": "meter meters metre metres",
    "inch": "inch inches",
    "ton": "ton tons",
    "tray": "tray trays",
    "six-pack": "sixpack",
}

# Sizes, unless something is sold by them: "ten feet of rope".
LENGTHS = ("inch", "foot", "yard", "meter")
BY_WORD = {word: unit for unit, words in UNITS.items() for word in words.split()}
# With "a" these are verbs or other things more often ("a can", "a set", "a head"): "of" must follow.
AFTER_ARTICLE = word_set("pound pounds ounce gallon quart pint liter litre kilo pair dozen bunch loaf")
NOT_COUNTED = word_set(
    "am pm oclock percent dollars dollar bucks cents minutes minute hours hour days day weeks week months "
    "month years year miles mile stars star degrees inch inches inchs in gb tb mb mm cm foot feet ft watt "
    "watts volt volts people kids st nd rd th by x or to and times piece"
)
BEFORE_COUNT = word_set(
    "need want have get buy got take order reserve hold of for with and the these those about least most "
    "exactly around me any all only just add another maybe like are is sell carry give grab are"
)
CHANGED_TO = (("make", "it"), ("make", "that"), ("make", "them"), ("it", "to"), ("that", "to"), ("change", "to"))
DIVIDED = ("half", "quarter", "third")
ENDS = word_set("of in left at please for")


class QuantityParser:
    """Reads type `quantity`."""

    def find(self, line: str, context: ParseContext) -> list[Value]:
        tokens = tokenise(line)
        keys = [token.key for token in tokens]
        found, i = [], 0
        while i < len(tokens):
            read = self._with_unit(keys, i) or self._counted(keys, i)
            if read is None:
                number = read_number(keys, i)
                i = i + 1 if number is None else max(number[0], i + 1)
            else:
                found.append(_value(line, tokens, i, *read))
                i = read[0]
        return found

    def answer(self, line: str, context: ParseContext) -> Value | None:
        tokens = tokenise(line)
        keys = [token.key for token in tokens]
        first, last = normalise.trim(tokens, prepositions=False)
        while first < last and keys[first] in ("about", "around", "for", "the", "like", "only", "exactly", "roughly"):
            first += 1
        if first >= last:
            return None
        read = self._with_unit(keys, first)
        if read is None and (number := read_number(keys, first)) is not None:
            read = (number[0], number[1], "")
        if read is None or read[0] > last:
            return None
        rest = keys[read[0] : last]
        if len(rest) > 3 or (rest and (rest[0] in NOT_COUNTED or not all(key.isalpha() for key in rest))):
            return None
        return _value(line, tokens, first, *read)

    def _with_unit(self, keys: list[str], i: int) -> tuple[int, float, str] | None:
        if i and keys[i - 1] in ("$", "#", "size"):
            return None
        number = read_number(keys, i)
        if number is not None:
            end, amount = number
            if keys[end : end + 1] in (["of"], ["a"]) and keys[end + 1 : end + 2] and keys[end + 1] in BY_WORD:
                end += 1
            unit = BY_WORD.get(keys[end]) if end < len(keys) else None
            length = unit in LENGTHS and keys[end + 1 : end + 2] != ["of"]
            if unit is not None and amount > 0 and not length:
                return end + 1, amount, unit
        one = keys[i] in ("a", "an") and i + 1 < len(keys) and keys[i + 1] in BY_WORD
        if one and (keys[i + 1] in AFTER_ARTICLE or keys[i + 2 : i + 3] == ["of"]):
            return i + 2, 1, BY_WORD[keys[i + 1]]
        if keys[i] in ("to", "too") and keys[i + 2 : i + 3] == ["of"] and _is_plural(keys[i + 1]):
            return i + 2, 2, BY_WORD[keys[i + 1]]  # "two pounds of", as recognisers write it
        the = keys[i] == "the"
        if _one_of(keys, i + the) and (the or not i or keys[i - 1] not in DIVIDED):
            return i + the + 1, 1, BY_WORD[keys[i + the]]
        return None

    def _counted(self, keys: list[str], i: int) -> tuple[int, float, str] | None:
        """ "three bananas", "two of them"; not "iphone 17", "size ten", "nine pm", "the first one"."""
        number = read_number(keys, i)
        if number is None or number[1] <= 0 or number[1] != int(number[1]):
            return None
        end, amount = number
        following = keys[end] if end < len(keys) else ""
        if keys[i] == "one" and (following in ("of", "in", "") or (i and keys[i - 1] in ONE_AFTER)):
            return None
        if following in NOT_COUNTED or (following and not following.isalpha() and following != "%"):
            return None
        if following == "%" or (following.isalpha() and len(following) < 3 and following not in ENDS):
            return None
        changed = tuple(keys[max(i - 2, 0) : i]) in CHANGED_TO
        if i and not changed and (not following or keys[i - 1] not in BEFORE_COUNT):
            return None
        return end, amount, ""


def _is_plural(word: str) -> bool:
    return BY_WORD.get(word, word) != word


def _one_of(keys: list[str], i: int) -> bool:
    """ "gallon of" and "pair of": recognisers write "the" in place of "a", or leave it out."""
    return keys[i + 1 : i + 2] == ["of"] and keys[i] in AFTER_ARTICLE and BY_WORD.get(keys[i]) == keys[i]


def _value(line: str, tokens: list[Token], first: int, end: int, amount: float, unit: str) -> Value:
    start, stop = tokens[first].start, tokens[end - 1].end
    value = {"amount": amount, "unit": unit}
    return Value(type="quantity", text=line[start:stop], start=start, end=stop, value=value)


def in_plural(unit: str) -> str:
    return [*UNITS.get(unit, "").split(), unit, unit][1]
