"""A turn as the Flows page shows it, whatever a turn may hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dashboard.ui import turn_view
from storage.tables import Turn

PARTS = (turn_view.path, turn_view.slots, turn_view.waiting, turn_view.actions, turn_view.reasons)
SCRIPT = "<script>alert(1)</script>"


def turn(**fields: Any) -> Turn:
    return Turn(**{"id": "c/1", "call": "c", "turn": 1, "at": 0.0, "input": "", **fields})


def test_a_slot_says_where_it_came_from() -> None:
    held = {
        "location": {"value": {"name": "Boston"}, "text": "boston", "turn": 1, "origin": "answered", "keep": "topic"},
        "item": {"value": "milk", "text": "milk", "turn": 0, "origin": "said", "score": 0.5},
    }
    shown = turn_view.slots(turn(slots={"location": "Boston"}, session={"task": {"slots": held}}))
    assert "<td>Boston</td><td>the answer to a question in this turn</td><td>boston</td>" in shown
    assert "<td>milk</td><td>said in turn 0</td><td>milk</td><td>50%</td>" in shown


def test_questions_and_tasks_that_wait_are_told_from_the_top() -> None:
    pending = {"kind": "slot", "slot": "location", "state": "w.ask", "failures": 2}
    under = {"kind": "confirm", "state": "r.reserve", "under": None}
    session = {
        "pending": {"kind": "person", "state": "m.home", "under": pending},
        "stack": [{"frame": {"intent": "reserve"}, "pending": under}],
    }
    shown = turn_view.waiting(turn(session=session))
    order = [
        "a person is offered",
        "a value is asked for <b>location</b>, not answered 2 times",
        "<b>reserve</b>: a yes",
    ]
    assert sorted(order, key=shown.index) == order


def test_an_action_says_its_time_its_source_and_why_it_failed() -> None:
    done = {
        "name": "weather",
        "arguments": {"location": {"name": "Boston"}},
        "result": {},
        "ms": 12.4,
        "source": "sample",
    }
    failed: dict[str, Any] = {
        "name": "prices",
        "arguments": {},
        "result": None,
        "error": "timed out",
        "uncertain": True,
    }
    shown = turn_view.actions(turn(actions=[done, failed]))
    assert "location: Boston · 12 ms · sample data" in shown
    assert "failed: timed out · may have happened all the same" in shown


def test_a_huge_result_is_cut() -> None:
    shown = turn_view.actions(turn(actions=[{"name": "prices", "arguments": {}, "result": {"text": "x" * 10_000_000}}]))
    assert len(shown) < 2 * turn_view.LONGEST
    assert "more letters" in shown


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("odd", [None, 7, "text", [], {}, [None], [[1, 2, 3]], {"slots": 3, "stack": [4]}])
def test_what_has_another_shape_does_not_fail(part: Callable[[Turn], str], odd: Any) -> None:
    kept = [odd] if not isinstance(odd, list) else odd
    session = {"task": odd, "pending": odd, "stack": kept, "wishes": kept, "returns": kept}
    assert part(turn(session=session, actions=kept, trace=kept, states=kept))


@pytest.mark.parametrize("part", PARTS)
def test_nothing_that_is_kept_becomes_markup(part: Callable[[Turn], str]) -> None:
    session = {
        "task": {"slots": {SCRIPT: {"text": SCRIPT, "keep": SCRIPT, "value": SCRIPT}}},
        "pending": {"kind": SCRIPT, "slot": SCRIPT, "labels": [SCRIPT], "state": SCRIPT},
        "stack": [{"frame": {"intent": SCRIPT}}],
        "returns": [SCRIPT],
    }
    action = {"name": SCRIPT, "arguments": {SCRIPT: SCRIPT}, "result": {SCRIPT: SCRIPT}, "error": SCRIPT}
    shown = part(turn(session=session, actions=[action], trace=[[SCRIPT, SCRIPT]], states=[SCRIPT], state=SCRIPT))
    assert SCRIPT not in shown
    assert "&lt;script&gt;" in shown
