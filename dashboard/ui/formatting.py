"""How numbers, times and labels are written for people."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from dashboard.ui.theme import SENTIMENT_SHAPES

NOTHING, MINUS, WORD_JOINER = "\u2013", "\u2212", "\u2060"


def sentiment(label: str) -> str:
    """As a person reads it: shape and word."""
    return f"{SENTIMENT_SHAPES.get(label, '◆')} {label}"


def words(name: str) -> str:
    """A label or rule for people: `order_status` -> `Order status`."""
    return name.replace("_", " ").replace("-", " ").strip().capitalize()


def intent(label: str | None) -> str:
    """What a sentence or a call was about; nothing where the model says that it does not know."""
    return words(label) if label and label != "unknown" else ""


def plain(text: str) -> str:
    """For labels, which Streamlit reads as Markdown: what people wrote is none. Addresses become links even where they
    are escaped, so a letter without width divides them."""
    escaped = re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", " ".join(text.split()))
    return re.sub(r"[:@]|www", f"\\g<0>{WORD_JOINER}", escaped, flags=re.IGNORECASE)


def mood(value: float | None) -> str:
    """With its sign, which nothing has none of: +0.12, 0.00."""
    return NOTHING if value is None else f"{value:+.2f}".replace("-", MINUS) if abs(value) >= 0.005 else "0.00"


def share(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.0%}"


def count(value: int | float) -> str:
    return f"{value:,.0f}".replace(",", "\u202f")


def counted(number: int, thing: str) -> str:
    """`1 version`, `3 versions`."""
    return f"{count(number)} {thing}{'' if number == 1 else 's'}"


def clock(ms: float) -> str:
    """Position in a call: 4:07, or 1:04:07."""
    seconds = max(0, int(ms // 1000))
    hours, minutes = seconds // 3600, seconds // 60 % 60
    return f"{hours}:{minutes:02}:{seconds % 60:02}" if hours else f"{minutes}:{seconds % 60:02}"


def duration(seconds: float) -> str:
    """For people: 45 s, 7 min, 2 h 5 min."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min" if minutes % 60 else f"{minutes // 60} h"


def size(count: float) -> str:
    """Bytes: 34.1 MB."""
    units = ["B", "kB", "MB", "GB", "TB"]
    while count >= 1000 and len(units) > 1:
        count /= 1000
        units.pop(0)
    return f"{count:.0f} B" if units[0] == "B" else f"{count:.1f} {units[0]}"


def ago(at: float) -> str:
    """How long ago: just now, 7 min ago, 3 days ago."""
    seconds = max(0.0, time.time() - at)
    if seconds < 60:
        return "just now"
    days = int(seconds // 86_400)
    return f"{days} days ago" if days > 1 else f"{duration(seconds)} ago"


def zone() -> tzinfo:
    """Where the reader's clock is; the machine's own zone when the browser does not tell."""
    try:
        return ZoneInfo(st.context.timezone or "")
    except (ZoneInfoNotFoundError, ValueError):
        return datetime.now().astimezone().tzinfo or UTC


def local(at: float) -> datetime:
    """By the reader's clock."""
    return datetime.fromtimestamp(at, zone())


def midnight() -> float:
    """When the reader's day began."""
    return local(time.time()).replace(hour=0, minute=0, second=0, microsecond=0).timestamp()


def moment(at: float) -> str:
    """A time of day, with the day when it is not today's."""
    then = local(at)
    today = datetime.now(then.tzinfo).date()
    if then.date() == today:
        return f"today {then:%H:%M}"
    return f"{then.day} {then:%b %H:%M}" if then.year == today.year else f"{then.day} {then:%b %Y %H:%M}"
