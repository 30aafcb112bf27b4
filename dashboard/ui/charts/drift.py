"""Charts of drift: figures day by day, what was usual, and the days of an alarm."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import date

import altair as alt

from dashboard.ui import formatting
from dashboard.ui.charts.base import Chart, Rows, chart, dates, moment
from dashboard.ui.theme import SENTIMENT_COLOURS, SERIES
from storage.drift.queries import DriftPoint
from storage.tables import DriftTest

ALARM = SENTIMENT_COLOURS["negative"]
LEAST_HEIGHT = 0.04
"""Of a chart, from bottom to top."""
BANDED = 2
"""With more lines than that, intervals would hide each other."""


def drift_over_time(lines: Mapping[str, Sequence[DriftPoint]], tests: Collection[DriftTest]) -> Chart:
    """A line for each label, with its interval where there are few; dashed what was usual, or what the gate measured.
    `tests`: of the same labels; a triangle stands on each day of an alarm."""
    names = {value: formatting.words(value) or "All" for value in lines}
    known = {(value, point.day): point.value for value, points in lines.items() for point in points}
    rows: Rows = [
        {
            "date": _at(point.day), "label": names[value], "value": point.value, "low": point.low, "high": point.high,
            "calls": point.calls, "models": ", ".join(one.partition("@")[0] for one in point.models),
        }
        for value, points in lines.items()
        for point in points
    ]  # fmt: skip
    usual: Rows = [
        {"date": _at(one.day), "label": names[one.value], "value": one.before} for one in tests if one.value in names
    ]
    alarms: Rows = [
        {"date": _at(one.day), "label": names[one.value], "value": known[one.value, one.day], "usual": one.before}
        for one in tests
        if one.alarm and (one.value, one.day) in known
    ]
    legend = alt.Legend(orient="top", columns=3, symbolType="stroke", symbolStrokeWidth=3) if len(lines) > 1 else None
    colour = alt.Color("label:N", scale=_colours(names), sort=list(names.values()), title=None, legend=legend)
    x = alt.X("date:T", title=None, axis=dates(5))
    y = alt.Y("value:Q", title=None, scale=_height([*rows, *usual]), axis=alt.Axis(format="~%", tickCount=5))
    when = alt.Tooltip("date:T", title="Day", format="%A %-d %B")
    figures = [alt.Tooltip("value:Q", title="Figure", format=".1%"), alt.Tooltip("calls:Q", title="Calls")]
    label = [alt.Tooltip("label:N", title="Of")] if len(lines) > 1 else []
    model = alt.Tooltip("models:N", title="Told by")
    layers: list[Chart] = []
    if len(lines) <= BANDED:
        layers.append(
            chart(rows).mark_area(opacity=0.13).encode(x=x, y=alt.Y("low:Q", title=None), y2="high:Q", color=colour)
        )
    line = chart(rows).mark_line(strokeWidth=1.8, point=alt.OverlayMarkDef(size=20))
    layers.append(line.encode(x=x, y=y, color=colour, tooltip=[when, *label, *figures, model]))
    if usual:
        layers.append(
            chart(usual).mark_line(strokeDash=[5, 4], strokeWidth=1.2, opacity=0.8).encode(x=x, y=y, color=colour)
        )
    if alarms:
        mark = chart(alarms).mark_point(shape="triangle-up", filled=True, size=110, opacity=1, color=ALARM)
        told = [when, *label, figures[0], alt.Tooltip("usual:Q", title="Usually", format=".1%")]
        layers.append(mark.encode(x=x, y=y, tooltip=told))
    return alt.layer(*layers).properties(height=210)


def _height(rows: Rows) -> alt.Scale:
    """What hardly changes is shown as level."""
    values = [float(row[end]) for row in rows for end in ("low", "high", "value") if end in row] or [0.0]
    low, high = min(values), max(values)
    if high - low >= LEAST_HEIGHT:
        return alt.Scale(zero=False, nice=True)
    middle = min(max((low + high) / 2, LEAST_HEIGHT / 2), 1 - LEAST_HEIGHT / 2)
    return alt.Scale(domain=[middle - LEAST_HEIGHT / 2, middle + LEAST_HEIGHT / 2])


def _at(day: str) -> str:
    return moment(date.fromisoformat(day))


def _colours(names: Mapping[str, str]) -> alt.Scale:
    """Sentiments have theirs everywhere."""
    own = {name: SERIES[number % len(SERIES)] for number, name in enumerate(names.values())}
    own |= {name: SENTIMENT_COLOURS[value] for value, name in names.items() if value in SENTIMENT_COLOURS}
    return alt.Scale(domain=list(own), range=list(own.values()))
