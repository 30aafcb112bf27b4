"""Limits of a price: "under $50", "between twenty and forty dollars", "50 bucks or less".

value {"least": 20, "most": 40}; the one that nobody said is absent
"""

from __future__ import annotations

from typing import Final

from dialog.values.number import read_number
from dialog.values.tokens import Token, tokenise, word_set
from dialog.values.types import ParseContext, Value

_MOST: Final = (
    "no more than;not more than;not over;nothing over;nothing above;less than;lower than;cheaper than;at most;up to;"
    "a maximum of;maximum of;maximum;max;under;below;within;beneath;not exceeding"
)
_LEAST: Final = (
    "no less than;not less than;not under;nothing under;nothing below;more than;higher than;at least;a minimum of;"
    "minimum of;minimum;min;over;above;upwards of;starting at"
)
_CUES: Final = sorted(
    [(tuple(phrase.split()), "most") for phrase in _MOST.split(";")]
    + [(tuple(phrase.split()), "least") for phrase in _LEAST.split(";")],
    key=lambda cue: -len(cue[0]),
)
_BEHIND: Final = {
    ("or", "less"): "most", ("or", "under"): "most", ("or", "below"): "most", ("or", "cheaper"): "most",
    ("and", "under"): "most", ("and", "below"): "most", ("max",): "most", ("maximum",): "most", ("tops",): "most",
    ("at", "most"): "most", ("or", "more"): "least", ("or", "over"): "least", ("and", "up"): "least",
    ("and", "above"): "least", ("minimum",): "least", ("at", "least"): "least",
}  # fmt: skip
_CURRENCY: Final = word_set("dollar dollars buck bucks usd")
_CLOSES: Final = word_set("please thanks or and in at for that with from near if is are do there")
"""After a number without a currency: what is measured is not said, so it is a price."""


class PriceParser:
    """Reads type `price`. A number alone is a limit only in an answer, or behind words that can mean nothing else."""

    def find(self, line: str, context: ParseContext) -> list[Value]:
        tokens = tokenise(line)
        keys = [token.key for token in tokens]
        found: list[Value] = []
        i = 0
        while i < len(tokens):
            read = _between(keys, i) or _limit(keys, i) or _limited_behind(keys, i)
            if read is None:
                i += 1
            else:
                end, limits = read
                found.append(_value(line, tokens, i, end, limits))
                i = end
        return found

    def answer(self, line: str, context: ParseContext) -> Value | None:
        if found := self.find(line, context):
            return found[0]
        tokens = tokenise(line)
        keys = [token.key for token in tokens]
        for i in range(len(tokens)):
            if amount := _amount(keys, i):
                return _value(line, tokens, i, amount[0], {"most": amount[1]})
        return None


def _amount(keys: list[str], i: int) -> tuple[int, float, bool] | None:
    """Where the amount that begins here ends, how much it is, and whether its currency is said."""
    signed = keys[i : i + 1] == ["$"]
    number = read_number(keys, i + signed)
    if number is None or number[1] <= 0:
        return None
    end, amount = number
    worded = keys[end : end + 1] != [] and keys[end] in _CURRENCY
    return end + worded, amount, signed or worded


def _between(keys: list[str], i: int) -> tuple[int, dict[str, float]] | None:
    """ "between 20 and 40 dollars", "$20 to $40"."""
    opened = keys[i] in ("between", "from")
    first = _amount(keys, i + opened)
    if (
        first is None
        or keys[first[0] : first[0] + 1] not in (["and"], ["to"])
        or (keys[first[0]] == "and" and not opened)
    ):
        return None
    second = _amount(keys, first[0] + 1)
    if second is None or not (first[2] or second[2]) or second[1] < first[1]:
        return None
    return second[0], {"least": first[1], "most": second[1]}


def _limit(keys: list[str], i: int) -> tuple[int, dict[str, float]] | None:
    """ "under fifty dollars"."""
    for words, bound in _CUES:
        if tuple(keys[i : i + len(words)]) != words:
            continue
        amount = _amount(keys, i + len(words))
        if amount is None:
            return None
        end, limit, currency = amount
        if currency or end == len(keys) or keys[end] in _CLOSES:
            return end, {bound: limit}
        return None
    return None


def _limited_behind(keys: list[str], i: int) -> tuple[int, dict[str, float]] | None:
    """ "50 dollars or less"."""
    amount = _amount(keys, i)
    if amount is None or not amount[2]:
        return None
    end, limit, _ = amount
    for size in (2, 1):
        if bound := _BEHIND.get(tuple(keys[end : end + size])):
            return end + size, {bound: limit}
    return None


def _value(line: str, tokens: list[Token], first: int, end: int, limits: dict[str, float]) -> Value:
    start, stop = tokens[first].start, tokens[end - 1].end
    return Value(type="price", text=line[start:stop], start=start, end=stop, value=limits)
