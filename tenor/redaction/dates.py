"""Dates with a day, a month and perhaps a year, written or spoken."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tenor.redaction.numbers.spoken import TEENS, TENS, UNITS
from tenor.redaction.tokens import Token

_MONTHS = (
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec"
)
MONTHS = frozenset(_MONTHS.split())
_SMALL_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth"
_LARGE_ORDINALS = "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth"
ORDINALS = frozenset(f"{_SMALL_ORDINALS} {_LARGE_ORDINALS}".split())
_MONTH_ORDINALS = frozenset(_SMALL_ORDINALS.split()[:12])
ORDINAL = re.compile(r"\d{1,2}(st|nd|rd|th)")
_DAY = re.compile(r"([12]?\d|3[01])(st|nd|rd|th)?")
_YEAR = re.compile(r"(19|20)\d\d")
_WRITTEN = re.compile(
    r"(?P<a>\d{1,2})(?P<sign>\D+)(?P<b>\d{1,2})(?P=sign)(?P<year>\d{4}|(?<=[/.\-])\d{2})"
    r"|(?P<first>\d{4})(?P<signs>\D+)(?P<c>\d{1,2})(?P=signs)(?P<d>\d{1,2})"
)
_FULL_YEAR = re.compile(r"\d{4}")
_DIGITS = re.compile(r"\d+")
_MONTH = re.compile(r"(\d|1[0-2])(st|nd|rd|th)")
_SKIP = frozenset({"the", "of", "in", "dash", "hyphen", "slash", "dot", "space", "comma", "underscore"})
_LONGEST_YEAR = 4
"""Words: `two thousand and one`."""
_CENTURIES = frozenset({"nineteen", "twenty", "two"})


@dataclass(frozen=True, slots=True)
class Date:
    first: int
    last: int
    year: int
    """0: none was said, or no day."""
    in_digits: bool = False
    """`03/03/1982`, without the name of the month."""


def dates(tokens: list[Token]) -> list[Date]:
    found: list[Date] = []
    if any(token.core in MONTHS for token in tokens):
        tokens, places = _apart(tokens)
    else:
        places = range(len(tokens))
    for at in range(len(tokens)):
        if found and at <= found[-1].last:
            continue
        free_from = found[-1].last + 1 if found else 0
        if date := _written(tokens, at):
            found.append(date)
        elif tokens[at].core in MONTHS:
            named = _year_first(tokens, at, free_from) or _around(tokens, at, free_from)
            if named is not None:
                found.append(_with_year_before(tokens, named, free_from))
        elif date := _in_ordinals(tokens, at):
            found.append(date)
    return [replace(date, first=places[date.first], last=places[date.last]) for date in found]


def _apart(tokens: list[Token]) -> tuple[list[Token], Sequence[int]]:
    """Tokens in which a day and a year beside a month are two: `Mar/03/1982`; and whose part each is."""
    parts: list[Token] = []
    places: list[int] = []
    for at, token in enumerate(tokens):
        beside = any(other.core in MONTHS for other in tokens[max(0, at - 1) : at + 2])
        found = _DIGITS.findall(token.core) if beside and token.core[0].isdigit() else []
        cores = found if len(found) > 1 and any(len(digits) == 4 for digits in found) else [token.core]
        parts += (token._replace(core=core) for core in cores)
        places += [at] * len(cores)
    return parts, places


def _written(tokens: list[Token], at: int) -> Date | None:
    """`03/03/1982`, `1982|3|3`."""
    last, text = at, tokens[at].core
    if not text[0].isdigit():
        return None
    if text.isdigit() and len(text) <= 4:
        beside = [*tokens[max(0, at - 1) : at], *tokens[at + 3 : at + 4]]
        three = tokens[at : at + 3]
        if len(three) < 3 or (not three[1].lead.strip() and any(token.core[0].isdigit() for token in beside)):
            return None  # a part of a longer number
        if any(token.lead == three[1].lead for token in (three[0], *tokens[at + 3 : at + 4])) and any(
            token.core.isdigit() for token in beside
        ):
            return None
        last, text = at + 2, f"{text}{three[1].lead}{three[1].core}{three[2].lead}{three[2].core}"
        if not _FULL_YEAR.search(text):
            return None
    if not (match := _WRITTEN.fullmatch(text)):
        return None
    year = _century(int(match["year"] or match["first"]))
    if "," in (match["sign"], match["signs"]) or not _possible(
        int(match["a"] or match["c"]), int(match["b"] or match["d"]), year
    ):
        return None
    return Date(at, last, year, in_digits=True)


def _possible(day: int, month: int, year: int) -> bool:
    """Not a sort code, not the groups of a card; day and month in either order."""
    return min(day, month) >= 1 and min(day, month) <= 12 and max(day, month) <= 31 and 1900 <= year < 2100


def _in_ordinals(tokens: list[Token], first: int) -> Date | None:
    """`the fourth of the seventh eighty two`, `4th of the 7th 82`."""
    if all(token.core != "of" for token in tokens[first + 1 : first + 3]):
        return None
    day = _day(tokens, first)
    last = first + day - 1
    if not day or not (tokens[last].core in ORDINALS or ORDINAL.fullmatch(tokens[last].core)):
        return None
    at = last + 1
    cores = [token.core for token in tokens[at : at + 3]]
    if cores[:1] != ["of"]:
        return None
    at += 2 if cores[1:2] == ["the"] else 1
    if at >= len(tokens) or not (tokens[at].core in _MONTH_ORDINALS or _MONTH.fullmatch(tokens[at].core)):
        return None
    last = at
    year, used = _year_after(tokens, last)
    return Date(first, used or last, year)


def _year_after(tokens: list[Token], at: int) -> tuple[int, int]:
    """The year behind token `at`, and its last token; 0 when there is none."""
    at += 1
    while at < len(tokens) and tokens[at].core in _SKIP:
        at += 1
    year, used = _year(tokens, at)
    return year, at + used - 1 if used else 0


def _year_before(tokens: list[Token], end: int, free_from: int) -> tuple[int, int]:
    """The full year before token `end`, and its first token; 0 when there is none, or when it may be a day."""
    while end > free_from and tokens[end - 1].core in _SKIP:
        end -= 1
    for first in range(max(free_from, end - _LONGEST_YEAR), end):
        year, used = _year(tokens, first)
        full = tokens[first].core in _CENTURIES or bool(_YEAR.fullmatch(tokens[first].core))
        if full and used == end - first and _day(tokens, first) != used:
            return year, first
    return 0, 0


def _year_first(tokens: list[Token], month: int, free_from: int) -> Date | None:
    """`nineteen eighty two July fourth`."""
    year, first = _year_before(tokens, month, free_from)
    day = _day(tokens, month + 1)
    return Date(first, month + day, year) if year and day and not _year_after(tokens, month + day)[0] else None


def _with_year_before(tokens: list[Token], date: Date, free_from: int) -> Date:
    """`nineteen eighty two, the fourth of July`."""
    year, first = _year_before(tokens, date.first, free_from) if not date.year else (0, 0)
    return Date(first, date.last, year) if year else date


def _century(year: int) -> int:
    if year >= 100:
        return year
    return 1900 + year if year > 25 else 2000 + year


def _around(tokens: list[Token], month: int, free_from: int) -> Date | None:
    """`3rd of March 1982`, `March third nineteen eighty two`, `March 3`."""
    first, at = month, month + 1
    day = _day_before(tokens, month, free_from)
    if day is not None:
        first = day
    else:
        while at < len(tokens) and tokens[at].core in _SKIP:
            at += 1
        used = _day(tokens, at)
        if not used:
            year, last = _year_after(tokens, month)
            return Date(first, last, 0) if year else None
        at += used
    year, last = _year_after(tokens, at - 1)
    return Date(first, last or at - 1, year)


def _day_before(tokens: list[Token], month: int, free_from: int) -> int | None:
    at = month - 1
    while at >= free_from and tokens[at].core in _SKIP:
        at -= 1
    for length in (2, 1):
        if at - length + 1 >= free_from and _day(tokens, at - length + 1) == length:
            return at - length + 1
    return None


def _day(tokens: list[Token], at: int) -> int:
    """How many tokens the day at `at` takes; 0 when there is none."""
    if at >= len(tokens):
        return 0
    core = tokens[at].core
    following = tokens[at + 1].core if at + 1 < len(tokens) else ""
    if core in ("twenty", "thirty") and (following in ORDINALS or following in UNITS):
        return 2
    return int(core in ORDINALS or bool(_DAY.fullmatch(core)) or core in TEENS or core in UNITS or core in TENS)


def _year(tokens: list[Token], at: int) -> tuple[int, int]:
    """The year at `at`, and how many tokens it takes."""
    cores = [token.core for token in tokens[at : at + 4]] + [""] * 4
    if _YEAR.fullmatch(cores[0]):
        return int(cores[0]), 1
    if cores[:2] == ["two", "thousand"]:
        skip = 3 if cores[2] == "and" else 2
        rest, used = _two_digits(cores[skip:])
        return 2000 + rest, skip + used if used else 2
    if cores[0] in ("oh", "o", "zero") and cores[1] in UNITS:
        return 2000 + int(UNITS[cores[1]]), 2
    if cores[0] in ("nineteen", "twenty"):
        century = 1900 if cores[0] == "nineteen" else 2000
        if cores[1] in ("oh", "o") and cores[2] in UNITS:
            return century + int(UNITS[cores[2]]), 3
        rest, used = _two_digits(cores[1:])
        if used and rest >= 10:
            return century + rest, 1 + used
    rest, used = _two_digits(cores)
    return (_century(rest), used) if used and rest >= 26 else (0, 0)


def _two_digits(cores: list[str]) -> tuple[int, int]:
    core, following = cores[0], cores[1] if len(cores) > 1 else ""
    if core in TENS:
        if following in UNITS:
            return int(TENS[core] + UNITS[following]), 2
        return int(TENS[core]) * 10, 1
    if core in TEENS:
        return int(TEENS[core]), 1
    if core in UNITS:
        return int(UNITS[core]), 1
    return (int(core), 1) if re.fullmatch(r"\d\d", core) else (0, 0)
