"""Dates by the calendar: holidays, months, seasons, "november 20", "the 20th", "11/20"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime

from dialog.values.number import read_number
from dialog.values.tokens import word_set
from dialog.values.when import days
from dialog.values.when.words import DOUBTFUL_MONTHS, FRACTIONS, ISO, MONTHS, ORDINALS, SEASONS, SLASHED, SUFFIXES

# "christmas trees" are no date.
SEASONAL_GOODS = word_set(
    "tree trees pudding puddings light lights decoration decorations cookie cookies gift gifts card cards "
    "costume costumes candy sweater sweaters ornament ornaments wreath wreaths present presents stocking "
    "stockings egg eggs basket bunny song songs music movie movies"
)
WHICH = word_set("this next last coming upcoming past following previous")
STREETS = word_set("street avenue ave st floor and of place century anniversary")


@dataclass(frozen=True, slots=True)
class Stretch:
    first: date
    last: date
    part: str = ""
    now: bool = False
    score: float = 1.0


Read = tuple[int, Stretch] | None
"""The token after a phrase, and what it means."""


def one_day(day: date, part: str = "") -> Stretch:
    return Stretch(day, day, part)


def if_any(end: int, day: date | None) -> Read:
    return None if day is None else (end, one_day(day))


class CalendarReader:
    """Reads one line, on one day. Each method reads from token `i` and gives None when something else stands there."""

    def __init__(self, keys: list[str], breaks: frozenset[int], now: datetime, *, asked: bool) -> None:
        self.keys, self.breaks, self.now, self.asked = keys, breaks, now, asked
        self.today = now.date()

    def at(self, i: int) -> str:
        return self.keys[i] if 0 <= i < len(self.keys) else ""

    def words(self, i: int, *phrase: str) -> bool:
        return self.keys[i : i + len(phrase)] == list(phrase)

    def _holiday(self, i: int) -> Read:
        which = self.at(i)
        j = i + 1 if which in ("this", "next", "coming") else i
        for n in (4, 3, 2, 1):
            name = " ".join(self.keys[j : j + n])
            if j + n > len(self.keys) or name not in days.HOLIDAYS:
                continue
            if self.at(j + n) in SEASONAL_GOODS and j + n - 1 not in self.breaks:
                return None
            day = days.holiday(self.today, name)
            if self.at(j + n) == "weekend":
                return j + n + 1, Stretch(*days.holiday_weekend(day))
            if self.at(j + n) == "week":
                return j + n + 1, Stretch(*days.week(day, 0))
            return j + n, one_day(day)
        return None

    def _months(self, i: int) -> Read:
        today = self.today
        which = self.at(i)
        if which == "the" and self.at(i + 1) in WHICH:
            return self._months(i + 1)
        if which in WHICH:
            step = {"next": 1, "following": 1, "last": -1, "past": -1, "previous": -1}.get(which, 0)
            if self.at(i + 1) == "month":
                first, last = days.month(today.year, today.month + step)
                return i + 2, Stretch(today if step == 0 else first, last)
            if self.at(i + 1) == "year":
                year = min(max(today.year + step, 1), 9998)
                return i + 2, Stretch(today if step == 0 else date(year, 1, 1), date(year, 12, 31))
            if self.at(i + 1) in SEASONS:
                return i + 2, Stretch(*days.season(today, self.at(i + 1)))
            if self.at(i + 1) in MONTHS and which in ("this", "next", "coming"):
                number = MONTHS[self.at(i + 1)]
                if self._day_number(i + 2) is None:
                    return i + 2, Stretch(*days.next_month_named(today, number))
        if (
            self.at(i - 1) in ("in", "during", "the")
            and which in SEASONS
            and self.at(i - 2) in ("in", "during", "over", "for", "at")
        ):
            return i + 1, Stretch(*days.season(today, which))
        if self.at(i - 1) in ("in", "during") and which in ("summer", "winter"):
            return i + 1, Stretch(*days.season(today, which))
        named = MONTHS.get(which)
        if named is not None and (
            which not in DOUBTFUL_MONTHS
            or self.asked
            or self.at(i - 1) in ("in", "during", "early", "late", "mid", "of", "until", "since", "by")
        ):
            if re.fullmatch(r"20\d\d", self.at(i + 1)):
                return i + 2, Stretch(*days.month(int(self.at(i + 1)), named))
            return i + 1, Stretch(*days.next_month_named(today, named))
        return None

    def _calendar(self, i: int) -> Read:
        key, today = self.at(i), self.today
        iso = ISO.fullmatch(key)
        if iso is not None:
            return if_any(i + 1, days.on(today, int(iso[2]), int(iso[3]), int(iso[1])))
        slashed = SLASHED.fullmatch(key)
        if slashed is not None and (key not in FRACTIONS or self.at(i - 1) in ("on", "by", "for", "until")):
            year = int(slashed[3]) if slashed[3] else None
            year = year + 2000 if year is not None and year < 100 else year
            return if_any(i + 1, days.on(today, int(slashed[1]), int(slashed[2]), year))
        number = MONTHS.get(key)
        if number is not None:
            j = i + 2 if self.at(i + 1) in ("the", "on") else i + 1
            day = self._day_number(j)
            if day is None:
                return None
            return self._with_year(day[0], number, day[1])
        j = i + 1 if key == "the" else i
        day = self._day_number(j)
        if day is None:
            return None
        after = day[0] + 1 if self.at(day[0]) == "of" else day[0]
        number = MONTHS.get(self.at(after))
        if number is not None:
            return self._with_year(after + 1, number, day[1])
        if self.words(after, "this", "month") or self.words(after, "next", "month"):
            first, last = days.month(today.year, today.month + (self.at(after) == "next"))
            return (after + 2, one_day(first.replace(day=day[1]))) if day[1] <= last.day else None
        written = self.at(day[0] - 1) in SUFFIXES
        if written and (j > i or self.asked or self.at(i - 1) in ("on", "by")) and self.at(day[0]) not in STREETS:
            return if_any(day[0], days.day_of_month(today, day[1]))
        spoken = not self.at(j)[:1].isdigit() and (self.at(i - 1) in ("on", "by", "until") or self.asked) and j > i
        if spoken and (day[0] - 1 in self.breaks or day[0] >= len(self.keys)):
            return if_any(day[0], days.day_of_month(today, day[1]))
        return None

    def _with_year(self, end: int, number: int, day: int) -> Read:
        year = self.at(end)
        if re.fullmatch(r"20\d\d", year):
            return if_any(end + 1, days.on(self.today, number, day, int(year)))
        return if_any(end, days.on(self.today, number, day))

    def _day_number(self, i: int) -> tuple[int, int] | None:
        """1 to 31: "20", "20th", "twentieth", "twenty first", "twenty"."""
        key = self.at(i)
        if re.fullmatch(r"\d{1,2}", key):
            end = i + 2 if self.at(i + 1) in SUFFIXES else i + 1
            return (end, int(key)) if 1 <= int(key) <= 31 else None
        if key in ORDINALS:
            return i + 1, ORDINALS[key]
        if key in ("twenty", "thirty") and ORDINALS.get(self.at(i + 1), 10) < 10:
            day = (20 if key == "twenty" else 30) + ORDINALS[self.at(i + 1)]
            return (i + 2, day) if day <= 31 else None
        read = read_number(self.keys, i) if key and key not in ("a", "an", "half", "dozen") else None
        if read is not None and read[1] == int(read[1]) and 1 <= read[1] <= 31 and not key[0].isdigit():
            return read[0], int(read[1])
        return None
