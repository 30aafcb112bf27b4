"""What all charts share: scales for sides and moods, axes, and how a chart is drawn. The colours are the theme's; they
are told apart with any colour vision, and sides differ in shape too."""

from __future__ import annotations

from datetime import date
from typing import Any

import altair as alt
import pandas  # type: ignore[import-untyped]  # noqa: F401  # whole before Altair asks whether data is of its kinds
import streamlit as st

from dashboard.ui.theme import SENTIMENT_COLOURS, SERIES

SIDES = {"mood_caller": "Caller", "mood_agent": "Agent"}
SIDE_COLOURS = alt.Scale(domain=list(SIDES.values()), range=[SERIES[0], SERIES[1]])
SIDE_SHAPES = alt.Scale(domain=list(SIDES.values()), range=["circle", "diamond"])
GREY = SENTIMENT_COLOURS["neutral"]
MOOD = alt.Scale(
    domain=[-0.3, 0, 0.3],
    range=[SENTIMENT_COLOURS["negative"], GREY, SENTIMENT_COLOURS["positive"]],
    interpolate="rgb",
    clamp=True,
)
"""The same colour for the same mood on every chart; each step of it stands out from white and from dark."""
CONFIG = {
    "axis": {"labelFlush": False, "labelOverlap": True},
    "legend": {"symbolOpacity": 1, "symbolStrokeWidth": 0},
    "mark": {"tooltip": None},
}
"""Labels stand at their marks, and legends show the colours as they are."""
Rows = list[dict[str, Any]]
Chart = Any
"""A chart of Altair's, whose own types are not told apart here."""


def show(chart: Chart, *, choose: str = "", key: str = "") -> dict[str, Any]:
    """Draw it as wide as there is room. `choose` names the selection that a click makes: what was clicked.

    Not by `st.altair_chart`, which checks each chart against the whole schema and takes ten times as long."""
    spec = chart.to_dict(validate=False)
    spec["config"] = CONFIG
    if not choose:
        st.vega_lite_chart(spec, width="stretch", key=key or None)
        return {}
    event: Any = st.vega_lite_chart(spec, width="stretch", key=key, on_select="rerun", selection_mode=choose)
    chosen = event.selection.get(choose) or [{}]
    return dict(chosen[0])


def chart(rows: Rows) -> Chart:
    return alt.Chart(alt.Data(values=rows))  # type: ignore[no-untyped-call]


def moment(day: date) -> str:
    """A day's beginning, as a browser reads it in its own zone."""
    return f"{day.isoformat()}T00:00:00"


def dates(ticks: int, form: str = "%-d %b") -> alt.Axis:
    """Times along the bottom, written the same way from end to end; in a short span a day is written once."""
    once = alt.Undefined if "%H" in form else f"hours(datum.value) ? '' : timeFormat(datum.value, '{form}')"
    return alt.Axis(format=form, tickCount=ticks, grid=False, labelExpr=once)
