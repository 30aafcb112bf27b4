"""What Agents and Customers share: figures with comparisons, curves with trends, and the way down to a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import streamlit as st

from dashboard.ui import charts, formatting, stat_cards, tables
from storage.db.engine import Database
from storage.queries import history
from storage.queries.history import CallStatistics, Order, Scope
from storage.queries.people import customer_names
from storage.queries.periods import Period, Step
from storage.queries.statistics import FEWEST, MeasureSummary, trend
from storage.viewer import Viewer

ORDERS: tuple[Order, ...] = ("worst", "best", "newest")
SHOWN = 12
"""Calls of a list."""
MEASURES: Mapping[str, tuple[str, Callable[[float | None], str]]] = {
    "mood_caller": ("Callers' mood", formatting.mood),
    "mood_agent": ("Agent's mood", formatting.mood),
    "talk_share_agent": ("Agent talks", formatting.share),
    "silence_share": ("Silence", formatting.share),
    "escalated": ("Escalated", formatting.share),
}


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose calls are looked back at, and what they are compared with."""

    name: str
    scope: Scope
    days: Mapping[date, CallStatistics]
    own: CallStatistics
    before: CallStatistics
    team: CallStatistics | None
    """None where there is nobody to compare with, or it is not the viewer's to see."""
    period: Period


def load(database: Database, viewer: Viewer, name: str, scope: Scope, period: Period, team: Scope | None) -> Subject:
    with database.session() as session:
        days = history.by_day(session, viewer, scope, period)
        own = sum(days.values(), CallStatistics())
        before = history.total(session, viewer, scope, period.before())
        beside = history.total(session, viewer, team, period) if team else None
    return Subject(name, scope, days, own, before, beside, period)


def show_cards(subject: Subject) -> None:
    made = [_calls_card(subject)]
    for measure, (title, written) in MEASURES.items():
        own = subject.own[measure]
        mood = measure in charts.SIDES
        remarks = []
        if subject.team is not None:
            remarks.append(stat_cards.comparison(own, subject.team[measure], "the team", written, mood=mood))
        if subject.before.calls >= FEWEST:  # else it is said once, beside the calls
            remarks.append(stat_cards.comparison(own, subject.before[measure], "the period before", written, mood=mood))
        made.append(stat_cards.StatCard(title, written(own.mean), tuple(remarks)))
    stat_cards.show(made)


def show_charts(subject: Subject, step: Step) -> date | None:
    """Mood with its trend, then the other figures; the step that was clicked."""
    steps = history.in_steps(subject.days, step)
    trends = {side: trend({day: stats[side] for day, stats in subject.days.items()}) for side in charts.SIDES}
    words = [
        f"{name}: {stat_cards.trend_text(trends[side], subject.own[side].n)}" for side, name in charts.SIDES.items()
    ]
    if subject.team is not None:
        words.append("dashed: the team's callers")
    stat_cards.section("Mood", " · ".join(words))
    team = subject.team["mood_caller"] if subject.team is not None else MeasureSummary()
    chart = charts.mood_over_time(steps, trends, team.mean, step)
    clicked = charts.show(chart, choose="step", key="mood").get("day")
    _show_figures(subject, steps, step)
    return date.fromisoformat(clicked) if clicked else None


def _show_figures(subject: Subject, steps: Mapping[date, CallStatistics], step: Step) -> None:
    coarse = history.in_steps(subject.days, "week" if step == "day" else step)  # a day's few calls say little
    columns = st.columns(3)
    with columns[0]:
        stat_cards.section("Calls", f"a {step}; orange: escalated")
        charts.show(charts.counts_over_time(steps, step))
    shares = (
        ("talk_share_agent", "Agent talks", "share of all speech"),
        ("silence_share", "Silence", "share of calls"),
    )
    for column, (measure, title, about) in zip(columns[1:], shares, strict=True):
        with column:
            stat_cards.section(title, f"{about}; dashed: the team" if subject.team is not None else about)
            other = subject.team[measure].mean if subject.team is not None else None
            if subject.own[measure].n:
                charts.show(charts.measure_over_time(coarse, measure, other))
            else:
                st.caption("Only spoken calls have this.")


def show_calls(
    database: Database, viewer: Viewer, subject: Subject, chosen: date | None, step: Step, names: Mapping[str, str]
) -> None:
    """The calls behind the curves: of the step that was clicked, or the worst of the period."""
    span = _span(subject.period, chosen, step)
    when = f"{_day(span.first)} to {_day(span.last)}" if span.days > 1 else _day(span.first)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        stat_cards.section("Calls", when if chosen else f"{when}; click a mark above for its own")
        order: Order | None = st.segmented_control(
            "Order", ORDERS, default="worst", required=True, key="order", bind="query-params",
            format_func=lambda one: f"{one} first", label_visibility="collapsed",
        )  # fmt: skip
    with database.session() as session:
        found = history.calls(session, viewer, subject.scope, span, order or "worst", SHOWN)
        said = history.sentences(session, viewer, [call.id for call in found])
        called = customer_names(session, [call.customer for call in found])
    if found:
        own = {subject.scope.agent or subject.scope.customer: ""}  # the page is about them
        tables.call_list(found, said, called | dict(names) | own)
    else:
        st.caption("No calls.")
    with st.container(horizontal=True):
        tables.download("Figures", subject.name, figures_as_rows(subject, step))
        tables.download("Calls", subject.name, [tables.call_row(call, subject.period.zone) for call in found])


def figures_as_rows(subject: Subject, step: Step) -> list[dict[str, Any]]:
    """For a spreadsheet: every step and figure that is drawn."""
    rows = []
    for day, stats in history.in_steps(subject.days, step).items():
        row: dict[str, Any] = {step: day.isoformat(), "calls": stats.calls}
        for measure in MEASURES:
            mean = stats[measure].mean
            row[measure] = None if mean is None else round(mean, 4)
        rows.append(row)
    return rows


def _calls_card(subject: Subject) -> stat_cards.StatCard:
    now, then = subject.own.calls, subject.before.calls
    minutes = subject.own["minutes"]
    few = then < FEWEST
    told = f"{formatting.count(then)} in the period before"
    remarks = [stat_cards.Remark(f"{told}, too few to compare" if few else told, "few" if few else "")]
    if minutes.n:
        remarks.append(stat_cards.Remark(f"{minutes.mean:.1f} min on average"))
    return stat_cards.StatCard("Calls", formatting.count(now), tuple(remarks))


def _span(period: Period, chosen: date | None, step: Step) -> Period:
    if chosen is None:
        return period
    if step == "day":
        last = chosen
    elif step == "week":
        last = chosen + timedelta(days=6)
    else:
        last = (chosen.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)
    return Period(max(chosen, period.first), min(last, period.last), period.zone)


def _day(day: date) -> str:
    return f"{day.day} {day:%b}"
