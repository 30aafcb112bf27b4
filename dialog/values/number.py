"""Numbers, written and spoken: "12", "1,000", "two and a half", "thirty two", "a dozen"."""

from __future__ import annotations

import re

from dialog.values import normalise
from dialog.values.tokens import Token, tokenise, word_list, word_set
from dialog.values.types import ParseContext, Value

UNITS = {
    word: number
    for number, word in enumerate(
        word_list(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
            "seventeen eighteen nineteen"
        )
    )
}
TENS = {
    word: 10 * (number + 2)
    for number, word in enumerate(word_list("twenty thirty forty fifty sixty seventy eighty ninety"))
} | {"fourty": 40, "fourtie": 40, "ninty": 90, "fivty": 50}
GROUPS = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
LARGEST = 1e12
"""Nothing that is counted in a shop; more digits than this are no number but a code."""
DIGITS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
FRACTION = re.compile(r"(\d{1,2})/(\d{1,2})")
PARTS = {"half": 0.5, "quarter": 0.25, "third": 1 / 3}

# "the cheap one", "which one", "one of them": no number.
ONE_AFTER = word_set("the this that which another any every each other no last first next cheap cheapest only")


def read_number(keys: list[str], i: int) -> tuple[int, float] | None:
    """The number that begins at token `i`, and the token after it."""
    if i >= len(keys):
        return None
    simple = _simple(keys, i)
    if simple is None:
        return None
    end, amount = simple
    for words, more in ((("and", "a", "half"), 0.5), (("and", "one", "half"), 0.5), (("and", "a", "quarter"), 0.25)):
        if tuple(keys[end : end + 3]) == words and amount == int(amount):
            return end + 3, amount + more
    if keys[end : end + 1] == ["half"] and amount == int(amount) and amount <= 20:  # "ten half", as sizes are said
        return end + 1, amount + 0.5
    if keys[end : end + 1] == ["dozen"]:
        return end + 1, amount * 12
    if keys[end : end + 1] and (fraction := _fraction(keys[end])) is not None and keys[i].isdigit():
        return end + 1, amount + fraction  # "2 1/2"
    return end, amount


def _simple(keys: list[str], i: int) -> tuple[int, float] | None:
    key = keys[i]
    if key[0].isdigit():
        if DIGITS.fullmatch(key):
            amount = float(key.replace(",", ""))
            if amount > LARGEST:
                return None
            if keys[i + 1 : i + 2] and keys[i + 1] in GROUPS:
                return i + 2, _plain(amount * GROUPS[keys[i + 1]])
            return i + 1, _plain(amount)
        fraction = _fraction(key)
        return None if fraction is None else (i + 1, fraction)
    if key in ("a", "an"):
        following = keys[i + 1] if i + 1 < len(keys) else ""
        if following == "dozen":
            return i + 2, 12
        if following in GROUPS:
            return _groups(keys, i + 1)
        if following == "couple":
            return (i + 3, 2) if keys[i + 2 : i + 3] == ["of"] else (i + 2, 2)
        if following in PARTS and keys[i + 2 : i + 3] != ["one"]:
            return i + 2, PARTS[following]
        return None
    if key == "half":
        if keys[i + 1 : i + 3] == ["a", "dozen"] or keys[i + 1 : i + 2] == ["dozen"]:
            return (i + 3, 6) if keys[i + 1] == "a" else (i + 2, 6)
        return (i + 2, 0.5) if keys[i + 1 : i + 2] in (["a"], ["an"]) else (i + 1, 0.5)
    if key == "dozen":
        return i + 1, 12
    return _groups(keys, i)


def _groups(keys: list[str], i: int) -> tuple[int, float] | None:
    """ "two thousand three hundred and five": words only."""
    total, current, end, last_rank = 0, 0, i, 10_000_000
    any_word = False
    rank = 100
    while end < len(keys):
        key = keys[end]
        if key in UNITS:
            number = UNITS[key]
            if rank <= 1 or (rank == 10 and number >= 10):
                break
            current += number
            rank = 1
        elif key in TENS:
            if rank <= 10:
                break
            current += TENS[key]
            rank = 10
        elif key == "hundred":
            if current >= 100:
                break
            current = max(current, 1) * 100
            rank = 100
        elif key in GROUPS:
            if GROUPS[key] >= last_rank:
                break
            total += max(current, 1) * GROUPS[key]
            last_rank = GROUPS[key]
            current, rank = 0, 100
        elif key == "and" and any_word and keys[end - 1] in GROUPS and keys[end + 1 : end + 2]:
            following = keys[end + 1]
            if following not in UNITS and following not in TENS:
                break
        elif key == "point" and any_word and (decimals := _decimals(keys, end + 1)):
            return end + 1 + len(decimals), _plain(float(f"{total + current}.{decimals}"))
        else:
            break
        any_word = True
        end += 1
    return (end, total + current) if any_word else None


def _decimals(keys: list[str], i: int) -> str:
    digits = ""
    while i < len(keys) and UNITS.get(keys[i], 10) < 10:
        digits += str(UNITS[keys[i]])
        i += 1
    return digits


def _fraction(key: str) -> float | None:
    match = FRACTION.fullmatch(key)
    if match is None or not 0 < int(match[1]) < int(match[2]):
        return None
    return int(match[1]) / int(match[2])


def _plain(amount: float) -> float:
    """Whole numbers as such: JSON shows 2 and not 2.0."""
    return int(amount) if amount == int(amount) else amount


class NumberParser:
    """Reads type `number`: a plain number."""

    def find(self, line: str, context: ParseContext) -> list[Value]:
        tokens = tokenise(line)
        keys = [token.key for token in tokens]
        found, i = [], 0
        while i < len(tokens):
            number = None if _is_pronoun(keys, i) else read_number(keys, i)
            if number is None:
                i += 1
            else:
                found.append(_value(line, tokens, i, number[0], number[1]))
                i = number[0]
        return found

    def answer(self, line: str, context: ParseContext) -> Value | None:
        tokens = tokenise(line)
        keys = [token.key for token in tokens]
        first, last = normalise.trim(tokens, prepositions=False)
        while first < last and keys[first] in normalise.PREPOSITIONS and keys[first] not in ("a", "an"):
            first += 1
        if first >= last:
            return None
        if keys[first] in ("a", "an") and last - first == 1:
            return None
        number = read_number(keys, first)
        if number is None or any(key not in _COUNTED for key in keys[number[0] : last]):
            return None
        return _value(line, tokens, first, number[0], number[1])


_COUNTED = word_set("of them those these pieces piece items item ones units people persons times only")


def _is_pronoun(keys: list[str], i: int) -> bool:
    if keys[i] == "half":
        return i > 0 and keys[i - 1] in ("the", "other")
    return keys[i] == "one" and (
        (i > 0 and (keys[i - 1] in ONE_AFTER or keys[i - 1].endswith("est")))
        or keys[i + 1 : i + 2] in (["of"], ["in"], ["that"], ["with"])
        or i + 1 == len(keys) > 1
    )


def _value(line: str, tokens: list[Token], first: int, end: int, amount: float) -> Value:
    start, stop = tokens[first].start, tokens[end - 1].end
    return Value(type="number", text=line[start:stop], start=start, end=stop, value=_plain(amount))
