"""Agents and customers, summed up over days, weeks and months."""

# Annotations are evaluated where they stand: FastAPI could not find `Who` by its name.

import time
from datetime import UTC
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query

from dashboard.api import models
from dashboard.api.auth import ApiAuth, Requester
from dashboard.api.caching import ETagRoute
from dashboard.api.calls import call_of
from dashboard.api.errors import RESPONSES
from storage.db.engine import Database
from storage.queries import history
from storage.queries.fit import Fit, Wanted, suggest, suggest_for
from storage.queries.history import Person, Scope
from storage.queries.people import customer_names
from storage.queries.periods import Period, Step
from storage.queries.statistics import MeasureSummary
from storage.scorecards.statistics import PointStatistics, by_point
from tenor.taxonomy.polarity import FELT

Days = Annotated[int, Query(ge=1, le=1100, description="how many days back, today included (UTC)")]


def router(database: Database, auth: ApiAuth) -> APIRouter:
    made = APIRouter(route_class=ETagRoute, responses=RESPONSES, tags=["people"])
    Who = Annotated[Requester, Depends(auth.requester)]  # noqa: N806

    @made.get("/agents")
    def list_agents(who: Who, days: Days = 30) -> models.Agents:
        """Agents with their calls of the last days summed up, the busiest first."""
        period = Period.ending(time.time(), days, UTC)
        with database.session() as session:
            people = history.agents(session, who.viewer)
            tallies = history.by_agent(session, who.viewer, Scope(), period)
        order = [*tallies, *(name for name in people if name not in tallies)]
        listed = [
            _agent(people.get(name, Person(name, name)), tallies.get(name, history.CallStatistics())) for name in order
        ]
        return models.Agents(since=period.since, until=period.until, agents=listed)

    @made.get("/agents/{name:path}/history")
    def get_agent_history(who: Who, name: str, days: Days = 30, step: Step = "day") -> models.AgentHistory:
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
            models.Step(first=first.isoformat(), tally=_tally(tally))
            for first, tally in history.in_steps(by_day, step).items()
        ]
        return models.AgentHistory(
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

    @made.get("/agents/{name:path}/scorecard")
    def get_agent_scorecard(who: Who, name: str, days: Days = 90, step: Step = "week") -> models.AgentScorecard:
        """How often an agent met each point of the scorecard, on the calls that a person has confirmed."""
        period = Period.ending(time.time(), days, UTC)
        with database.session() as session:
            if name not in history.agents(session, who.viewer) or not who.viewer.may_see(name):
                raise HTTPException(404, "there is no such agent, or none that you may see")
            points = by_point(session, who.viewer, Scope(agent=name), period)
        return models.AgentScorecard(
            name=name, since=period.since, until=period.until, points=[_point(point, step) for point in points]
        )

    @made.get("/fits", responses=_REFUSED)
    def list_fits(
        who: Who,
        call: Annotated[str, Query(max_length=500, description="a call that waits for a person, or goes on")] = "",
        task: Annotated[str, Query(max_length=200, description="without a call: what the customer wants")] = "",
        mood: Annotated[float, Query(ge=-1, le=1, description="without a call: how they feel")] = 0.0,
        agents: Annotated[
            str,
            Query(max_length=20_000, description="account names of who is free, with commas; empty: by their calls"),
        ] = "",
    ) -> models.Fits:
        """Who fits a customer who waits: the free agents, in the order in which such calls went with them."""
        free = {name.strip() for name in agents.split(",")} - {""}
        with database.session() as session:
            if call:
                found = suggest_for(session, who.viewer, call, free)
            else:
                found = suggest(session, who.viewer, Wanted(task, mood <= -FELT), free)
        return models.Fits(
            task=found.wanted.task,
            unhappy=found.wanted.unhappy,
            basis=found.basis,
            calls=found.calls,
            share=found.share,
            agents=[_fit(one) for one in found.agents],
        )

    @made.get("/customers/{customer:path}")
    def get_customer(who: Who, customer: str, days: Days = 365) -> models.Customer:
        """A customer across calls and channels."""
        period, scope = Period.ending(time.time(), days, UTC), Scope(customer=customer)
        with database.session() as session:
            ever = history.calls(session, who.viewer, scope, Period.ending(time.time(), 36_500 // 2, UTC), limit=1)
            if not customer or not ever:
                raise HTTPException(404, "there is no such customer, or none that you may see")
            total = history.total(session, who.viewer, scope, period)
            calls = history.calls(session, who.viewer, scope, period)
            name = customer_names(session, [customer]).get(customer, customer)
        return models.Customer(
            id=customer, display_name=name, total=_tally(total), calls=[call_of(call) for call in calls]
        )

    return made


def _agent(person: Person, tally: history.CallStatistics) -> models.Agent:
    about = {"name": person.id, "display_name": person.name, "team": person.team, "site": person.site}
    return models.Agent(**about, tally=_tally(tally))


def _tally(tally: history.CallStatistics) -> models.Tally:
    figures = {}
    for name in history.MEASURES:
        figures[name] = _figure(tally[name])
    return models.Tally(calls=tally.calls, figures=figures)


def _figure(sums: MeasureSummary) -> models.Figure:
    band = sums.interval
    return models.Figure(n=sums.n, mean=sums.mean, low=band.low if band else None, high=band.high if band else None)


_REFUSED: dict[int | str, dict[str, Any]] = {403: {"description": "Agents do not see how calls go with others"}}


def _fit(one: Fit) -> models.Fit:
    band = one.interval
    own = models.Figure(n=one.calls, mean=one.own, low=band.low if band else None, high=band.high if band else None)
    return models.Fit(agent=one.agent, display_name=one.name, team=one.team, calls=one.calls, share=one.share, own=own)


def _point(found: PointStatistics, step: Step) -> models.PointHistory:
    steps = [models.PointStep(first=first.isoformat(), met=_figure(met)) for first, met in found.in_steps(step).items()]
    return models.PointHistory(point=found.point, asks=found.asks, met=_figure(found.total), steps=steps)
