"""Who fits: free agents, in the order in which calls like this one went with them."""

from __future__ import annotations

from typing import Any

import pytest
from sqlmodel import Session, col, select

from storage.db.engine import Database
from storage.queries.fit import Wanted, suggest, suggest_for
from storage.tables import Agent, Sentence
from storage.viewer import HOUSE, Viewer
from tenor.errors import BadInput, Refused
from tests.storage.conversations import START, add_call

NOW = START + 40_000


def past(
    session: Session,
    agent: str,
    number: int,
    task: str = "refund",
    began: float = -0.6,
    ended: float = 0.3,
    **more: Any,
) -> None:
    name = f"{agent}-{task}-{began}-{number}"
    about = {"metrics": {"mood_now.caller": ended}, "started_at": START + number, **more}
    add_call(session, name, "I want my money.", "Of course.", agent=agent, task=task, **about)
    said = session.exec(select(Sentence).where(Sentence.call == name, Sentence.role == "caller")).one()
    said.mood = began


def fill(session: Session, agent: str, well: int, badly: int, **about: Any) -> None:
    for number in range(well):
        past(session, agent, number, ended=0.3, **about)
    for number in range(well, well + badly):
        past(session, agent, number, ended=-0.5, **about)


def test_agents_are_in_the_order_of_how_such_calls_went_and_few_calls_prove_little(database: Database) -> None:
    with database.begin() as session:
        session.add(Agent(name="anna", display_name="Anna Berg", team="North"))
        fill(session, "anna", 36, 4)
        fill(session, "ben", 20, 20)
        fill(session, "cleo", 2, 0)
        fill(session, "ben", 60, 0, task="balance", began=0.2)  # other calls than this one
    with database.session() as session:
        found = suggest(session, HOUSE, Wanted("refund", unhappy=True), ["ben", "anna", "cleo", "new"], now=NOW)
    assert (found.basis, found.calls) == ("task and mood", 82)
    assert [fit.agent for fit in found.agents] == ["anna", "cleo", "new", "ben"]
    anna, cleo, new, ben = found.agents
    assert (anna.name, anna.team, anna.calls, anna.own) == ("Anna Berg", "North", 40, 0.9)
    assert anna.interval is not None
    assert (round(anna.interval.low, 2), round(anna.interval.high, 2)) == (0.77, 0.96)  # Wilson's, of 36 of 40
    assert (cleo.own, cleo.calls) == (1.0, 2)  # two good calls are not better than 36 of 40
    assert (new.own, new.interval, new.share) == (None, None, found.share)
    assert ben.own == 0.5


def test_with_too_few_such_calls_the_comparison_is_wider(database: Database) -> None:
    with database.begin() as session:
        fill(session, "anna", 5, 5)
        fill(session, "anna", 60, 0, began=0.2)
        fill(session, "ben", 70, 0, task="balance", began=0.2)
    with database.session() as session:
        assert suggest(session, HOUSE, Wanted("refund", unhappy=True), ["anna"], now=NOW).basis == "task"
        assert suggest(session, HOUSE, Wanted("fraud", unhappy=False), ["anna"], now=NOW).basis == "mood"
        assert suggest(session, HOUSE, Wanted("fraud", unhappy=True), ["anna"], now=NOW).basis == "all calls"


def test_what_did_not_go_well(database: Database) -> None:
    with database.begin() as session:
        past(session, "anna", 1, escalations=1)
        past(session, "anna", 2, summary={"outcome": "open"})
        past(session, "anna", 3, ended=-0.4)
        past(session, "anna", 4, summary={"outcome": "done"})
        past(session, "anna", 5, state="live")  # does not count yet
        past(session, "anna", 6, metrics={})  # nobody knows
    with database.session() as session:
        [anna] = suggest(session, HOUSE, Wanted("refund", unhappy=True), ["anna"], now=NOW).agents
    assert (anna.calls, anna.own) == (4, 0.25)


def test_without_being_told_the_free_are_those_at_work_without_a_call(database: Database) -> None:
    with database.begin() as session:
        for agent, hours, state in (("free", 1, "analysed"), ("gone", 6, "analysed"), ("busy", 1, "analysed")):
            began = NOW - 3600 * hours
            add_call(session, f"{agent}-last", "hi", agent=agent, started_at=began, ended_at=began + 60, state=state)
        add_call(session, "busy-now", "hi", agent="busy", started_at=NOW - 30, ended_at=None, state="live")
        waiting: dict[str, Any] = {
            "task": "refund",
            "metrics": {"mood_now.caller": -0.5},
            "state": "live",
            "started_at": NOW - 60,
        }
        add_call(session, "waits", "hi", waiting=True, handover={"state": "waiting"}, **waiting)
    with database.session() as session:
        found = suggest_for(session, HOUSE, "waits", now=NOW)
        assert [fit.agent for fit in found.agents] == ["free"]
        assert found.wanted == Wanted("refund", unhappy=True, call="waits")
        assert [fit.agent for fit in suggest_for(session, HOUSE, "waits", ["gone"], now=NOW).agents] == ["gone"]
        with pytest.raises(Refused, match="does not see how calls go with others"):
            suggest_for(session, Viewer("free", "agent"), "waits", now=NOW)
        with pytest.raises(BadInput, match="over"):
            suggest_for(session, HOUSE, "free-last", now=NOW)
        with pytest.raises(BadInput, match="no call"):
            suggest_for(session, HOUSE, "nowhere", now=NOW)
    with database.session() as session:
        assert session.exec(select(Sentence).where(col(Sentence.call) == "waits")).first() is not None
