"""The report's charts as SVG inside the page: the colours and signs of the product's charts, text in the page's ink."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from html import escape

from dashboard.ui import formatting
from dashboard.ui.theme import SENTIMENT_COLOURS, SERIES
from storage.queries.history import CallStatistics
from storage.queries.periods import Period
from storage.queries.statistics import MeasureSummary

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 440, 180, 38, 6, 18, 24
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
SIDES = (("mood_caller", "Callers", SERIES[0], "circle"), ("mood_agent", "Agents", SERIES[1], "diamond"))
STRIP_WIDTH, STRIP_HEIGHT = 150, 16
DAY_REACH = 0.5
"""The interval of a day with two calls may be as wide as moods are; it is cut off here."""
MOOD_REACH = 0.4
"""Moods of groups lie within; what is beyond is drawn at the border."""


def calls_by_day(period: Period, now: Mapping[date, CallStatistics], before: Mapping[date, CallStatistics]) -> str:
    """A bar for each day, and beside it, hollow, the same weekday of the week before."""
    days = [period.first + timedelta(days=number) for number in range(7)]
    counts = [(_calls(now, day), _calls(before, day - timedelta(days=7))) for day in days]
    most = max(1, *(max(pair) for pair in counts))
    parts = [_axis(HEIGHT - BOTTOM)]
    for number, (day, (own, other)) in enumerate(zip(days, counts, strict=True)):
        middle = _middle(number)
        for left, count, style in (
            (middle - 23, own, f'fill="{SERIES[0]}"'),
            (middle + 2, other, f'fill="none" stroke="{SERIES[0]}" stroke-dasharray="3 2"'),
        ):
            height = (HEIGHT - TOP - BOTTOM) * count / most
            parts.append(
                f'<rect x="{left}" y="{HEIGHT - BOTTOM - height:.1f}" width="20" height="{height:.1f}" {style}/>'
            )
            if count:
                parts.append(_text(left + 10, HEIGHT - BOTTOM - height - 4, str(count), size=10))
        parts.append(_text(middle, HEIGHT - 7, f"{WEEKDAYS[number]} {day.day}"))
    return _svg(WIDTH, HEIGHT, "Calls by day, and in the week before", parts)


def mood_by_day(period: Period, days: Mapping[date, CallStatistics]) -> str:
    """The mean of each day for both sides, with its 95 % interval."""
    known: list[tuple[int, int, MeasureSummary]] = []
    for number in range(7):
        day = days.get(period.first + timedelta(days=number), CallStatistics())
        known += [(number, side, day[SIDES[side][0]]) for side in (0, 1) if day[SIDES[side][0]].n]
    ends = [0.1, -0.1]
    for _, _, summary in known:
        ends += [_interval(summary)[0], _interval(summary)[1]]
    low, high = max(min(ends), -DAY_REACH), min(max(ends), DAY_REACH)

    def y(value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - min(max(value, low), high)) / (high - low)

    parts = [
        _axis(y(0)),
        *(_text(LEFT - 6, y(end) + 4, formatting.mood(end), anchor="end") for end in (low, 0.0, high)),
    ]
    for number, side, summary in known:
        x = _middle(number) + (-7, 7)[side]
        parts.append(_whisker(x, y(_interval(summary)[0]), y(_interval(summary)[1]), SIDES[side][2]))
        parts.append(_mark(x, y(summary.mean or 0.0), SIDES[side][2], SIDES[side][3], 4.5))
    parts += [_weekday(number, period.first + timedelta(days=number)) for number in range(7)]
    return _svg(WIDTH, HEIGHT, "Mood by day, with 95 % intervals", parts)


def strip(summary: MeasureSummary, other: MeasureSummary) -> str:
    """A mood with its interval on a line of its own in a table, and that of the week before as a hollow mark."""
    if not summary.n:
        return ""

    def x(value: float) -> float:
        inside = min(max(value, -MOOD_REACH), MOOD_REACH)
        return 6 + (STRIP_WIDTH - 12) * (inside + MOOD_REACH) / (2 * MOOD_REACH)

    mean = summary.mean or 0.0
    low, high = _interval(summary)
    sign = "positive" if mean >= 0.15 else "negative" if mean <= -0.15 else "neutral"
    colour, middle = SENTIMENT_COLOURS[sign], STRIP_HEIGHT / 2
    parts = [
        f'<line x1="{x(0)}" x2="{x(0)}" y1="1" y2="{STRIP_HEIGHT - 1}" class="axis"/>',
        f'<line x1="{x(low):.1f}" x2="{x(high):.1f}" y1="{middle}" y2="{middle}" stroke="{colour}" stroke-width="2"/>',
    ]
    if other.n:
        parts.append(f'<circle cx="{x(other.mean or 0.0):.1f}" cy="{middle}" r="4" class="before"/>')
    parts.append(_mark(x(mean), middle, colour, {"positive": "up", "negative": "down"}.get(sign, "circle"), 4))
    return _svg(STRIP_WIDTH, STRIP_HEIGHT, f"mood {formatting.mood(mean)}", parts)


def legend(entries: Sequence[tuple[str, str]]) -> str:
    """Signs and what they stand for; a sign is SVG of 14 by 14."""
    return "".join(
        f'<span><svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">{sign}</svg>{escape(words)}</span>'
        for sign, words in entries
    )


BARS = legend(
    (
        (f'<rect x="2" y="2" width="10" height="10" fill="{SERIES[0]}"/>', "this week"),
        (f'<rect x="2" y="2" width="10" height="10" fill="none" stroke="{SERIES[0]}" stroke-dasharray="3 2"/>',
         "the week before"),
    )
)  # fmt: skip


def mood_legend() -> str:
    return legend([(_mark(7, 7, colour, shape, 4.5), name) for _, name, colour, shape in SIDES])


def _calls(days: Mapping[date, CallStatistics], day: date) -> int:
    return days[day].calls if day in days else 0


def _interval(summary: MeasureSummary) -> tuple[float, float]:
    mean = summary.mean or 0.0
    return (summary.interval.low, summary.interval.high) if summary.interval else (mean, mean)


def _middle(number: int) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * (number + 0.5) / 7


def _weekday(number: int, day: date) -> str:
    return _text(_middle(number), HEIGHT - 7, f"{WEEKDAYS[number]} {day.day}")


def _mark(x: float, y: float, colour: str, shape: str, r: float) -> str:
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}" fill="{colour}"/>'
    corners = {
        "diamond": ((0, -r - 1), (r + 1, 0), (0, r + 1), (-r - 1, 0)),
        "up": ((0, -r), (r, r), (-r, r)),
        "down": ((0, r), (r, -r), (-r, -r)),
    }[shape]
    points = " ".join(f"{x + right:.1f},{y + down:.1f}" for right, down in corners)
    return f'<polygon points="{points}" fill="{colour}"/>'


def _whisker(x: float, low: float, high: float, colour: str) -> str:
    return f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}" stroke="{colour}" stroke-width="1.5"/>'


def _axis(y: float) -> str:
    return f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" class="axis"/>'


def _text(x: float, y: float, words: str, *, anchor: str = "middle", size: int = 11) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{escape(words)}</text>'


def _svg(width: int, height: int, label: str, parts: Sequence[str]) -> str:
    box = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return f'<svg {box} role="img" aria-label="{escape(label, quote=True)}">{"".join(parts)}</svg>'
