"""Agents: how calls went, for everyone or for one person. Figures to talk about, not to judge by."""

from __future__ import annotations

import streamlit as st

from dashboard import filters, listing, look, lookback, plots, tiles
from storage import history
from storage.database import Database
from storage.figures import trend
from storage.history import Person, Scope
from storage.periods import Period, Step
from storage.viewer import Viewer


def show(viewer: Viewer, database: Database) -> None:
    listing.dress()
    with database.session() as session:
        people = history.agents(session, viewer)
    look.heading("Agents" if viewer.sees_all else "My calls", "how calls went, and whether that changes")
    if not people:
        look.empty(
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
    subject = lookback.read(database, viewer, person.name, Scope(agent=person.id), period, team)
    listing.sample_mark(subject.own.sample > 0)
    if not subject.own.calls:
        look.empty("No calls in this period", f"{person.name} had none. Choose a longer period above.")
        return
    lookback.show_tiles(subject)
    chosen = lookback.show_curves(subject, step)
    left, right = st.columns(2)
    with database.session() as session:
        hours = history.by_hour(session, viewer, subject.scope, period)
        tasks = history.by_task(session, viewer, subject.scope, period)
        rules = history.alerts(session, viewer, subject.scope, period)
    with left:
        tiles.section("Through the week", "colour: callers' mood · size: calls")
        plots.show(plots.rhythm(hours))
    with right:
        tiles.section("What calls were about", "colour: callers' mood")
        plots.show(plots.bars([(look.words(task), tally) for task, tally in tasks.items()], "Calls"))
    if rules:
        st.html(
            "Alerts: "
            + " ".join(f'<span class="t-chip alert">{look.words(rule)}: {n}</span>' for rule, n in rules.items())
        )
    lookback.show_calls(database, viewer, subject, chosen, step, _names(people))


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
    subject = lookback.read(database, viewer, "Everyone", scope, period, None)
    listing.sample_mark(subject.own.sample > 0)
    if not subject.own.calls:
        look.empty("No calls in this period", "Choose a longer one, or fewer conditions.")
        return
    lookback.show_tiles(subject)
    left, right = st.columns([3, 2])
    with left:
        tiles.section(
            "Agents",
            "calls in brackets · dashed: everyone · intervals that overlap are no difference · a click opens one",
        )
        rows = [
            (name, people[name].name, tally["mood_caller"], people[name].team)
            for name, tally in agents.items()
            if name in people
        ]
        overall = subject.own["mood_caller"].mean
        chosen = plots.show(plots.dots(rows, overall, "Team"), choose="row", key="dots").get("id")
        if chosen in people:
            filters.choose("agent", chosen)
    with right:
        tiles.section("Through the week", "colour: callers' mood · size: calls")
        plots.show(plots.rhythm(hours))
        trends = {side: trend({day: tally[side] for day, tally in subject.days.items()}) for side in plots.SIDES}
        tiles.section(
            "All together", f"within the period, callers: {tiles.tendency(trends['mood_caller'], subject.own.calls)}"
        )
        plots.show(plots.mood_over_time(history.in_steps(subject.days, "week"), trends, None, "week"))
    listing.download(
        "Agents",
        "all",
        [
            {"agent": name, "team": people[name].team if name in people else "", "calls": tally.calls}
            | {figure: tally[figure].mean for figure in lookback.FIGURES}
            for name, tally in agents.items()
        ],
    )


def _names(people: dict[str, Person]) -> dict[str, str]:
    return {name: person.name for name, person in people.items()}
