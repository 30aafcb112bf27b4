"""Runs of digits, written or spoken: `4111 1111`, `four one double one`, `forty-one eleven`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tenor.redaction.tokens import Token

_DIGITS = "zero one two three four five six seven eight nine"
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
UNITS = {word: str(value) for value, word in enumerate(_DIGITS.split())}
UNITS |= {"oh": "0", "o": "0", "nought": "0", "naught": "0", "aught": "0"}
TEENS = {word: str(value) for value, word in enumerate(_TEENS.split(), start=10)}
TENS = {word: str(value) for value, word in enumerate(_TENS.split(), start=2)}
TIMES = {"double": 2, "triple": 3, "treble": 3, "quadruple": 4}
SOUND_ALIKE = {"to": "2", "too": "2", "for": "4", "or": "4", "ate": "8", "won": "1"}
"""How recognisers write digits inside a number."""
SCALES = frozenset({"hundred", "thousand", "million", "billion", "point"})
BETWEEN = frozenset(
    {"uh", "um", "er", "erm", "uhm", "dash", "hyphen", "space", "then", "slash", "-", "\u2013", "\u2014", "/"}
)
"""May stand inside a number that is being read out."""
_WRITTEN = re.compile(r"\+?\(?\d[\d(),./*_\-\u2010-\u2015]*")
_GROUP = re.compile(r"\d+")
_QUANTITY = re.compile(r"\d{1,3}(,\d{3})+\.\d+|\d+\.\d{1,2}")
_THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+")
_MANY = {f"{word}s": digit for word, digit in UNITS.items()} | {f"{digit}s": digit for digit in "0123456789"}
_MANY |= {"sixes": "6", "zeroes": "0"}
"""`four ones`."""
_COUNTS = frozenset("23456789")
_SIGNS = re.compile(r"^[\W_]+|[\W_]+$")


@dataclass(frozen=True, slots=True)
class Run:
    first: int
    last: int
    """Tokens, both included."""
    digits: str
    spelled: bool
    """Digit by digit, in words; also where a recogniser made hundreds of three of them."""
    pieces: int
    """In how many numbers it was said: `forty one eleven` and `555-0199` are two."""
    plus: bool
    """Began with +."""
    scaled: bool
    """`five hundred`, `1,500`, `three point two`: one quantity. Several in a row are a number that is read out."""


def runs(tokens: list[Token]) -> list[Run]:
    found = []
    at = 0
    while at < len(tokens):
        run = _run(tokens, at) or _card_behind_a_sign(tokens, at)
        if run is None:
            at += 1
        else:
            found.append(run)
            at = run.last + 1
    return found


def is_card(digits: str) -> bool:
    """Whether it is as long as a card number, with a check digit that fits."""
    return 13 <= len(digits) <= 19 and luhn(digits)


def luhn(digits: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _run(tokens: list[Token], first: int) -> Run | None:
    at, last, pieces, quantities = first, first, 0, 0
    digits, scale = "", ""
    spelled, plus, any_scale = True, False, False
    while at < len(tokens):
        core = tokens[at].core
        if digits and core in BETWEEN:
            at += 1
            continue
        if digits and core in SCALES and not scale:
            scale, any_scale = core, True
            last, at = at, at + 1
            continue
        piece, used = _piece(tokens, at)
        if not piece and spelled and quantities >= 2:
            piece, used = _misheard(tokens, at)
        if not piece:
            break
        plus = plus or (not digits and core.startswith("+"))
        any_scale = any_scale or bool(_THOUSANDS.fullmatch(core))
        if scale == "hundred" and len(piece) <= 2:
            digits += piece.zfill(2)  # "four hundred (and) five" are the digits 405
        else:
            digits += "00" * (scale == "hundred") + piece
            goes_on = scale in ("thousand", "million", "billion", "point")
            quantities += not goes_on
            spelled = spelled and (core in UNITS or core in TIMES or core in SOUND_ALIKE)
        scale = scale if scale == "point" else ""
        pieces += len(_GROUP.findall(core)) or 1
        last, at = at + used - 1, at + used
    if not digits or all(token.core in ("oh", "o") for token in tokens[first : last + 1]):
        return None  # words, not digits
    digits += "00" * (scale == "hundred")
    return Run(first, last, digits, spelled, pieces, plus, any_scale and quantities == 1)


def _card_behind_a_sign(tokens: list[Token], at: int) -> Run | None:
    """`$4111111111111111` is no amount."""
    bare = _SIGNS.sub("", tokens[at].core)
    if bare == tokens[at].core or not bare[:1].isdigit():
        return None
    run = _run([*tokens[:at], tokens[at]._replace(core=bare), *tokens[at + 1 :]], at)
    return run if run is not None and is_card(run.digits) else None


def _misheard(tokens: list[Token], at: int) -> tuple[str, int]:
    """`five nine three to six`, `three seven too`: inside and at the end of a number, words are digits."""
    if at + 1 < len(tokens) and tokens[at + 1].core not in UNITS:
        return "", 0
    digit = SOUND_ALIKE.get(tokens[at].core, "")
    return digit, int(bool(digit))


def _piece(tokens: list[Token], at: int) -> tuple[str, int]:
    """Digits of the number at `at`, and how many tokens it takes."""
    core = tokens[at].core
    following = tokens[at + 1].core if at + 1 < len(tokens) else ""
    if following in _MANY and (count := UNITS.get(core, core)) in _COUNTS:
        return _MANY[following] * int(count), 2
    if core in UNITS:
        return UNITS[core], 1
    if core in TEENS:
        return TEENS[core], 1
    if core in TENS:
        if following in UNITS and following not in ("zero", "oh", "o"):
            return TENS[core] + UNITS[following], 2
        return TENS[core] + "0", 1
    if core in TIMES:
        digit = UNITS.get(following) or (following if len(following) == 1 and following.isdigit() else "")
        return (digit * TIMES[core], 2) if digit else ("", 0)
    if _WRITTEN.fullmatch(core) and not _QUANTITY.fullmatch(core):
        return "".join(filter(str.isdigit, core)), 1
    return "", 0
