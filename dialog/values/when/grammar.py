"""The grammar of dates: reads the words of a line from left to right, the longest phrase first."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from dialog.values.number import read_number
from dialog.values.tokens import word_set
from dialog.values.when import days
from dialog.values.when.calendar_dates import Read, Stretch, one_day
from dialog.values.when.relative_days import RelativeReader
from dialog.values.when.words import JOINERS, NOW, PARTS

NOT_BEFORE_NOW = word_set("from for not are until till by just")
# Beside a time of day: opening hours, which are no date.
OPENING = word_set("open opens opening close closes closed closing until till up leave left")


def part_of(hour: int) -> str:
    if hour < 5 or hour >= 22:
        return "night"
    return "morning" if hour < 12 else "afternoon" if hour < 18 else "evening"


class Reader(RelativeReader):
    """Reads every phrase of a line."""

    def all(self) -> list[tuple[int, int, Stretch]]:
        found: list[tuple[int, int, Stretch]] = []
        i = 0
        while i < len(self.keys):
            read = self._phrase(i)
            if read is None:
                i += 1
            else:
                found.append((i, *read))
                i = read[0]
        return found

    def _phrase(self, i: int) -> Read:
        """A phrase with what may follow it: a part of the day, a time, another day to which it reaches."""
        first = self.read_days(i)
        if first is None:
            return None
        end, stretch = self._with_part(*first)
        reaches = self.at(end) in JOINERS or (self.at(i - 1) == "between" and self.at(end) == "and")
        both = self.at(end) == "and" and not stretch.part
        if (reaches or both) and end - 1 not in self.breaks:
            start = end + 1
            while self.at(start) in ("the", "on", "including"):
                start += 1
            second = self.read_days(start) if start < len(self.keys) else None
            if second is None and reaches:
                second = self._end_of_month_range(start, stretch)
            if second is not None:
                other_end, other = self._with_part(*second)
                if reaches and other.last < stretch.first:  # "friday to monday": the Monday after it
                    other = replace(other, last=days.shift(other.last, 7))
                follows = other.first == days.shift(stretch.last, 1)
                if other.last >= stretch.first and (reaches or follows):
                    return other_end, Stretch(stretch.first, other.last, score=min(stretch.score, other.score))
        return end, stretch

    def _end_of_month_range(self, i: int, stretch: Stretch) -> Read:
        """ "november 20 to 25"."""
        day = self._day_number(i)
        if day is None or stretch.first.month != stretch.last.month:
            return None
        try:
            last = stretch.first.replace(day=day[1])
        except ValueError:
            return None
        return (day[0], Stretch(last, last)) if last > stretch.first else None

    def read_days(self, i: int) -> Read:
        best: Read = None
        for read in READERS:
            found = read(self, i)
            if found is not None and (best is None or found[0] > best[0]):
                best = found
        return best

    def _with_part(self, end: int, stretch: Stretch) -> tuple[int, Stretch]:
        """ "friday *morning*", "tomorrow *at 5 pm*", "monday *in the evening*"."""
        j = end
        if self.words(j, "in", "the") or self.words(j, "at", "the"):
            j += 2
        elif self.at(j) in ("at", "by", "around", "during"):
            j += 1
            if self.at(j) == "the":
                j += 1
        while self.at(j) in ("early", "late", "mid"):
            j += 1
        if self.at(j) in PARTS and not stretch.part and (end - 1 not in self.breaks or j > end):
            return self._with_part(j + 1, replace(stretch, part=PARTS[self.at(j)]))
        clock = self._clock(j, needs_half=self.at(j - 1) not in ("at", "by", "around") or j == end)
        if clock is not None:
            return clock[0], replace(stretch, part=stretch.part or clock[1])
        if self.words(end, "next", "week") and stretch.first == stretch.last and not stretch.now:
            day = days.weekday_of_week(self.today, stretch.first.weekday(), 1)
            return self._with_part(end + 2, replace(stretch, first=day, last=day))
        return end, stretch

    def _clock(self, i: int, *, needs_half: bool) -> tuple[int, str] | None:
        """A time of day, as the part that it lies in."""
        number = self.at(i)
        match = re.fullmatch(r"(\d{1,2})(?::(\d{2}))?", number)
        read = read_number(self.keys, i) if match is None and number and not number[0].isdigit() else None
        if match is not None:
            hour, end = int(match[1]), i + 1
        elif read is not None and read[1] == int(read[1]):
            hour, end = int(read[1]), read[0]
        else:
            return None
        if hour > 23:
            return None
        half = self.at(end)
        if half in ("am", "pm") and 1 <= hour <= 12:
            return end + 1, part_of(hour % 12 + (12 if half == "pm" else 0))
        if half == "oclock":
            return end + 1, part_of(hour if hour >= 7 else hour + 12)
        return None if needs_half else (end, part_of(hour if hour >= 7 else hour + 12))

    def _now(self, i: int) -> Read:
        for phrase in NOW:
            if self.words(i, *phrase):
                return i + len(phrase), Stretch(self.today, self.today, now=True)
        if self.at(i) != "now" or self.at(i - 1) in NOT_BEFORE_NOW:
            return None
        if self.asked or (i > 0 and (i in self.breaks or self.at(i + 1) in ("in", "at", "near", "outside", "please"))):
            return i + 1, Stretch(self.today, self.today, now=True)
        return None

    def _part(self, i: int) -> Read:
        """ "this evening", "in the morning", "later"."""
        key = self.at(i)
        if key in ("this", "later", "early", "late"):
            j = i + 1
            while self.at(j) in ("this", "early", "late", "coming"):
                j += 1
            if self.at(j) in PARTS and self.at(j) != "night":
                return j + 1, one_day(self.today, PARTS[self.at(j)])
            if self.at(j) in ("today", "tonight"):
                return j + 1, one_day(self.today, "night" if self.at(j) == "tonight" else "")
            if self.words(j, "week") and key == "later":
                sunday = days.week(self.today, 0)[1]
                return j + 1, Stretch(min(days.shift(self.today, 1), sunday), sunday)
        if (
            key in ("in", "during")
            and self.at(i + 1) == "the"
            and self.at(i + 2) in ("morning", "afternoon", "evening")
        ):
            part = self.at(i + 2)
            over = {"morning": 12, "afternoon": 18, "evening": 23}[part]
            return i + 3, one_day(days.shift(self.today, int(self.now.hour >= over)), PARTS[part])
        if self.words(i, "at", "night"):
            return i + 2, one_day(self.today, "night")
        if key == "later" and self.at(i - 1) not in ("you", "or", "ya", "sooner", "see", "days", "weeks"):
            if self.at(i + 1) == "on":
                return i + 2, one_day(self.today)
            if self.asked or (i > 0 and (i in self.breaks or self.at(i + 1) in ("in", "at", "outside"))):
                return i + 1, one_day(self.today)
        at_time = self.at(i - 1) in ("at", "by", "around", "before", "after")
        hours = any(self.at(j) in OPENING for j in range(i - 3, i))
        if at_time and not hours and (key in ("noon", "midday", "midnight", "dawn", "dusk", "evening", "lunchtime")):
            return i + 1, one_day(self.today, PARTS[key])
        if at_time and not hours and (clock := self._clock(i, needs_half=True)) is not None:
            return clock[0], one_day(self.today, clock[1])
        if self.asked and key in PARTS and not self.at(i - 1).endswith("day"):
            return i + 1, one_day(self.today, PARTS[key])
        if self.asked and self.at(i - 1) in ("at", "by", "around", "") and (clock := self._clock(i, needs_half=True)):
            return clock[0], one_day(self.today, clock[1])
        return None


READERS: tuple[Callable[[Reader, int], Read], ...] = (
    Reader._near_days,
    Reader._now,
    Reader._part,
    Reader._weekday,
    Reader._weeks,
    Reader._months,
    Reader._counted,
    Reader._holiday,
    Reader._calendar,
)
