"""Agents: how calls went, for everyone or for one person. Figures to talk about, not to judge by."""

from __future__ import annotations

import streamlit as st

from dashboard.ui import charts, elements, filters, formatting, history_view, scorecard_view, stat_cards, tables
from storage.db.engine import Database
from storage.queries import history
from storage.queries.history import Person, Scope
from storage.queries.periods import Period, Step
from storage.queries.statistics import trend
from storage.viewer import Viewer

MOOD = (
    "An agent's mood is the mean over their sentences, from -1 to 1. Neutral ones count 0, such as apologies and what "
    "will be done; a sentence counts by its own words, not by what it answers."
)


def show(viewer: Viewer, database: Database) -> None:
    tables.apply_styles()
    with database.session() as session:
        people = history.agents(session, viewer)
    elements.heading("Agents" if viewer.sees_all else "My figures", "how calls went, and whether that changes")
    if not people:
        elements.empty_state(
            "No calls yet",
            "Here you will see how each agent's calls feel over time. To look around:",
            "tenor sample add",
        )
        return
    with st.container(horizontal=True):
        agent = _agent(viewer, people)
        period = filters.period()
        step = filters.step(period) if agent else "day"
    if agent is None:
        _everyone(viewer, database, people, period)
    else:
        _one(viewer, database, people[agent], people, period, step)


def _agent(viewer: Viewer, people: dict[str, Person]) -> str | None:
    if not viewer.sees_all:
        return viewer.name if viewer.name in people else next(iter(people))
    named = {name: f"{person.name} · {person.team}" if person.team else person.name for name, person in people.items()}
    return filters.person("Agent", named, "agent", "Everyone") or None


def _one(
    viewer: Viewer, database: Database, person: Person, people: dict[str, Person], period: Period, step: Step
) -> None:
    team = Scope(team=person.team, without=person.id) if viewer.sees_all and person.team else None
    subject = history_view.load(database, viewer, person.name, Scope(agent=person.id), period, team)
    tables.sample_notice(subject.own.sample > 0)
    if not subject.own.calls:
        elements.empty_state("No calls in this period", f"{person.name} had none. Choose a longer period above.")
        return
    history_view.show_cards(subject)
    st.caption(MOOD)
    chosen = history_view.show_charts(subject, step)
    left, right = st.columns(2)
    with database.session() as session:
        hours = history.by_hour(session, viewer, subject.scope, period)
        tasks = history.by_task(session, viewer, subject.scope, period)
        rules = history.alerts(session, viewer, subject.scope, period)
    with left:
        stat_cards.section("Through the week", "colour: callers' mood · size: calls")
        charts.show(charts.hours_of_week(hours))
    with right:
        stat_cards.section("What calls were about", "colour: callers' mood")
        charts.show(charts.calls_by_group([(formatting.words(task), stats) for task, stats in tasks.items()], "Calls"))
    scorecard_view.show(database, viewer, subject.scope, period, step, team)
    if rules:
        st.html(
            "Alerts: "
            + " ".join(f'<span class="t-chip alert">{formatting.words(rule)}: {n}</span>' for rule, n in rules.items())
        )
    history_view.show_calls(database, viewer, subject, chosen, step, _names(people))


def _everyone(viewer: Viewer, database: Database, people: dict[str, Person], period: Period) -> None:
    with database.session() as session:
        sites, queues = history.values(session, viewer, "site"), history.values(session, viewer, "queue")
    teams = sorted({person.team for person in people.values() if person.team})
    with st.container(horizontal=True):
        scope = Scope(
            team=filters.choice("Team", teams, "team"),
            site=filters.choice("Site", sites, "site"),
            queue=filters.choice("Queue", queues, "queue"),
        )
    with database.session() as session:
        agents = history.by_agent(session, viewer, scope, period)
        hours = history.by_hour(session, viewer, scope, period)
    subject = history_view.load(database, viewer, "Everyone", scope, period, None)
    tables.sample_notice(subject.own.sample > 0)
    if not subject.own.calls:
        elements.empty_state("No calls in this period", "Choose a longer one, or fewer conditions.")
        return
    history_view.show_cards(subject)
    st.caption(MOOD)
    left, right = st.columns([3, 2])
    with left:
        stat_cards.section(
            "Agents",
            "calls in brackets · dashed: everyone · intervals that overlap are no difference · a click opens one",
        )
        rows = [
            (name, people[name].name, stats["mood_caller"], people[name].team)
            for name, stats in agents.items()
            if name in people
        ]
        overall = subject.own["mood_caller"].mean
        chosen = charts.show(charts.means_by_person(rows, overall, "Team"), choose="row", key="dots").get("id")
        if chosen in people:
            filters.select("agent", chosen)
    with right:
        stat_cards.section("Through the week", "colour: callers' mood · size: calls")
        charts.show(charts.hours_of_week(hours))
        trends = {side: trend({day: stats[side] for day, stats in subject.days.items()}) for side in charts.SIDES}
        stat_cards.section(
            "All together",
            f"within the period, callers: {stat_cards.trend_text(trends['mood_caller'], subject.own.calls)}",
        )
        charts.show(charts.mood_over_time(history.in_steps(subject.days, "week"), trends, None, "week"))
    scorecard_view.show(database, viewer, scope, period, "week")
    tables.download(
        "Agents",
        "all",
        [
            {"agent": name, "team": people[name].team if name in people else "", "calls": stats.calls}
            | {measure: stats[measure].mean for measure in history_view.MEASURES}
            for name, stats in agents.items()
        ],
    )


def _names(people: dict[str, Person]) -> dict[str, str]:
    return {name: person.name for name, person in people.items()}
