"""Charts of customers: who calls often and how they feel, and every contact of one."""

from __future__ import annotations

import altair as alt

from dashboard.ui import formatting
from dashboard.ui.charts.base import GREY, MOOD, Chart, chart, dates
from storage.queries.history import CallStatistics
from storage.tables import Call


def customers_by_mood(statistics: dict[str, CallStatistics], names: dict[str, str]) -> Chart:
    rows = [
        {"id": one, "name": names.get(one, one), "calls": stats.calls, "mood": stats["mood_caller"].mean,
         "escalated": round(stats["escalated"].total), "note": "too few to compare" if stats.calls < 10 else ""}
        for one, stats in statistics.items()
        if stats["mood_caller"].n
    ]  # fmt: skip
    chosen = alt.selection_point(name="customer", fields=["id"], on="click", toggle=False)
    return (
        chart(rows)
        .mark_point(filled=True, cursor="pointer")
        .encode(
            x=alt.X("calls:Q", title="Contacts", axis=alt.Axis(tickMinStep=1, tickCount=10)),
            y=alt.Y("mood:Q", title="Mood", scale=alt.Scale(nice=True)),
            size=alt.Size("escalated:Q", scale=alt.Scale(domain=[0, 10], range=[60, 420], clamp=True), legend=None),
            color=alt.Color("mood:Q", scale=MOOD, legend=None),
            opacity=alt.condition("datum.calls < 10", alt.value(0.6), alt.value(1)),
            tooltip=[alt.Tooltip("name:N", title="Customer"), alt.Tooltip("calls:Q", title="Contacts"),
                     alt.Tooltip("mood:Q", title="Mood", format="+.2f"), alt.Tooltip("escalated:Q", title="Escalated"),
                     alt.Tooltip("note:N", title=" ")],
        )
        .add_params(chosen)
        .properties(height=420)
    )  # fmt: skip


def contacts(calls: list[Call]) -> Chart:
    rows = [
        {"at": call.started_at * 1000, "mood": call.mood_caller, "medium": call.medium, "zero": 0,
         "about": formatting.words(call.task or "call"), "escalated": "escalated" if call.escalations else ""}
        for call in calls
        if call.mood_caller is not None
    ]  # fmt: skip
    base = chart(rows).encode(x=alt.X("at:T", title=None, axis=dates(8), scale=alt.Scale(padding=14)))
    y = alt.Y("mood:Q", title="Mood", axis=alt.Axis(tickCount=5), scale=alt.Scale(nice=True, zero=True))
    marks = base.mark_point(filled=True, size=110, opacity=1).encode(
        y=y,
        shape=alt.Shape("medium:N", title=None, legend=alt.Legend(orient="top", symbolFillColor=GREY),
                        scale=alt.Scale(domain=["voice", "chat", "email"], range=["circle", "square", "triangle-up"])),
        color=alt.Color("mood:Q", scale=MOOD, legend=None),
        tooltip=[alt.Tooltip("at:T", title="When", format="%-d %b %H:%M"), "about:N", "medium:N",
                 alt.Tooltip("mood:Q", format="+.2f", title="Mood"), alt.Tooltip("escalated:N", title=" ")],
    )  # fmt: skip
    stems = base.mark_rule(opacity=0.6, color=GREY).encode(y=alt.Y("zero:Q", title="Mood"), y2="mood:Q")
    return alt.layer(stems, marks).properties(height=230)
