"""Days counted from today: tomorrow, weekdays, weeks and weekends, "in two days", "the next few days"."""

from __future__ import annotations

from datetime import date

from dialog.values.number import read_number
from dialog.values.when import days
from dialog.values.when.calendar_dates import WHICH, CalendarReader, Read, Stretch, one_day
from dialog.values.when.words import DOUBTFUL_WEEKDAYS, FEW, PARTS, SPANS, WEEKDAYS

_THROUGH = frozenset(("to", "through", "thru", "until", "till", "and", "between"))
"""Beside a weekday these make it an end of a stretch, which may begin today."""


def end_of_week(today: date) -> days.Days:
    """Thursday to Sunday, what is left of it."""
    return max(today, days.weekday_of_week(today, days.THURSDAY, 0)), days.week(today, 0)[1]


class RelativeReader(CalendarReader):
    """Reads what is counted from today."""

    def read_days(self, i: int) -> Read:
        """The longest phrase of any kind that begins at `i`: the whole grammar knows it."""
        raise NotImplementedError

    def _near_days(self, i: int) -> Read:
        key, today = self.at(i), self.today
        if key == "today":
            return i + 1, one_day(today)
        if key in ("tonight", "overnight"):
            return i + 1, one_day(today, "night")
        if key == "tomorrow":
            return i + 1, one_day(days.shift(today, 1))
        if key == "yesterday":
            return i + 1, one_day(days.shift(today, -1))
        j = i + 1 if key == "the" else i
        if self.words(j, "day", "after", "tomorrow"):
            return j + 3, one_day(days.shift(today, 2))
        if self.words(j, "day", "before", "yesterday"):
            return j + 3, one_day(days.shift(today, -2))
        if self.words(i, "last", "night"):
            return i + 2, one_day(days.shift(today, -1), "night")
        if self.at(j) in ("day", "morning", "night") and self.at(j + 1) in ("after", "before"):
            start = j + 3 if self.at(j + 2) == "the" else j + 2
            other = self._holiday(start) or self._calendar(start) or self._weekday(start)
            if other is not None:
                step = 1 if self.at(j + 1) == "after" else -1
                anchor = other[1].last if step > 0 else other[1].first
                part = PARTS.get(self.at(j), "")
                return other[0], one_day(days.shift(anchor, step), part)
        return None

    def _weekday(self, i: int) -> Read:
        key, today = self.at(i), self.today
        j, which = i, ""
        if key == "the" and self.at(i + 1) in ("next", "coming", "following", "last"):
            j, key = i + 1, self.at(i + 1)
        if key in ("this", "next", "last", "coming", "upcoming", "past", "following"):
            which, j = key, j + 1
            if which == "this" and self.at(j) in ("coming", "past", "upcoming"):
                which, j = self.at(j), j + 1
        number = WEEKDAYS.get(self.at(j))
        if number is None:
            return None
        alone = j in self.breaks or self.at(j + 1) in ("at", "in", "and", "or", "to")
        if self.at(j) in DOUBTFUL_WEEKDAYS and not (
            (alone and (which or self.asked or self.at(i - 1) == "on"))
            or self.at(j + 1) in PARTS
            or self._calendar(j + 1) is not None
        ):
            return None
        end = j + 1
        if self.words(end, "after", "next"):
            return end + 2, one_day(days.weekday_of_week(today, number, 1 if number >= today.weekday() else 2))
        if which == "next":
            return self._dated(end, days.weekday_of_week(today, number, 1))
        if which in ("last", "past"):
            return end, one_day(days.last_weekday(today, number))
        if which == "this" or self.at(end) in _THROUGH or self.at(i - 1) in _THROUGH:
            return self._dated(end, days.weekday(today, number))
        return self._dated(end, days.coming_weekday(today, number))  # who means today says so

    def _dated(self, end: int, day: date) -> Read:
        """ "friday november 20", "friday the 20th": the date counts."""
        calendar = self._calendar(end)
        if calendar is not None and calendar[1].first == calendar[1].last:
            return calendar
        return end, one_day(day)

    def _weeks(self, i: int) -> Read:
        today = self.today
        j = i + 1 if self.at(i) in ("the", "all") and self.at(i + 1) != "next" else i
        if self.at(j) == "the":
            j += 1
        if self.words(j, "week", "after", "next"):
            return j + 3, Stretch(*days.week(today, 2))
        if self.words(j, "weekend", "after", "next"):
            return j + 3, Stretch(*days.weekend(today, 2))
        if self.words(j, "rest", "of", "the", "week") or self.words(j, "rest", "of", "this", "week"):
            return j + 4, Stretch(today, days.week(today, 0)[1])
        if self.words(j, "end", "of", "the", "week"):
            return j + 4, Stretch(*end_of_week(today))
        which, k = (self.at(j), j + 1) if self.at(j) in WHICH else ("", j)
        if which == "this" and self.at(k) in ("coming", "upcoming", "past"):
            which, k = self.at(k), k + 1
        if self.at(k) == "weekend":
            weeks = {"next": 1, "following": 1, "last": -1, "past": -1, "previous": -1}.get(which, 0)
            return k + 1, Stretch(*days.weekend(today, weeks))
        if self.at(k) in ("week", "weeks") and (which or (j > i and self.at(i) == "all")):
            if which in ("next", "following", "coming", "upcoming"):
                return k + 1, Stretch(*days.week(today, 1))
            if which in ("last", "past", "previous"):
                return k + 1, Stretch(*days.week(today, -1))
            return k + 1, Stretch(today, days.week(today, 0)[1])
        return None

    def _counted(self, i: int) -> Read:
        """ "the next three days", "in two weeks", "a week from friday", "two days ago"."""
        today = self.today
        j = i + 1 if self.at(i) == "the" else i
        if self.at(j) in ("next", "coming", "following", "upcoming", "past", "last"):
            back = self.at(j) in ("past", "last")
            amount = self._amount(j + 1)
            if amount is None and self.at(j + 1) == "days":
                amount = (j + 1, 3)
            if amount is not None and self.at(amount[0]) in SPANS and not (amount[1] == 1 and self.at(j + 1) in SPANS):
                count = amount[1] * SPANS[self.at(amount[0])]
                if back:
                    return amount[0] + 1, Stretch(days.shift(today, -count), days.shift(today, -1))
                return amount[0] + 1, Stretch(days.shift(today, 1), days.shift(today, count))
            if amount is not None and self.at(amount[0]) in ("hours", "hour") and not back:
                return amount[0] + 1, Stretch(today, days.shift(today, (self.now.hour + amount[1] - 1) // 24))
            return None
        ahead = self.at(i) in ("in", "within")
        amount = self._amount(i + 1 if ahead else i)
        if amount is None:
            return None
        end, count = amount
        unit = self.at(end)
        if self.at(end + 1) in ("time", "or") and self.at(end + 2) == "so":
            end += 2
        if ahead and self.at(end + 1) == "time":  # "in two weeks' time"
            end += 1
        if unit in SPANS:
            length = count * SPANS[unit]
            if self.at(end + 1) == "ago":
                return end + 2, one_day(days.shift(today, -length))
            if self.at(end + 1) in ("from", "after"):
                if self.at(end + 2) == "now":
                    return end + 3, one_day(days.shift(today, length))
                anchor = self.read_days(end + 2)
                if anchor is not None:
                    return anchor[0], one_day(days.shift(anchor[1].first, length), anchor[1].part)
            return (end + 1, one_day(days.shift(today, length))) if ahead else None
        if unit in ("month", "months") and (ahead or self.words(end + 1, "from", "now")):
            first, last = days.month(today.year, today.month + count)
            day = first.replace(day=min(today.day, last.day))
            return (end + 1 if ahead else end + 3), one_day(day)
        if unit in ("hour", "hours", "minute", "minutes", "min", "mins") and ahead:
            hours = count if unit.startswith("hour") else 0
            return end + 1, one_day(days.shift(today, (self.now.hour + hours) // 24))
        return None

    def _amount(self, i: int) -> tuple[int, int] | None:
        """A count of days or weeks: number, "a", "a few", "a couple of"."""
        j = i + 1 if self.at(i) in ("a", "an") else i
        if self.at(j) in FEW:
            end = j + 2 if self.at(j + 1) == "of" else j + 1
            return end, FEW[self.at(j)]
        if j > i and (self.at(j) in SPANS or self.at(j) in ("month", "hour", "minute")):
            return j, 1
        read = read_number(self.keys, i)
        if read is None or read[1] != int(read[1]) or not 0 < read[1] <= 1000:
            return None
        return read[0], int(read[1])
