"""Stretches of whole local days, and which day a moment belongs to, told in SQL."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any, Literal

from sqlalchemy import ColumnElement, Integer, case, cast, func, literal

EPOCH = date(1970, 1, 1)
DAY_S = 86_400
Step = Literal["day", "week", "month"]


@dataclass(frozen=True, slots=True)
class Period:
    """From the beginning of the first day to the end of the last, as the clocks of `zone` show it."""

    first: date
    last: date
    zone: tzinfo

    @classmethod
    def ending(cls, now: float, days: int, zone: tzinfo) -> Period:
        """The last `days` days, today among them."""
        today = datetime.fromtimestamp(now, zone).date()
        return cls(today - timedelta(days=days - 1), today, zone)

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1

    @property
    def since(self) -> float:
        return self._midnight(self.first)

    @property
    def until(self) -> float:
        return self._midnight(self.last + timedelta(days=1))

    def before(self) -> Period:
        """As long, and ending where this one begins."""
        return Period(self.first - timedelta(days=self.days), self.first - timedelta(days=1), self.zone)

    def only(self, day: date) -> Period:
        return Period(day, day, self.zone)

    def includes(self, moment: ColumnElement[Any]) -> ColumnElement[bool]:
        return (moment >= self.since) & (moment < self.until)

    def day_number(self, moment: ColumnElement[Any]) -> ColumnElement[int]:
        """Local days since 1970. Exact also where clocks are put forward or back within the period."""
        return cast(func.floor((moment + self._offset(moment)) / DAY_S), Integer)

    def hour_of_day(self, moment: ColumnElement[Any]) -> ColumnElement[int]:
        local = moment + self._offset(moment)
        return cast(func.floor((local - func.floor(local / DAY_S) * DAY_S) / 3600), Integer)

    def weekday(self, moment: ColumnElement[Any]) -> ColumnElement[int]:
        """Monday is 0."""
        return (self.day_number(moment) + 3) % 7

    def _midnight(self, day: date) -> float:
        return datetime.combine(day, time(), self.zone).timestamp()

    def _offset(self, moment: ColumnElement[Any]) -> ColumnElement[Any]:
        """Seconds that local clocks are ahead at that moment."""
        changes: list[tuple[float, float]] = []
        for number in range(self.days + 1):
            day = self.first + timedelta(days=number)
            offset = _ahead(datetime.combine(day, time(), self.zone))
            if not changes or changes[-1][1] != offset:
                changes.append((self._change(day, offset) if changes else float("-inf"), offset))
        *earlier, (_, latest) = changes
        if not earlier:
            return literal(latest)
        ends = [start for start, _ in changes[1:]]
        return case(*((moment < end, offset) for end, (_, offset) in zip(ends, earlier, strict=True)), else_=latest)

    def _change(self, day: date, offset: float) -> float:
        """The second of the day before at which clocks came to show `offset`."""
        low, high = self._midnight(day - timedelta(days=1)), self._midnight(day)
        while high - low > 1:
            middle = (low + high) // 2
            if _ahead(datetime.fromtimestamp(middle, self.zone)) == offset:
                high = middle
            else:
                low = middle
        return high


def day_of(number: int) -> date:
    return EPOCH + timedelta(days=number)


def step_of(day: date, step: Step) -> date:
    """The first day of the day's week (Monday) or month."""
    if step == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if step == "month" else day


def _ahead(moment: datetime) -> float:
    offset = moment.utcoffset()
    return offset.total_seconds() if offset else 0.0
