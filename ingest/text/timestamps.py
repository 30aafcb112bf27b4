"""When a message was written, in the forms that exports use. A time without a zone is taken as UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d+)?)?\s*(?P<half>[AaPp]\.?[Mm]\.?)?"
_TIME_OF_DAY = re.compile(_CLOCK)
_SLASHED = re.compile(rf"(?P<first>\d{{1,2}})[/.](?P<second_>\d{{1,2}})[/.](?P<year>\d{{4}}|\d{{2}})[,\s]+{_CLOCK}")
_MILLIS = 1e11
"""Epochs above this are in milliseconds."""
_LATEST = 4102444800.0
"""The year 2100."""
_LONGEST = 100
"""Characters of a time, in any form."""


def parse(text: str) -> float | None:
    """Seconds since the epoch, or since midnight for a time of day; None for what is neither."""
    text = text.strip().strip("[]()").strip()
    at = _parsed(text) if text and len(text) <= _LONGEST else None
    return at if at is not None and 0 <= at < _LATEST else None


def _parsed(text: str) -> float | None:
    try:
        number = float(text)
        return number / 1000 if number > _MILLIS else number
    except ValueError:
        pass
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            when = read(text)
            return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    if clock := _TIME_OF_DAY.fullmatch(text):
        return _seconds(clock)
    if slashed := _SLASHED.fullmatch(text):
        return _slashed(slashed)
    return None


def _seconds(clock: re.Match[str]) -> float | None:
    hour, minute, second = int(clock["hour"]), int(clock["minute"]), int(clock["second"] or 0)
    if clock["half"]:
        hour = hour % 12 + (12 if clock["half"][0] in "pP" else 0)
    return float(3600 * hour + 60 * minute + second) if hour < 24 and minute < 60 and second < 60 else None


def _slashed(slashed: re.Match[str]) -> float | None:
    """Day or month first? Where the numbers leave both open, only the time of day is certain."""
    seconds, first, second = _seconds(slashed), int(slashed["first"]), int(slashed["second_"])
    if seconds is None or (first > 12) == (second > 12):
        return seconds
    day, month = (first, second) if first > 12 else (second, first)
    year = int(slashed["year"]) + (2000 if len(slashed["year"]) == 2 else 0)
    try:
        return datetime(year, month, day, tzinfo=UTC).timestamp() + seconds
    except ValueError:
        return None
