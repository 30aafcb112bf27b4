"""The summary of a call: what is in it, and which sentence says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from nlp.conversation.summary import summarize
from tenor.events import Alert, CallSummary, Sentence, SummaryPoint

TASKS = {"refund", "order_status", "appointment"}
Line = tuple[str, str, str] | tuple[str, str, str, dict[str, Any]]


def call(*lines: Line) -> list[Sentence]:
    """Of each line who says it, what, and with which intent; and what else is to be told of it."""
    return [
        Sentence(
            **{
                "call": "c",
                "channel": int(role != "caller"),
                "role": role,
                "sentence": f"c/{number}",
                "revision": 0,
                "start_ms": 1000 * number,
                "end_ms": 1000 * number + 900,
                "text": text,
                "sentiment": "neutral",
                "sentiment_scores": {},
                "intent": intent,
                "intent_score": 0.9,
                **(more[0] if more else {}),
            }
        )
        for number, (role, text, intent, *more) in enumerate(lines)
    ]


def summary_of(lines: Sequence[Sentence], task: str, *, over: bool = True, alerts: Sequence[Alert] = ()) -> CallSummary:
    return summarize(lines, task, TASKS, alerts, over=over)


def points(summary: CallSummary, kind: str) -> list[SummaryPoint]:
    return [point for point in summary.points if point.kind == kind]


WISH: Line = (
    "caller",
    "Hi, my name is Ada Young and I want to send a lamp back.",
    "refund",
    {"slots": {"person": "Ada Young"}},
)
CONTENT: tuple[Line, ...] = (
    ("agent", "Is there anything else I can help you with?", "offer_help"),
    ("caller", "No, that's all, thank you.", "denial"),
)
LABELS: Line = ("agent", "I've emailed you, and the return label has been sent to your house.", "resolution")


def test_what_was_wanted_answered_and_done_stands_there_with_its_sentence() -> None:
    lines = call(
        ("agent", "Welcome to Northwind, my name is Joe.", "greeting", {"slots": {"person": "Joe"}}),
        WISH,
        ("agent", "Of course. Which order was it in?", "ask_details"),
        ("caller", "Uh, it's order four four one.", "identification", {"slots": {"number": "four four one"}}),
        ("agent", "And how did you pay?", "unknown"),
        ("caller", "By invoice.", "give_details"),
        LABELS,
        *CONTENT,
    )
    found = summary_of(lines, "refund")
    assert [(point.text, point.sentence) for point in points(found, "wanted")] == [
        ("I want to send a lamp back.", "c/1")
    ]
    details = [(point.name, point.text, point.sentence) for point in points(found, "detail")]
    assert details == [
        ("person", "Ada Young", "c/1"),
        ("number", "order four four one", "c/3"),
        ("How did you pay?", "By invoice", "c/5"),
    ]
    assert [point.sentence for point in points(found, "done")] == ["c/6"]
    assert (found.outcome, found.headline) == ("done", "Refund: order four four one; By invoice")
    assert not points(found, "open")


@pytest.mark.parametrize(
    ("role", "text", "until"),
    [
        ("agent", "The money will be on your account within five days.", "within five days"),
        ("agent", "You'll receive the label by Friday. Is there anything else I can help you with?", "by Friday"),
        ("agent", "We are going to call you back tomorrow morning.", "tomorrow morning"),
        ("agent", "A technician will come next week.", "next week"),
        ("caller", "I'll send you the receipt in two weeks.", "in two weeks"),
        ("agent", "We will refund the whole amount.", ""),
    ],
)
def test_a_promise_says_by_whom_and_until_when(role: str, text: str, until: str) -> None:
    found = summary_of(call(WISH, (role, text, "resolution" if role == "agent" else "unknown")), "refund")
    assert [(point.by, point.until) for point in points(found, "promised")] == [(role, until)]
    assert not points(found, "done")
    assert found.outcome == ("promised" if role == "agent" else "open")


@pytest.mark.parametrize(
    "text",
    [
        "I'll just check that for you.",
        "Will that be all for today?",
        "I will be happy to help you with that.",
        "I'll put you on hold for a moment.",
    ],
)
def test_courtesies_are_no_promises(text: str) -> None:
    assert not points(summary_of(call(WISH, ("agent", text, "hold")), "refund"), "promised")


def test_an_agent_who_asks_for_everything_and_says_nothing_leaves_it_open() -> None:
    asked = call(WISH, ("agent", "And which order was it?", "ask_details"), ("caller", "Four four one", "give_details"))
    assert summary_of(asked, "refund").outcome == "open"
    assert [point.text for point in points(summary_of(asked, "refund"), "open")] == ["Nobody said what comes of it"]
    thanked = call(WISH, ("agent", "And which order was it?", "ask_details"), *CONTENT)
    found = summary_of(thanked, "refund")
    assert found.outcome == "unconfirmed"
    assert [(point.text, point.sentence) for point in points(found, "open")] == [
        ("Nobody said that it was done", "c/0")
    ]
    assert summary_of(thanked, "refund", over=False).outcome == "", "while it goes on, nothing is missing yet"


def test_what_cannot_be_done_is_open() -> None:
    found = summary_of(call(WISH, ("agent", "Unfortunately we can't take lamps back.", "resolution")), "refund")
    assert [point.sentence for point in points(found, "open")] == ["c/0", "c/1"]
    assert not points(found, "done")


def test_another_wish_that_nobody_answers_is_open() -> None:
    other: Line = ("caller", "And where is my other parcel?", "order_status")
    found = summary_of(call(WISH, LABELS, other, ("caller", "Bye.", "closing")), "refund")
    assert [point.sentence for point in points(found, "wanted")] == ["c/0", "c/2"]
    assert [point.sentence for point in points(found, "open")] == ["c/2"]


def test_what_is_said_again_takes_the_place_of_what_was_said_unless_it_is_a_part() -> None:
    asked: Line = ("agent", "What is your address?", "ask_details")
    again: Line = ("agent", "Sorry, could you repeat that?", "repeat")

    def address(first: str, second: str) -> str:
        lines = call(WISH, asked, ("caller", first, "give_details"), again, ("caller", second, "give_details"), LABELS)
        [found] = [point.text for point in points(summary_of(lines, "refund"), "detail") if point.name != "person"]
        return found

    assert address("12 Hill Road, Leeds", "12 Mill Road, Leeds") == "12 Mill Road, Leeds"
    assert address("12 Mill Road, Leeds", "Leeds") == "12 Mill Road, Leeds"


@pytest.mark.parametrize(
    ("moods", "course"),
    [
        ((-0.8, -0.7, 0.6, 0.8), "The caller was unhappy at first and pleased in the end"),
        ((0.0, 0.1, 0.0, -0.1), "The caller was calm throughout"),
        ((0.0, 0.0, -0.9, 0.1, 0.0, 0.0), "The caller was calm, and unhappy in between"),
    ],
)
def test_the_course_of_the_mood_points_to_where_it_was_strongest(moods: tuple[float, ...], course: str) -> None:
    said: list[Line] = [("caller", "I have been thinking about this", "unknown", {"mood": mood}) for mood in moods]
    [mood] = points(summary_of(call(*said), "unknown"), "mood")
    assert mood.text == course
    assert mood.sentence == f"c/{max(range(len(moods)), key=lambda one: abs(moods[one]))}"


def test_a_person_who_should_step_in_is_open() -> None:
    alert = Alert(
        call="c", alert="c/asks/0", rule="asks", severity="critical", text="The caller asks for a manager",
        at_ms=0, at=1.0, escalation=True, sentence="c/0",
    )  # fmt: skip
    [point] = points(summary_of(call(WISH, LABELS), "refund", alerts=[alert]), "open")
    assert (point.text, point.sentence) == ("The caller asks for a manager", "c/0")


def test_a_call_of_many_hours_has_a_short_summary_and_ids_are_its_own() -> None:
    lines: list[Line] = [WISH]
    for number in range(400):
        lines += [("agent", f"What is number {number}?", "ask_details"), ("caller", f"Number {number}", "give_details")]
    found = summary_of(call(*lines, LABELS), "refund")
    assert len(found.points) < 20
    assert len({point.id for point in found.points}) == len(found.points)


def test_nothing_was_said() -> None:
    assert summary_of([], "unknown") == CallSummary()


def test_a_complaint_after_an_answer_is_no_part_of_it() -> None:
    said = call(
        WISH,
        ("agent", "May I have the order number, please?", "ask_details"),
        (
            "caller",
            "It is four four seven one nine.",
            "give_details",
            {"slots": {"number": "four four seven one nine"}},
        ),
        ("agent", "Thank you, let me look that up for you.", "hold"),
        ("caller", "This is the third time I am calling about it.", "complaint"),
        ("caller", "Nobody thought of telling me.", "unknown"),
    )
    told = points(summary_of(said, "refund", over=False), "detail")
    assert [point.text for point in told if point.name == "number"] == ["four four seven one nine"]
