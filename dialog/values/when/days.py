"""Arithmetic of days: weeks, weekends, months, seasons, holidays. A week goes from Monday to Sunday."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

MONDAY, THURSDAY, FRIDAY, SATURDAY, SUNDAY = 0, 3, 4, 5, 6

Days = tuple[date, date]
"""First and last day."""


def shift(day: date, days: int) -> date:
    """`day` moved; stays inside what a date can be."""
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return date.max if days > 0 else date.min


def monday_of(day: date) -> date:
    return shift(day, -day.weekday())


def week(today: date, weeks: int) -> Days:
    """A whole calendar week, counted from this one."""
    monday = shift(monday_of(today), 7 * weeks)
    return monday, shift(monday, 6)


def weekday(today: date, number: int) -> date:
    """The next such day; today, if it is one."""
    return shift(today, (number - today.weekday()) % 7)


def coming_weekday(today: date, number: int) -> date:
    """The next such day after today."""
    return weekday(shift(today, 1), number)


def weekday_of_week(today: date, number: int, weeks: int) -> date:
    return shift(monday_of(today), 7 * weeks + number)


def last_weekday(today: date, number: int) -> date:
    return shift(today, -((today.weekday() - number - 1) % 7 + 1))


def weekend(today: date, weeks: int) -> Days:
    """Saturday and Sunday of a calendar week, counted from this one; of the present one only what is left."""
    saturday = weekday_of_week(today, SATURDAY, weeks)
    sunday = shift(saturday, 1)
    return (today if weeks == 0 and today == sunday else saturday), sunday


def month(year: int, number: int) -> Days:
    """A whole month; numbers beyond twelve run on into other years."""
    year, number = year + (number - 1) // 12, (number - 1) % 12 + 1
    year = min(max(year, 1), 9998)
    first = date(year, number, 1)
    following = date(year + number // 12, number % 12 + 1, 1)
    return first, shift(following, -1)


def next_month_named(today: date, number: int) -> Days:
    """The next month of this name; of the present one what is left."""
    if today.month == number:
        return today, month(today.year, number)[1]
    return month(today.year + (number < today.month), number)


def on(today: date, number: int, day: int, year: int | None = None) -> date | None:
    """The day of a month: of that year, or the next that comes. None when there is no such day."""
    for candidate in (
        (year,) if year else range(today.year, today.year + 9)
    ):  # 29 February comes every four or eight years
        try:
            found = date(candidate or today.year, number, day)
        except ValueError:
            continue
        if year or found >= today:
            return found
    return None


def day_of_month(today: date, day: int) -> date | None:
    """ "the 20th": the next that comes."""
    for ahead in range(13):
        first, last = month(today.year, today.month + ahead)
        if day <= last.day and first.replace(day=day) >= today:
            return first.replace(day=day)
    return None


def season(today: date, name: str) -> Days:
    """The meteorological season that is now or comes next."""
    first_month = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}[name]
    ends = (month(year, first_month + 2)[1] for year in (today.year - 1, today.year, today.year + 1))
    last = next((end for end in ends if end >= today), today)  # the last year that a date can have ends earlier
    return max(month(last.year, last.month - 2)[0], today), last


def nth_weekday(year: int, number: int, day: int, nth: int) -> date:
    """The nth such weekday of a month; -1 is the last."""
    if nth > 0:
        first = date(year, number, 1)
        return shift(first, (day - first.weekday()) % 7 + 7 * (nth - 1))
    last = month(year, number)[1]
    return shift(last, -((last.weekday() - day) % 7))


def easter(year: int) -> date:
    """Easter Sunday by the anonymous Gregorian algorithm."""
    a, b, c = year % 19, year // 100, year % 100
    d, e = b // 4, b % 4
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = c // 4, c % 4
    m = (32 + 2 * e + 2 * i - h - k) % 7
    n = (a + 11 * h + 22 * m) // 451
    number, day = divmod(h + m - 7 * n + 114, 31)
    return date(year, number, day + 1)


def _fixed(number: int, day: int) -> Callable[[int], date]:
    return lambda year: date(year, number, day)


def _nth(number: int, day: int, nth: int, after: int = 0) -> Callable[[int], date]:
    return lambda year: shift(nth_weekday(year, number, day, nth), after)


HOLIDAYS: dict[str, Callable[[int], date]] = {}
for _names, _rule in (
    ("christmas;christmas day;xmas;xmas day", _fixed(12, 25)),
    ("christmas eve;xmas eve", _fixed(12, 24)),
    ("boxing day", _fixed(12, 26)),
    ("new years;new years day;new year;new year day", _fixed(1, 1)),
    ("new years eve;new year eve", _fixed(12, 31)),
    ("valentines;valentines day;valentine day", _fixed(2, 14)),
    ("saint patricks day;st patricks day;saint pattys day;st pattys day;st paddys day", _fixed(3, 17)),
    ("cinco de mayo", _fixed(5, 5)),
    ("juneteenth", _fixed(6, 19)),
    ("independence day;fourth of july;4th of july;the fourth of july;july fourth;july 4th", _fixed(7, 4)),
    ("halloween;haloween;hallowe en", _fixed(10, 31)),
    ("veterans day", _fixed(11, 11)),
    ("martin luther king day;mlk day", _nth(1, MONDAY, 3)),
    ("presidents day", _nth(2, MONDAY, 3)),
    ("mothers day;mother day", _nth(5, SUNDAY, 2)),
    ("memorial day", _nth(5, MONDAY, -1)),
    ("fathers day;father day", _nth(6, SUNDAY, 3)),
    ("labor day;labour day", _nth(9, MONDAY, 1)),
    ("columbus day", _nth(10, MONDAY, 2)),
    ("thanksgiving;thanksgiving day;turkey day", _nth(11, THURSDAY, 4)),
    ("black friday", _nth(11, THURSDAY, 4, 1)),
    ("cyber monday", _nth(11, THURSDAY, 4, 4)),
    ("easter;easter sunday", easter),
    ("good friday", lambda year: shift(easter(year), -2)),
    ("easter monday", lambda year: shift(easter(year), 1)),
):
    for _name in _names.split(";"):
        HOLIDAYS[_name] = _rule


def holiday(today: date, name: str) -> date:
    """The next one; today, if it is one."""
    rule = HOLIDAYS[name]
    year = min(today.year, 9997)
    return rule(year) if rule(year) >= today else rule(year + 1)


def holiday_weekend(day: date) -> Days:
    """The long weekend around a holiday: with the days between it and Saturday or Sunday."""
    if day.weekday() == MONDAY:
        return shift(day, -2), day
    if day.weekday() >= THURSDAY:
        return min(day, weekday_of_week(day, SATURDAY, 0)), weekday_of_week(day, SUNDAY, 0)
    return weekend(day, 0)
