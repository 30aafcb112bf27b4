"""How scorecards went, on Agents: each point as a share of the calls on which a person confirmed it, and over time."""

from __future__ import annotations

import streamlit as st

from dashboard.ui import charts, formatting, stat_cards
from storage.db.engine import Database
from storage.queries.history import Scope
from storage.queries.periods import Period, Step
from storage.scorecards.statistics import by_point
from storage.viewer import Viewer


def show(
    database: Database, viewer: Viewer, scope: Scope, period: Period, step: Step, team: Scope | None = None
) -> None:
    """Nothing at all where nobody has confirmed a card."""
    with database.session() as session:
        points = by_point(session, viewer, scope, period)
        beside = {one.point: one.total for one in by_point(session, viewer, team, period)} if team else {}
    if not points:
        return
    steps: Step = "week" if step == "day" else step  # a day's few calls say little
    stat_cards.section(
        "Scorecard",
        "only what a person confirmed · calls in brackets · 95 % intervals"
        + (" · grey: the team" if beside else "")
        + " · a click shows how it changes",
    )
    names = {one.point: one.asks or formatting.words(one.point) for one in points}
    left, right = st.columns([3, 2])
    with left:
        rows = [(one.point, names[one.point], one.total, beside[one.point].mean if one.point in beside else None)
                for one in points]  # fmt: skip
        clicked = charts.show(charts.points_of_scorecard(rows), choose="row", key="scorecard").get("id")
    chosen = next((one for one in points if one.point == clicked), max(points, key=lambda one: one.total.n))
    with right:
        st.caption(f"{names[chosen.point]}, a {steps}")
        other = beside[chosen.point].mean if chosen.point in beside else None
        charts.show(charts.share_over_time(chosen.in_steps(steps), other))
