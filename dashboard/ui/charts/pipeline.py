"""Charts of how fast the pipeline is."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from dashboard.ui.charts.base import GREY, Chart, Rows, chart, dates
from dashboard.ui.theme import SENTIMENT_COLOURS, SERIES
from storage.queries.operations import StageLatency


def throughput(steps: Sequence[tuple[float, int]], step_s: int, form: str) -> Chart:
    """Sentences a step; a gap is a time without any."""
    rows: Rows = [{"at": at * 1000, "end": (at + step_s) * 1000, "low": 0, "sentences": n} for at, n in steps]
    return (
        chart(rows)
        .mark_rect(color=SERIES[0])
        .encode(
            x=alt.X("at:T", title=None, axis=dates(5, form)),
            x2="end:T",
            y=alt.Y("low:Q", title=None, axis=alt.Axis(tickCount=4, format="d")),
            y2="sentences:Q",
            tooltip=[alt.Tooltip("at:T", title="From", format="%-d %b %H:%M"), "sentences:Q"],
        )
        .properties(height=190)
    )


def latency_over_time(points: Sequence[tuple[float, float, float]], target_ms: float, form: str) -> Chart:
    """The middle of all sentences and the slowest twentieth, against the target."""
    names = ("Median", "95th percentile")
    rows: Rows = [
        {"at": at * 1000, "ms": value, "of": name}
        for at, *values in points
        for name, value in zip(names, values, strict=True)
    ]
    lines = (
        chart(rows)
        .mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=24))
        .encode(
            x=alt.X("at:T", title=None, axis=dates(5, form), scale=alt.Scale(padding=8)),
            y=alt.Y("ms:Q", title="ms", axis=alt.Axis(tickCount=4, format="d")),
            color=alt.Color(
                "of:N", scale=alt.Scale(domain=names, range=SERIES[:2]), title=None, legend=alt.Legend(orient="top")
            ),
            shape=alt.Shape("of:N", title=None, scale=alt.Scale(domain=names, range=["circle", "diamond"])),
            tooltip=[
                alt.Tooltip("at:T", title="About", format="%-d %b %H:%M"),
                "of:N",
                alt.Tooltip("ms:Q", format=".0f"),
            ],
        )
    )
    target = chart([{"ms": target_ms}]).encode(y="ms:Q")
    rule = target.mark_rule(strokeDash=[5, 4], color=SENTIMENT_COLOURS["negative"])
    name = target.mark_text(text="target", align="left", dx=2, dy=-7, fontSize=11, color=GREY).encode(x=alt.value(0))
    return alt.layer(lines, rule, name).properties(height=190)


def stage_latencies(stages: Sequence[StageLatency]) -> Chart:
    """How long each stage takes: a bar to the median, a tick at the 95th percentile."""
    rows: Rows = [{"stage": one.stage, "p50": one.p50, "p95": one.p95, "p99": one.p99} for one in stages]
    order = [one.stage for one in stages]
    base = chart(rows).encode(
        y=alt.Y(
            "stage:N",
            sort=order,
            title=None,
            axis=alt.Axis(labelLimit=260, ticks=False, domain=False, labelOverlap=False, grid=False),
        ),
        tooltip=["stage:N", *(alt.Tooltip(f"{name}:Q", format=".1f") for name in ("p50", "p95", "p99"))],
    )
    bars = base.mark_bar(color=SERIES[0], cornerRadiusEnd=3, height={"band": 0.55}).encode(
        x=alt.X("p50:Q", title="ms", axis=alt.Axis(tickCount=6, format="d"))
    )
    ticks = base.mark_tick(color=SERIES[1], thickness=3, size=16, opacity=1).encode(x="p95:Q")
    text = base.mark_text(align="left", dx=8, color=GREY, fontSize=11).encode(
        x="p95:Q", text=alt.Text("p95:Q", format=".0f")
    )
    return alt.layer(bars, ticks, text).properties(height=alt.Step(27))
