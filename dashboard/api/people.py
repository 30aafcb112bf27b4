"""Agents and customers, summed up over days, weeks and months."""

# Annotations are evaluated where they stand: FastAPI could not find `Who` by its name.

import time
from datetime import UTC
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Query

from dashboard.api import answers
from dashboard.api.calls import call_of
from dashboard.api.entrance import Entrance, Guest
from dashboard.api.problems import RESPONSES
from dashboard.api.routes import Route
from storage import history
from storage.database import Database
from storage.history import Person, Scope
from storage.people import customer_names
from storage.periods import Period, Step

Days = Annotated[int, Query(ge=1, le=1100, description="how many days back, today included (UTC)")]


def router(database: Database, entrance: Entrance) -> APIRouter:
    made = APIRouter(route_class=Route, responses=RESPONSES, tags=["people"])
    Who = Annotated[Guest, Depends(entrance.guest)]  # noqa: N806

    @made.get("/agents")
    def list_agents(who: Who, days: Days = 30) -> answers.Agents:
        """Agents with their calls of the last days summed up, the busiest first."""
        period = Period.ending(time.time(), days, UTC)
        with database.session() as session:
            people = history.agents(session, who.viewer)
            tallies = history.by_agent(session, who.viewer, Scope(), period)
        order = [*tallies, *(name for name in people if name not in tallies)]
        listed = [_agent(people.get(name, Person(name, name)), tallies.get(name, history.Tally())) for name in order]
        return answers.Agents(since=period.since, until=period.until, agents=listed)

    @made.get("/agents/{name:path}/history")
    def get_agent_history(who: Who, name: str, days: Days = 30, step: Step = "day") -> answers.AgentHistory:
        """An agent's calls in steps, in total, and in the period before."""
        period, scope = Period.ending(time.time(), days, UTC), Scope(agent=name)
        with database.session() as session:
            person = history.agents(session, who.viewer).get(name)
            if person is None or not who.viewer.may_see(name):
                raise HTTPException(404, "there is no such agent, or none that you may see")
            by_day = history.by_day(session, who.viewer, scope, period)
            before = history.total(session, who.viewer, scope, period.before())
            total = history.total(session, who.viewer, scope, period)
        steps = [
            answers.Step(first=first.isoformat(), tally=_tally(tally))
            for first, tally in history.in_steps(by_day, step).items()
        ]
        return answers.AgentHistory(
            name=person.id,
            display_name=person.name,
            team=person.team,
            site=person.site,
            since=period.since,
            until=period.until,
            total=_tally(total),
            before=_tally(before),
            steps=steps,
        )

    @made.get("/customers/{customer:path}")
    def get_customer(who: Who, customer: str, days: Days = 365) -> answers.Customer:
        """A customer across calls and channels."""
        period, scope = Period.ending(time.time(), days, UTC), Scope(customer=customer)
        with database.session() as session:
            ever = history.calls(session, who.viewer, scope, Period.ending(time.time(), 36_500 // 2, UTC), limit=1)
            if not customer or not ever:
                raise HTTPException(404, "there is no such customer, or none that you may see")
            total = history.total(session, who.viewer, scope, period)
            calls = history.calls(session, who.viewer, scope, period)
            name = customer_names(session, [customer]).get(customer, customer)
        return answers.Customer(
            id=customer, display_name=name, total=_tally(total), calls=[call_of(call) for call in calls]
        )

    return made


def _agent(person: Person, tally: history.Tally) -> answers.Agent:
    about = {"name": person.id, "display_name": person.name, "team": person.team, "site": person.site}
    return answers.Agent(**about, tally=_tally(tally))


def _tally(tally: history.Tally) -> answers.Tally:
    figures = {}
    for name in history.FIGURES:
        sums = tally[name]
        band = sums.interval
        figures[name] = answers.Figure(
            n=sums.n, mean=sums.mean, low=band.low if band else None, high=band.high if band else None
        )
    return answers.Tally(calls=tally.calls, figures=figures)
