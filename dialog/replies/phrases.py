"""Small pieces of speech: lists, money, times of day, days."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from dialog.understanding.words import CHAINS
from dialog.values.tokens import word_set

MONTHS = word_set("january february march april may june july august september october november december")
CAPITALISED = MONTHS | word_set(
    "monday tuesday wednesday thursday friday saturday sunday christmas thanksgiving halloween easter"
)
"""Days, months and holidays."""


TIME_WORDS = word_set(
    "today tonight tomorrow yesterday now right later soon currently the this next last coming following in on at for "
    "a an of over during few couple one two three four five six seven eight nine ten fourteen first second third and "
    "to "
    "until through day days after before week weeks weekend weekends month months year morning afternoon evening night "
    "noon midnight nights early late eve new moment hours hour rest from end middle beginning all"
)
"""Words of which a time is said back as it was said."""


_ANOTHER_DAY = re.compile(r"^(?:the )?(?:day after(?! tomorrow)|(?:next|following) day)\b")
"""Says a day by the one that was spoken of before."""
_SHORT = {"st": "saint", "ste": "sainte", "ft": "fort", "mt": "mount"}
"""How cities are abbreviated."""


def listed(words: Sequence[str]) -> str:
    """a, b and c"""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def money(amount: Any, currency: Any = "USD") -> str:
    try:
        value = float(amount)
    except (TypeError, ValueError):
        return "an unknown price"
    return f"${value:,.2f}" if currency in (None, "USD") else f"{value:,.2f} {currency}"


def clock(time: Any) -> str:
    """`21:00` as 9 PM."""
    hours, _, minutes = str(time).partition(":")
    if not hours.isdigit():
        return str(time)
    hour = int(hours) % 24
    minute = minutes[:2] if minutes[:2] not in ("", "00") else ""
    if not minute and hour in (0, 12):
        return "midnight" if hour == 0 else "noon"
    return f"{hour % 12 or 12}{':' + minute if minute else ''} {'AM' if hour < 12 else 'PM'}"


def day_name(iso: Any, now: datetime) -> str:
    """The day as one says it: today, tomorrow, Friday, November 30."""
    try:
        day = date.fromisoformat(str(iso)[:10])
    except ValueError:
        return str(iso)
    ahead = (day - now.date()).days
    if ahead in (0, 1):
        return ("today", "tomorrow")[ahead]
    return f"{day:%A}" if 1 < ahead < 14 else f"{day:%B} {day.day}"


def on_day(iso: Any, now: datetime) -> str:
    name = day_name(iso, now)
    return name if name in ("today", "tomorrow") else f"on {name}"


def when_phrase(when: Any, now: datetime) -> str:
    """The shopper's own words for the time; calendar days by their date. Empty when nobody said."""
    if not isinstance(when, Mapping):
        return ""
    text = str(when.get("text") or "").strip(" ?.!,").lower().removesuffix("'s")
    if not text:
        return day_name(when.get("from"), now)
    one_day = when.get("from") == when.get("to")
    if one_day and (any(one.isdigit() for one in text) or _ANOTHER_DAY.search(text)):
        return on_day(when.get("from"), now)
    if text in MONTHS:
        return f"in {text.capitalize()}"
    if not all(word.removesuffix("'s") in CAPITALISED | TIME_WORDS or word.isdigit() for word in text.split()):
        first = on_day(when.get("from"), now)  # misspelt or misheard: the days that were understood
        return first if one_day else f"{first.replace('on ', 'from ', 1)} to {day_name(when.get('to'), now)}"
    words = [word.capitalize() if word.removesuffix("'s") in CAPITALISED else word for word in text.split()]
    phrase = " ".join(words)
    if words[0] == "the" and len(words) > 1:
        return f"over {phrase}" if when.get("from") != when.get("to") else phrase
    bare = words[0].lower() in CAPITALISED
    return f"on {phrase}" if bare and len(words) <= 3 else phrase


def number(value: Any, digits: int = 1) -> str:
    """0.3, 2, 12: without a needless zero."""
    try:
        return f"{float(value):.{digits}f}".rstrip("0").rstrip(".") or "0"
    except (TypeError, ValueError):
        return str(value)


def store_name(store: Any) -> str:
    """A name as it is written; a kind of store stays as it was said."""
    text = str(store or "")
    return text.title().replace("'S", "'s") if text.islower() and text in CHAINS else text


def miles(value: Any) -> str:
    shown = number(value)
    return f"{shown} mile" if shown == "1" else f"{shown} miles"


def other_city(place: Any, found: Mapping[str, Any]) -> str:
    """The city where something was found, when it is not the one that was asked for."""
    asked, city = place_name(place), str(found.get("city") or "")
    return city if asked and city and _spelt_out(asked) != _spelt_out(city) else ""


def _spelt_out(city: str) -> str:
    """ "St. Louis" is Saint Louis."""
    return " ".join(_SHORT.get(word, word) for word in city.lower().replace(".", " ").split())


def place_name(place: Any) -> str:
    if isinstance(place, Mapping):
        return str(place.get("name") or "")
    return str(place or "")
