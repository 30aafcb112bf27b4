"""What the Flows page is told of conversations with the assistant, on both databases."""

from __future__ import annotations

from datetime import UTC, date
from typing import Any

from storage.db.engine import Database
from storage.queries import assistant, calls
from storage.queries.assistant import AssistantFigures, StateFigures
from storage.queries.live import live_calls
from storage.queries.periods import Period
from storage.viewer import HOUSE, Viewer
from storage.writer.event_batch import EventBatch
from tenor.events import CallGivenBack, CallTakenOver, Event
from tests.storage.events import STARTED, info, looked_up, state, turn

DAY = Period(date.fromtimestamp(STARTED), date.fromtimestamp(STARTED), UTC)
ASKS = {"pending": {"kind": "slot", "slot": "location", "under": None}, "failures": 0}
SETTLED = {"pending": None, "failures": 0}


def keep(database: Database, *events: Event) -> None:
    with database.begin() as session:
        EventBatch((event, STARTED) for event in events).write(session)


def conversation(
    call: str, *lines: dict[str, Any], over: bool = True, agent: str = "", at: float = STARTED
) -> list[Event]:
    """A greeting, and one turn per line."""
    about = info(medium="chat", roles=("caller", "assistant"), agent=agent, started_at=at)
    turns = [turn(call, number, f"line {number}", **fields) for number, fields in enumerate(lines, 1)]
    end = [state(call, "ended", STARTED + 9)] if over else []
    return [state(call, "live", info=about), turn(call, 0, session=SETTLED), *turns, *end]


def handed_over(reason: str, **fields: Any) -> dict[str, Any]:
    called = looked_up("handover", {"reason": reason, "summary": ""}, {"available": True})
    told = {"queue": "retail", "reason": "asked", "summary": ""}
    return {"handover": told, "actions": (called,), "session": SETTLED, **fields}


def figures(database: Database, viewer: Viewer = HOUSE, period: Period = DAY) -> AssistantFigures:
    with database.session() as session:
        return assistant.figures(session, viewer, period)


def test_each_conversation_is_counted_once_by_what_became_of_it(database: Database) -> None:
    keep(
        database,
        *conversation("answered", {"session": ASKS}, {"session": SETTLED}),
        *conversation("goodbye", {"session": ASKS, "ended": True}, over=False),
        *conversation("left", {"session": SETTLED}, {"session": ASKS}),
        *conversation("lost", {"session": {"pending": None, "failures": 2}}),
        *conversation("paused", {"session": {"pending": {"kind": "resume", "under": None}, "failures": 0}}),
        *conversation("person", handed_over("asked"), handed_over("key 0"), {"session": ASKS}),
        *conversation("silent"),
        *conversation("now", {"session": ASKS}, over=False),
    )
    found = figures(database)
    assert found.outcomes == {"contained": 3, "gave_up": 2, "handed_over": 1, "silent": 1, "going_on": 1}
    assert (found.conversations, found.over, found.sample) == (8, 6, False)


def test_why_and_where_shoppers_leave_or_get_a_person(database: Database) -> None:
    keep(
        database,
        *conversation("1", {"state": "main.hours", "session": ASKS}),
        *conversation("2", {"state": "main.hours", "session": ASKS}),
        *conversation("3", {"state": "main.hours", "session": SETTLED}, handed_over("failures", state="main.price")),
        *conversation("4", handed_over("failures", state="main.price")),
        *conversation("5", handed_over("asked", state="main.price")),
    )
    found = figures(database)
    assert found.reasons == (("failures", 2), ("asked", 1))
    assert found.states == (
        StateFigures("main.hours", reached=3, gave_up=2),
        StateFigures("main.price", reached=3, handed_over=3),
        StateFigures("main_flow.input_intent", reached=5),
    )


def test_a_hand_over_without_an_action_says_the_reason_of_the_turn(database: Database) -> None:
    keep(database, *conversation("1", handed_over("", actions=())))
    assert figures(database).reasons == (("asked", 1),)


def test_only_the_period_and_what_the_viewer_may_see_counts(database: Database) -> None:
    week = 7 * 86_400
    keep(
        database,
        *conversation("anna's", {"session": SETTLED}, agent="anna"),
        *conversation("nobody's", {"session": SETTLED}),
        *conversation("earlier", {"session": SETTLED}, at=STARTED - week),
    )
    assert figures(database).conversations == 2
    assert figures(database, period=DAY.before()).conversations == 0
    anna = Viewer("anna", "agent")
    assert figures(database, anna).conversations == 1
    with database.session() as session:
        assert [one.call.id for one in assistant.latest(session, anna)] == ["anna's"]
        assert assistant.turns_of(session, anna, "nobody's") == []
        assert [one.turn for one in assistant.turns_of(session, anna, "anna's")] == [0, 1]


def test_the_latest_conversations_come_first_and_other_calls_do_not(database: Database) -> None:
    keep(
        database,
        *conversation("old", handed_over("asked"), at=STARTED - 60),
        *conversation("new", {}, {}),
        state("telephone", "live"),
    )
    with database.session() as session:
        found = assistant.latest(session, HOUSE)
        assert [(one.call.id, one.turns, one.handed_over) for one in found] == [("new", 3, False), ("old", 2, True)]
        assert len(assistant.latest(session, HOUSE, limit=1)) == 1


def test_nothing_yet(database: Database) -> None:
    assert figures(database) == AssistantFigures()
    with database.session() as session:
        assert assistant.latest(session, HOUSE) == []
        assert assistant.turns_of(session, HOUSE, "nothing") == []


def test_turns_with_a_session_of_another_shape_do_not_fail(database: Database) -> None:
    """What was imported, or written by an earlier version, may lack fields."""
    keep(database, *conversation("1", {"session": {}}), *conversation("2", {"session": {"pending": None}}))
    assert figures(database).outcomes == {"contained": 2}


def test_a_hand_over_whose_action_has_another_shape_is_counted(database: Database) -> None:
    keep(database, *conversation("1", handed_over("asked")))
    with database.begin() as session:
        (row,) = [one for one in assistant.turns_of(session, HOUSE, "1") if one.handover]
        row.actions = [7, {"name": "handover"}, {"name": "handover", "arguments": {"reason": 3}}]
        session.add(row)
    assert figures(database).reasons == (("asked", 1),)


def test_a_call_says_whether_it_waits_and_who_has_it(database: Database) -> None:
    ann, ben = Viewer("ann", "agent"), Viewer("ben", "agent")

    def seen(*events: Event) -> tuple[list[str], str, str]:
        keep(database, *events)
        with database.session() as session:
            row = calls.find(session, HOUSE, "c")
            assert row is not None
            live = {who.name: bool(live_calls(session, who)) for who in (ann, ben)}
            found = {who.name: calls.find(session, who, "c") is not None for who in (ann, ben)}
            assert live == found
            return [name for name, there in found.items() if there], row.agent, row.handover.get("state", "")

    asked = turn("c", 2, "a person", **handed_over("asked"))
    taken = [CallTakenOver(call="c", agent=who, at=STARTED + 5) for who in ("ann", "ben")]
    assert seen(*conversation("c", {}, over=False)) == ([], "", "")
    assert seen(asked) == (["ann", "ben"], "", "waiting")
    assert seen(turn("c", 3, event="nobody_came")) == (["ann", "ben"], "", "missed")
    assert seen(*taken) == (["ann"], "ann", "taken"), "the first has it"
    assert seen(asked, *taken) == (["ann"], "ann", "taken"), "read again, nothing changes"
    about = info(medium="chat", roles=("caller", "assistant"), started_at=STARTED, agent="")
    assert seen(state("c", "live", at=STARTED + 6, info=about)) == (["ann"], "ann", "taken")
    assert seen(CallGivenBack(call="c", agent="ben", at=STARTED + 7)) == (["ann"], "ann", "taken")
    assert seen(CallGivenBack(call="c", agent="ann", at=STARTED + 7)) == (["ann"], "ann", "")
    assert seen(turn("c", 5, "a person", **handed_over("asked"))) == (["ann", "ben"], "ann", "waiting")
    keep(database, state("c", "ended", STARTED + 9))
    with database.session() as session:
        assert calls.find(session, ben, "c") is None, "what is over waits for nobody"
