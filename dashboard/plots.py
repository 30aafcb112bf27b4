"""The plots of the pages that look back. Colours are told apart with any colour vision; sides differ in shape too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

import altair as alt
import streamlit as st

from dashboard.look import SENTIMENT_COLOURS, SERIES
from storage.agreement import Pair
from storage.figures import Sums, Trend
from storage.history import Tally
from storage.operations import Wait
from storage.periods import Step

SIDES = {"mood_caller": "Caller", "mood_agent": "Agent"}
SIDE_COLOURS = alt.Scale(domain=list(SIDES.values()), range=[SERIES[0], SERIES[1]])
SIDE_SHAPES = alt.Scale(domain=list(SIDES.values()), range=["circle", "diamond"])
MOOD = alt.Scale(
    domain=[-0.4, 0, 0.4],
    range=[SENTIMENT_COLOURS["negative"], "#D9DDE3", SENTIMENT_COLOURS["positive"]],
    interpolate="rgb",
    clamp=True,
)
"""The same colour for the same mood on every plot."""
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
GREY = "#8A8F98"
WIDTHS = {"day": 1, "week": 7, "month": 30}
Rows = list[dict[str, Any]]
Plot = Any
"""A chart of Altair's, whose own types are not told apart here."""


def show(plot: Plot, *, choose: str = "", key: str = "") -> dict[str, Any]:
    """Draw it as wide as there is room. `choose` names the selection that a click makes: what was clicked.

    Not by `st.altair_chart`, which checks each plot against the whole schema and takes ten times as long."""
    spec = plot.to_dict(validate=False)
    if not choose:
        st.vega_lite_chart(spec, width="stretch", key=key or None)
        return {}
    event: Any = st.vega_lite_chart(spec, width="stretch", key=key, on_select="rerun", selection_mode=choose)
    chosen = event.selection.get(choose) or [{}]
    return dict(chosen[0])


def chart(rows: Rows) -> Plot:
    return alt.Chart(alt.Data(values=rows))  # type: ignore[no-untyped-call]


def mood_over_time(
    steps: Mapping[date, Tally], trends: Mapping[str, Trend | None], team: float | None, step: Step
) -> Plot:
    """Both sides: a mark a step, larger with more calls, and the trend with its band. A click chooses the step."""
    rows: Rows = []
    for day, tally in steps.items():
        for figure, side in SIDES.items():
            sums = tally[figure]
            if sums.n:
                rows.append(
                    {"day": day.isoformat(), "date": moment(day), "side": side, "mood": sums.mean, "calls": sums.n}
                )
    line: Rows = [
        {"date": moment(point.day), "side": SIDES[figure], "mood": point.value, "low": point.low, "high": point.high}
        for figure, found in trends.items()
        if found
        for point in found.line
    ]
    sides = alt.Legend(orient="top", symbolOpacity=1)
    colour = alt.Color("side:N", scale=SIDE_COLOURS, title=None, legend=sides)
    x = _days(8)
    y = alt.Y("mood:Q", title="Mood", scale=alt.Scale(nice=True, zero=True))
    chosen = alt.selection_point(name="step", fields=["day"], on="click", toggle=False)
    marks = (
        chart(rows)
        .mark_point(filled=True)
        .encode(
            x=x,
            y=y,
            color=colour,
            shape=alt.Shape("side:N", scale=SIDE_SHAPES, title=None, legend=sides),
            size=alt.Size("calls:Q", scale=alt.Scale(range=[25, 220]), legend=None),
            opacity=alt.condition(chosen, alt.value(0.75), alt.value(0.2)),
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
        rule = chart([{"mood": team, "name": "Team, callers"}])
        layers.insert(1, rule.mark_rule(strokeDash=[5, 4], color=SERIES[0], opacity=0.75).encode(y="mood:Q"))
        layers.append(
            rule.mark_text(align="left", dy=-7, dx=4, color=SERIES[0], fontSize=11).encode(
                y="mood:Q", x=alt.value(0), text="name:N"
            )
        )
    return alt.layer(*layers).properties(height=300)


def figure_over_time(steps: Mapping[date, Tally], figure: str, other: float | None, kind: str = "share") -> Plot:
    """A share with its 95 % intervals; the dashed line is the team."""
    rows: Rows = []
    for day, tally in steps.items():
        sums = tally[figure]
        if sums.n:
            reach = sums.interval
            low, high = (max(0.0, reach.low), min(1.0, reach.high)) if reach else (None, None)
            rows.append({"date": moment(day), "value": sums.mean, "low": low, "high": high, "calls": sums.n})
    base = chart(rows).encode(x=alt.X("date:T", title=None, axis=alt.Axis(format="%-d %b", tickCount=4, grid=False)))
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


def counts_over_time(steps: Mapping[date, Tally], step: Step) -> Plot:
    """Calls, and how many of them escalated."""
    rows: Rows = []
    for day, tally in steps.items():
        escalated = round(tally["escalated"].total)
        span = {"date": moment(day), "end": moment(day + timedelta(days=WIDTHS[step]))}
        rows.append(span | {"kind": "Escalated", "calls": escalated, "low": 0, "high": escalated})
        rows.append(span | {"kind": "Other", "calls": tally.calls - escalated, "low": escalated, "high": tally.calls})
    colours = alt.Scale(domain=["Escalated", "Other"], range=[SENTIMENT_COLOURS["negative"], "#9FB4CC"])
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


def dots(groups: Sequence[tuple[str, str, Sums, str]], overall: float | None, legend: str) -> Plot:
    """Means with their 95 % intervals, one row each: id, name, sums and the group that gives the colour."""
    rows: Rows = []
    for key, name, sums, group in groups:
        if sums.n:
            reach = sums.interval
            few = sums.n < 10
            rows.append(
                {
                    "id": key,
                    "name": f"{name} ({sums.n})",
                    "mood": sums.mean,
                    "low": reach.low if reach and not few else None,
                    "high": reach.high if reach and not few else None,
                    "group": group or "no team",
                    "calls": sums.n,
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
            axis=alt.Axis(labelLimit=190, ticks=False, domain=False, labelOverlap=False),
        ),
        color=alt.Color("group:N", scale=alt.Scale(range=SERIES), title=legend, legend=alt.Legend(orient="top")),
        opacity=alt.condition("datum.few", alt.value(0.35), alt.value(1.0)),
    )
    tooltip = [alt.Tooltip("name:N", title="Name"), alt.Tooltip("mood:Q", format="+.2f", title="Mood"),
               alt.Tooltip("calls:Q", title="Calls"), alt.Tooltip("note:N", title=" ")]  # fmt: skip
    lines = base.mark_rule(strokeWidth=2.5).encode(
        x=alt.X("low:Q", title="How callers felt (mean, 95 % interval)"), x2="high:Q"
    )
    marks = (
        base.mark_point(filled=True, size=85, cursor="pointer").encode(x="mood:Q", tooltip=tooltip).add_params(chosen)
    )
    layers: list[Any] = [lines, marks]
    if overall is not None:
        mean = chart([{"mood": overall}])
        layers.insert(0, mean.mark_rule(strokeDash=[5, 4], color=GREY).encode(x="mood:Q"))
    return alt.layer(*layers).properties(height=alt.Step(24))


def rhythm(hours: Mapping[tuple[int, int], Tally]) -> Plot:
    """When calls come and how they feel: a square an hour of the week; larger with more calls."""
    rows: Rows = [
        {"day": WEEKDAYS[day], "hour": hour, "mood": tally["mood_caller"].mean, "calls": tally.calls}
        for (day, hour), tally in hours.items()
        if tally["mood_caller"].n
    ]
    return (
        chart(rows)
        .mark_square()
        .encode(
            x=alt.X("hour:O", title="Hour of the day", axis=alt.Axis(labelAngle=0, grid=False)),
            y=alt.Y("day:N", sort=list(WEEKDAYS), title=None, axis=alt.Axis(grid=False)),
            size=alt.Size("calls:Q", scale=alt.Scale(range=[20, 330]), legend=None),
            color=alt.Color("mood:Q", scale=MOOD, title="Mood", legend=alt.Legend(orient="right", gradientLength=110)),
            tooltip=["day:N", "hour:O", alt.Tooltip("mood:Q", format="+.2f", title="Mood"),
                     alt.Tooltip("calls:Q", title="Calls")],
        )
        .properties(height=230)
    )  # fmt: skip


def bars(groups: Iterable[tuple[str, Tally]], title: str) -> Plot:
    """How many calls each, coloured by how the caller felt."""
    rows: Rows = [
        {"name": name, "calls": tally.calls, "mood": tally["mood_caller"].mean or 0.0} for name, tally in groups
    ]
    return (
        chart(rows)
        .mark_bar(cornerRadiusEnd=3)
        .encode(
            x=alt.X("calls:Q", title=title, axis=alt.Axis(tickMinStep=1)),
            y=alt.Y("name:N", sort="-x", title=None, axis=alt.Axis(labelLimit=170, ticks=False, domain=False)),
            color=alt.Color("mood:Q", scale=MOOD, title="Mood", legend=None),
            tooltip=["name:N", "calls:Q", alt.Tooltip("mood:Q", format="+.2f", title="Mood")],
        )
        .properties(height=alt.Step(22))
    )


def moment(day: date) -> str:
    """A day's beginning, as a browser reads it in its own zone."""
    return f"{day.isoformat()}T00:00:00"


def _days(ticks: int) -> alt.X:
    return alt.X("date:T", title=None, axis=alt.Axis(format="%-d %b", tickCount=ticks, grid=False))


def _zero() -> Plot:
    return chart([{"mood": 0}]).mark_rule(color=GREY, opacity=0.45).encode(y="mood:Q")


def sentiments_over_time(days: Mapping[tuple[str, str], int]) -> Plot:
    """Sentences a day, by sentiment."""
    rows: Rows = [{"date": f"{day}T00:00:00", "sentiment": label, "sentences": n} for (day, label), n in days.items()]
    colours = alt.Scale(domain=list(SENTIMENT_COLOURS), range=list(SENTIMENT_COLOURS.values()))
    return (
        chart(rows)
        .mark_bar()
        .encode(
            x=alt.X(
                "date:T", timeUnit="yearmonthdate", title=None, axis=alt.Axis(format="%-d %b", tickCount=8, grid=False)
            ),
            y=alt.Y("sentences:Q", title=None, axis=alt.Axis(tickCount=3, format="d")),
            color=alt.Color("sentiment:N", scale=colours, title=None, legend=alt.Legend(orient="top")),
            tooltip=[alt.Tooltip("date:T", title="Day", format="%-d %B"), "sentiment:N", "sentences:Q"],
        )
        .properties(height=190)
    )


def kappas(pairs: Sequence[Pair]) -> Plot:
    """Agreement of any two people, with its interval."""
    rows: Rows = []
    for pair in pairs[:12]:
        found = pair.agreement
        if found.kappa is not None:
            rows.append(
                {
                    "pair": f"{pair.one} and {pair.other}",
                    "kappa": found.kappa,
                    "low": max(-1.0, found.kappa - found.margin),
                    "high": min(1.0, found.kappa + found.margin),
                    "shared": found.shared,
                    "agreed": found.agreed,
                }
            )
    base = chart(rows).encode(
        y=alt.Y("pair:N", sort="-x", title=None, axis=alt.Axis(labelLimit=220, ticks=False, domain=False))
    )
    lines = base.mark_rule(strokeWidth=2.5, color=SERIES[0]).encode(
        x=alt.X("low:Q", title=None, scale=alt.Scale(domain=[-0.2, 1])), x2="high:Q"
    )
    marks = base.mark_point(filled=True, size=90, color=SERIES[0], opacity=1).encode(
        x="kappa:Q",
        tooltip=[
            "pair:N",
            alt.Tooltip("kappa:Q", format=".2f", title="Kappa"),
            alt.Tooltip("agreed:Q", format=".0%", title="Same answer"),
            alt.Tooltip("shared:Q", title="Sentences"),
        ],
    )
    names = base.mark_text(dy=-10, fontSize=11, color=GREY).encode(x="kappa:Q", text=alt.Text("kappa:Q", format=".2f"))
    return alt.layer(lines, marks, names).properties(height=alt.Step(38))


def answers(pair: Pair) -> Plot:
    """How often one said this and the other that; with many values, only where they differ."""
    rows: Rows = [{"one": first, "other": second, "times": n} for (first, second), n in pair.answers.items()]
    if len({row["one"] for row in rows}) > 4:
        return _differences(rows, pair)
    base = chart(rows).encode(
        x=alt.X("one:N", title=pair.one, axis=alt.Axis(labelAngle=0, labelLimit=110)),
        y=alt.Y("other:N", title=pair.other, axis=alt.Axis(labelLimit=110)),
        tooltip=["one:N", "other:N", "times:Q"],
    )
    squares = base.mark_rect().encode(color=alt.Color("times:Q", scale=alt.Scale(scheme="blues"), legend=None))
    most = max((row["times"] for row in rows), default=1)
    text = base.mark_text(fontSize=11).encode(
        text="times:Q", color=alt.condition(f"datum.times > {most / 2}", alt.value("white"), alt.value("#1B1F27"))
    )
    return alt.layer(squares, text).properties(height=alt.Step(34))


def _differences(rows: Rows, pair: Pair) -> Plot:
    apart = sorted((row for row in rows if row["one"] != row["other"]), key=lambda row: -row["times"])[:10]
    named = [row | {"said": f"{row['one']} / {row['other']}".replace("_", " ")} for row in apart]
    return (
        chart(named)
        .mark_bar(color=SERIES[1], cornerRadiusEnd=3)
        .encode(
            x=alt.X("times:Q", title=f"{pair.one} / {pair.other}", axis=alt.Axis(tickMinStep=1, format="d")),
            y=alt.Y("said:N", sort="-x", title=None, axis=alt.Axis(labelLimit=240, ticks=False, labelOverlap=False)),
            tooltip=[alt.Tooltip("one:N", title=pair.one), alt.Tooltip("other:N", title=pair.other), "times:Q"],
        )
        .properties(height=alt.Step(22))
    )


def flow(steps: Sequence[tuple[float, int]], step_s: int) -> Plot:
    """Sentences a step; a gap is a time without any."""
    rows: Rows = [{"at": at * 1000, "end": (at + step_s) * 1000, "low": 0, "sentences": n} for at, n in steps]
    return (
        chart(rows)
        .mark_rect(color=SERIES[0], opacity=0.75)
        .encode(
            x=alt.X("at:T", title=None, axis=alt.Axis(tickCount=5, grid=False)),
            x2="end:T",
            y=alt.Y("low:Q", title=None, axis=alt.Axis(tickCount=4, format="d")),
            y2="sentences:Q",
            tooltip=[alt.Tooltip("at:T", title="From", format="%-d %b %H:%M"), "sentences:Q"],
        )
        .properties(height=190)
    )


def latency_over_time(points: Sequence[tuple[float, float, float]], target_ms: float) -> Plot:
    """The middle of all sentences and the slowest twentieth, against the target."""
    names = ("Median", "95th percentile")
    rows: Rows = [
        {"at": at * 1000, "ms": value, "of": name}
        for at, *values in points
        for name, value in zip(names, values, strict=True)
    ]
    lines = (
        chart(rows)
        .mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=18))
        .encode(
            x=alt.X("at:T", title=None, axis=alt.Axis(tickCount=5, grid=False)),
            y=alt.Y("ms:Q", title="ms", axis=alt.Axis(tickCount=4)),
            color=alt.Color(
                "of:N", scale=alt.Scale(domain=names, range=SERIES[:2]), title=None, legend=alt.Legend(orient="top")
            ),
            strokeDash=alt.StrokeDash("of:N", legend=None, scale=alt.Scale(domain=names, range=[[1, 0], [5, 3]])),
            tooltip=[
                alt.Tooltip("at:T", title="About", format="%-d %b %H:%M"),
                "of:N",
                alt.Tooltip("ms:Q", format=".0f"),
            ],
        )
    )
    target = (
        chart([{"ms": target_ms}]).mark_rule(strokeDash=[2, 3], color=SENTIMENT_COLOURS["negative"]).encode(y="ms:Q")
    )
    return alt.layer(lines, target).properties(height=190)


def waits(stages: Sequence[Wait]) -> Plot:
    """How long each stage takes: a bar to the median, a tick at the 95th percentile."""
    rows: Rows = [{"stage": one.stage, "p50": one.p50, "p95": one.p95, "p99": one.p99} for one in stages]
    order = [one.stage for one in stages]
    base = chart(rows).encode(
        y=alt.Y(
            "stage:N",
            sort=order,
            title=None,
            axis=alt.Axis(labelLimit=260, ticks=False, domain=False, labelOverlap=False),
        ),
        tooltip=["stage:N", *(alt.Tooltip(f"{name}:Q", format=".1f") for name in ("p50", "p95", "p99"))],
    )
    bars = base.mark_bar(color=SERIES[0], cornerRadiusEnd=3, height={"band": 0.55}).encode(x=alt.X("p50:Q", title="ms"))
    ticks = base.mark_tick(color=SERIES[1], thickness=3, size=16).encode(x="p95:Q")
    text = base.mark_text(align="left", dx=8, color=GREY, fontSize=11).encode(
        x="p95:Q", text=alt.Text("p95:Q", format=".0f")
    )
    return alt.layer(bars, ticks, text).properties(height=alt.Step(27))
