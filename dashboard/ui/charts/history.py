"""Charts of the pages that look back: moods, shares and counts over time, by person, by hour and by group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

import altair as alt

from dashboard.ui import formatting
from dashboard.ui.charts.base import GREY, MOOD, SIDE_COLOURS, SIDE_SHAPES, SIDES, Chart, Rows, chart, dates, moment
from dashboard.ui.theme import SENTIMENT_COLOURS, SERIES
from storage.queries.history import CallStatistics
from storage.queries.periods import Step
from storage.queries.statistics import MeasureSummary, Trend

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
STEP_DAYS = {"day": 1, "week": 7, "month": 30}


def mood_over_time(
    steps: Mapping[date, CallStatistics], trends: Mapping[str, Trend | None], team: float | None, step: Step
) -> Chart:
    """Both sides: a mark a step, larger with more calls, and the trend with its band. A click chooses the step."""
    rows: Rows = []
    for day, stats in steps.items():
        for measure, side in SIDES.items():
            summary = stats[measure]
            if summary.n:
                rows.append(
                    {
                        "day": day.isoformat(),
                        "date": moment(day),
                        "side": side,
                        "mood": summary.mean,
                        "calls": summary.n,
                    }
                )
    line: Rows = [
        {
            "date": moment(point.day),
            "side": SIDES[measure],
            "mood": point.value,
            "low": max(-1.0, point.low),  # no mood is beyond
            "high": min(1.0, point.high),
        }
        for measure, found in trends.items()
        if found
        for point in found.line
    ]
    sides = alt.Legend(orient="top")
    colour = alt.Color("side:N", scale=SIDE_COLOURS, title=None, legend=sides)
    x = _days(8, padding=14)
    y = alt.Y("mood:Q", title="Mood", scale=alt.Scale(nice=True, zero=True))
    chosen = alt.selection_point(name="step", fields=["day"], on="click", toggle=False)
    marks = (
        chart(rows)
        .mark_point(filled=True, opacity=1)
        .encode(
            x=x,
            y=y,
            color=colour,
            shape=alt.Shape("side:N", scale=SIDE_SHAPES, title=None, legend=sides),
            size=alt.Size("calls:Q", scale=alt.Scale(range=[25, 220]), legend=None),
            fillOpacity=alt.condition(chosen, alt.value(0.9), alt.value(0.25)),
            tooltip=[
                alt.Tooltip("date:T", title="From" if step != "day" else "Day", format="%A %-d %B"),
                alt.Tooltip("side:N", title="Side"),
                alt.Tooltip("mood:Q", title="Mood", format="+.2f"),
                alt.Tooltip("calls:Q", title="Calls"),
            ],
        )
        .add_params(chosen)
    )
    base = chart(line).encode(x=x, color=colour)
    band = base.mark_area(opacity=0.16, strokeWidth=0).encode(y=alt.Y("low:Q", title="Mood"), y2="high:Q")
    trend = base.mark_line(strokeWidth=2.2).encode(y="mood:Q")
    layers: list[Any] = [_zero(), band, trend, marks] if line else [_zero(), marks]
    if team is not None:
        layers.insert(1, chart([{"mood": team}]).mark_rule(strokeDash=[5, 4], color=SERIES[0]).encode(y="mood:Q"))
    return alt.layer(*layers).properties(height=300)


def measure_over_time(steps: Mapping[date, CallStatistics], measure: str, other: float | None) -> Chart:
    """A share with its 95 % intervals; the dashed line is the team."""
    return share_over_time({day: stats[measure] for day, stats in steps.items()}, other)


def share_over_time(steps: Mapping[date, MeasureSummary], other: float | None) -> Chart:
    rows: Rows = []
    for day, summary in steps.items():
        if summary.n:
            reach = summary.interval
            low, high = (max(0.0, reach.low), min(1.0, reach.high)) if reach else (None, None)
            rows.append({"date": moment(day), "value": summary.mean, "low": low, "high": high, "calls": summary.n})
    base = chart(rows).encode(x=_days(4, padding=8))
    y = alt.Y("value:Q", title=None, axis=alt.Axis(format="%", tickCount=4), scale=alt.Scale(zero=True))
    line = base.mark_line(color=SERIES[2], strokeWidth=1.8, point=alt.OverlayMarkDef(size=22, color=SERIES[2])).encode(
        y=y,
        tooltip=[
            alt.Tooltip("date:T", title="From", format="%-d %B"),
            alt.Tooltip("value:Q", title="Mean", format="%"),
            alt.Tooltip("calls:Q", title="Calls"),
        ],
    )
    band = base.mark_area(opacity=0.13, color=SERIES[2]).encode(y=alt.Y("low:Q", title=None), y2="high:Q")
    layers: list[Any] = [band, line]
    if other is not None:
        mean = chart([{"value": other}])
        layers.append(mean.mark_rule(strokeDash=[5, 4], color=GREY).encode(y="value:Q"))
    return alt.layer(*layers).properties(height=150)


def counts_over_time(steps: Mapping[date, CallStatistics], step: Step) -> Chart:
    """Calls, and how many of them escalated."""
    rows: Rows = []
    for day, stats in steps.items():
        escalated = round(stats["escalated"].total)
        span = {"date": moment(day), "end": moment(day + timedelta(days=STEP_DAYS[step]))}
        rows.append(span | {"kind": "Escalated", "calls": escalated, "low": 0, "high": escalated})
        rows.append(span | {"kind": "Other", "calls": stats.calls - escalated, "low": escalated, "high": stats.calls})
    colours = alt.Scale(domain=["Escalated", "Other"], range=[SENTIMENT_COLOURS["negative"], "#6E8CB0"])
    return (
        chart(rows)
        .mark_rect()
        .encode(
            x=_days(4),
            x2="end:T",
            y=alt.Y("low:Q", title=None, axis=alt.Axis(tickCount=4, format="d")),
            y2="high:Q",
            color=alt.Color("kind:N", scale=colours, title=None, legend=None),
            tooltip=[alt.Tooltip("date:T", title="From", format="%-d %B"), "kind:N", "calls:Q"],
        )
        .properties(height=150)
    )


def sentiments_over_time(days: Mapping[tuple[date, str], int]) -> Chart:
    """Sentences a day, by sentiment."""
    rows: Rows = [{"date": moment(day), "sentiment": label, "sentences": n} for (day, label), n in days.items()]
    colours = alt.Scale(domain=list(SENTIMENT_COLOURS), range=list(SENTIMENT_COLOURS.values()))
    return (
        chart(rows)
        .mark_bar()
        .encode(
            x=alt.X("date:T", timeUnit="yearmonthdate", title=None, axis=dates(8)),
            y=alt.Y("sentences:Q", title=None, axis=alt.Axis(tickCount=3, format="d")),
            color=alt.Color("sentiment:N", scale=colours, title=None, legend=alt.Legend(orient="top")),
            tooltip=[alt.Tooltip("date:T", title="Day", format="%-d %B"), "sentiment:N", "sentences:Q"],
        )
        .properties(height=190)
    )


def means_by_person(
    groups: Sequence[tuple[str, str, MeasureSummary, str]], overall: float | None, legend: str
) -> Chart:
    """Means with their 95 % intervals, one row each: id, name, summary and the group that gives the colour."""
    rows: Rows = []
    for key, name, summary, group in groups:
        if summary.n:
            reach = summary.interval
            few = summary.n < 10
            rows.append(
                {
                    "id": key,
                    "name": f"{name} ({summary.n})",
                    "mood": summary.mean,
                    "low": reach.low if reach and not few else None,
                    "high": reach.high if reach and not few else None,
                    "group": group or "no team",
                    "calls": summary.n,
                    "note": "too few to compare" if few else "",
                    "few": few,
                }
            )
    order = [row["name"] for row in sorted(rows, key=lambda row: (row["few"], row["mood"]))]
    chosen = alt.selection_point(name="row", fields=["id"], on="click", toggle=False)
    base = chart(rows).encode(
        y=alt.Y(
            "name:N",
            sort=order,
            title=None,
            axis=alt.Axis(labelLimit=190, ticks=False, domain=False, labelOverlap=False, grid=False),
        ),
        color=alt.Color("group:N", scale=alt.Scale(range=SERIES), title=legend, legend=alt.Legend(orient="top")),
        opacity=alt.condition("datum.few", alt.value(0.55), alt.value(1.0)),
    )
    tooltip = [alt.Tooltip("name:N", title="Name"), alt.Tooltip("mood:Q", format="+.2f", title="Mood"),
               alt.Tooltip("calls:Q", title="Calls"), alt.Tooltip("note:N", title=" ")]  # fmt: skip
    lines = base.mark_rule(strokeWidth=2.5).encode(
        x=alt.X(
            "low:Q",
            title="How callers felt (mean, 95 % interval)",
            axis=alt.Axis(tickCount=6, format=".2f"),
            scale=alt.Scale(padding=14),
        ),
        x2="high:Q",
    )
    marks = (
        base.mark_point(filled=True, size=85, cursor="pointer").encode(x="mood:Q", tooltip=tooltip).add_params(chosen)
    )
    layers: list[Any] = [lines, marks]
    if overall is not None:
        mean = chart([{"mood": overall}])
        layers.insert(0, mean.mark_rule(strokeDash=[5, 4], color=GREY).encode(x="mood:Q"))
    return alt.layer(*layers).properties(height=alt.Step(24))


def points_of_scorecard(points: Sequence[tuple[str, str, MeasureSummary, float | None]]) -> Chart:
    """How often each was done, with its 95 % interval: name, what it asks for, summary and the team's share, which is
    the small mark. A click chooses the point."""
    rows: Rows = []
    for name, asks, met, team in points:
        title = formatting.words(name)
        if met.n:
            band = met.interval
            reach = {"low": band.low, "high": band.high} if band else {"low": None, "high": None}
            rows.append(
                {
                    "id": name,
                    "name": f"{title} ({met.n})",
                    "asks": asks,
                    "share": met.mean,
                    "calls": met.n,
                    "team": team,
                    **reach,
                }
            )
    chosen = alt.selection_point(name="row", fields=["id"], on="click", toggle=False)
    labels = alt.Axis(labelLimit=150, ticks=False, domain=False, labelOverlap=False, grid=False)
    base = chart(rows).encode(y=alt.Y("name:N", sort=[row["name"] for row in rows], title=None, axis=labels))
    x = alt.X("low:Q", title=None, axis=alt.Axis(format="%", tickCount=5), scale=alt.Scale(domain=[0, 1], padding=10))
    tooltip = [
        alt.Tooltip("asks:N", title="Point"),
        alt.Tooltip("share:Q", title="Done", format="%"),
        alt.Tooltip("low:Q", title="At least", format="%"),
        alt.Tooltip("high:Q", title="At most", format="%"),
        alt.Tooltip("calls:Q", title="Confirmed calls"),
    ]
    lines = base.mark_rule(strokeWidth=2.5, color=SERIES[2]).encode(x=x, x2="high:Q")
    marks = (
        base.mark_point(filled=True, size=85, color=SERIES[2], opacity=1, cursor="pointer")
        .encode(x="share:Q", tooltip=tooltip)
        .add_params(chosen)
    )
    layers: list[Any] = [lines, marks]
    if any(row["team"] is not None for row in rows):
        layers.insert(0, base.mark_tick(thickness=2, size=16, color=GREY).encode(x="team:Q"))
    return alt.layer(*layers).properties(height=alt.Step(28))


def hours_of_week(hours: Mapping[tuple[int, int], CallStatistics]) -> Chart:
    """When calls come and how they feel: a square an hour of the week; larger with more calls."""
    rows: Rows = [
        {"day": WEEKDAYS[day], "hour": hour, "mood": stats["mood_caller"].mean, "calls": stats.calls}
        for (day, hour), stats in hours.items()
        if stats["mood_caller"].n
    ]
    return (
        chart(rows)
        .mark_square(opacity=1)
        .encode(
            x=alt.X("hour:O", title="Hour of the day", axis=alt.Axis(labelAngle=0, grid=False, labelOverlap="parity")),
            y=alt.Y("day:N", sort=list(WEEKDAYS), title=None, axis=alt.Axis(grid=False)),
            size=alt.Size("calls:Q", scale=alt.Scale(range=[20, 330]), legend=None),
            color=alt.Color("mood:Q", scale=MOOD, title="Mood",
                            legend=alt.Legend(orient="right", gradientLength=110, values=[-0.3, 0, 0.3])),
            tooltip=["day:N", "hour:O", alt.Tooltip("mood:Q", format="+.2f", title="Mood"),
                     alt.Tooltip("calls:Q", title="Calls")],
        )
        .properties(height=230)
    )  # fmt: skip


def calls_by_group(groups: Iterable[tuple[str, CallStatistics]], title: str) -> Chart:
    """How many calls each, coloured by how the caller felt."""
    rows: Rows = [
        {"name": name, "calls": stats.calls, "mood": stats["mood_caller"].mean or 0.0} for name, stats in groups
    ]
    return (
        chart(rows)
        .mark_bar(cornerRadiusEnd=3)
        .encode(
            x=alt.X("calls:Q", title=title, axis=alt.Axis(tickMinStep=1, tickCount=4, format="d")),
            y=alt.Y(
                "name:N",
                sort="-x",
                title=None,
                axis=alt.Axis(labelLimit=170, ticks=False, domain=False, labelOverlap=False),
            ),
            color=alt.Color("mood:Q", scale=MOOD, title="Mood", legend=None),
            tooltip=["name:N", "calls:Q", alt.Tooltip("mood:Q", format="+.2f", title="Mood")],
        )
        .properties(height=alt.Step(22))
    )


def _days(ticks: int, padding: int = 0) -> alt.X:
    """With room for the first and last mark."""
    return alt.X("date:T", title=None, axis=dates(ticks), scale=alt.Scale(padding=padding))


def _zero() -> Chart:
    return chart([{"mood": 0}]).mark_rule(color=GREY, opacity=0.45).encode(y="mood:Q")
