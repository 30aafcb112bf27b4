"""Charts of how far people agree."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from dashboard.ui.charts.base import GREY, Chart, Rows, chart
from dashboard.ui.theme import SERIES
from storage.labels.trust.agreement import Pair


def kappas(pairs: Sequence[Pair]) -> Chart:
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
    least = min([-0.2, *(row["low"] for row in rows)])
    base = chart(rows).encode(
        y=alt.Y("pair:N", sort="-x", title=None, axis=alt.Axis(labelLimit=220, ticks=False, domain=False, grid=False))
    )
    lines = base.mark_rule(strokeWidth=2.5, color=SERIES[0]).encode(
        x=alt.X("low:Q", title=None, axis=alt.Axis(tickCount=6), scale=alt.Scale(domain=[least, 1.05])), x2="high:Q"
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
    names = base.mark_text(dy=-11, fontSize=11, color=GREY).encode(x="kappa:Q", text=alt.Text("kappa:Q", format=".2f"))
    return alt.layer(lines, marks, names).properties(height=alt.Step(38))


def confusion(pair: Pair) -> Chart:
    """How often one said this and the other that; with many values, only where they differ."""
    rows: Rows = [{"one": first, "other": second, "times": n} for (first, second), n in pair.answers.items()]
    if len({row["one"] for row in rows}) > 4:
        return _differences(rows, pair)
    base = chart(rows).encode(
        x=alt.X("one:N", title=pair.one, axis=alt.Axis(labelAngle=0, labelLimit=110)),
        y=alt.Y("other:N", title=pair.other, axis=alt.Axis(labelLimit=110)),
        tooltip=["one:N", "other:N", "times:Q"],
    )
    blues = alt.Scale(range=["#DCE8F4", "#9CC3E4", SERIES[0]], interpolate="rgb")
    squares = base.mark_rect().encode(color=alt.Color("times:Q", scale=blues, legend=None))
    most = max((row["times"] for row in rows), default=1)
    text = base.mark_text(fontSize=12).encode(
        text="times:Q", color=alt.condition(f"datum.times > {0.8 * most}", alt.value("white"), alt.value("#1B1F27"))
    )
    return alt.layer(squares, text).properties(height=alt.Step(34))


def _differences(rows: Rows, pair: Pair) -> Chart:
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
