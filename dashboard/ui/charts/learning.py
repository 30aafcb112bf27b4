"""Charts of training runs."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from dashboard.ui.charts.base import Chart, Rows, chart
from dashboard.ui.theme import SERIES
from storage.runs.runs import Curve


def run_colours(runs: Sequence[int]) -> dict[int, str]:
    """A colour for each run, the same in every chart and table of a page."""
    return {run: SERIES[number % len(SERIES)] for number, run in enumerate(runs)}


def run_curve(curves: dict[int, Curve]) -> Chart:
    """The curves of one name, a line for each run; dashes tell the eighth run and later ones from the first."""
    names = [f"run {run}" for run in curves]
    rows: Rows = [
        {"run": f"run {run}", "step": step, "value": value}
        for run, curve in curves.items()
        for step, value in zip(curve.steps, curve.values, strict=True)
    ]
    colours = alt.Scale(domain=names, range=list(run_colours(list(curves)).values()))
    dashes = alt.Scale(domain=names, range=[[1, 0] if number < len(SERIES) else [4, 3] for number in range(len(names))])
    few = max((len(curve.steps) for curve in curves.values()), default=0) <= 40
    point = alt.OverlayMarkDef(size=26) if few else False
    return (
        chart(rows)
        .mark_line(strokeWidth=2, point=point)
        .encode(
            x=alt.X("step:Q", title="step", axis=alt.Axis(tickCount=6, format="d", tickMinStep=1, grid=False)),
            y=alt.Y("value:Q", title=None, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=5)),
            color=alt.Color("run:N", scale=colours, title=None, legend=None),
            strokeDash=alt.StrokeDash("run:N", scale=dashes, legend=None),
            tooltip=["run:N", "step:Q", alt.Tooltip("value:Q", format=".4~g")],
        )
        .properties(height=190)
    )
