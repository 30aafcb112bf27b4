"""A person: asked for, offered after failures, there or not there."""

from __future__ import annotations

from statistics import fmean
from typing import Any, Final

from dialog.engine.asking import ask_again, drop_offers, topic
from dialog.engine.events import Call, Done, Failed, HandOver
from dialog.engine.session import OpenCall, Pending
from dialog.engine.turn import Turn, spoken

ACTION: Final = "handover"
MOODS: Final = {"negative": -1.0, "neutral": 0.0, "positive": 1.0}
MOOD_LINES: Final = 3
"""How many of the shopper's last lines their mood is the mean of,"""
FEWEST_LINES: Final = 2
"""and how many there have to be: one bad word is no mood."""
MOOD: Final = "mood"


def ask_for_person(turn: Turn, reason: str, *, queue: str = "") -> None:
    """Call for a person at once, without asking back; the open question waits."""
    session = turn.session
    turn.note("person", reason)
    summary = summarised(turn)
    call = f"{session.turn}.person"
    turn.effects.append(
        Call(
            id=call,
            action=ACTION,
            arguments={"reason": reason, "summary": summary},
            key=f"{session.call}/{call}",
            deadline_ms=3000,
        )
    )
    session.calls[call] = OpenCall(
        action=ACTION, state=queue or turn.assistant.patterns.handover_queue, turn=session.turn, reason=reason
    )


def person_answered(turn: Turn, opened: OpenCall, answer: Done | Failed) -> None:
    if isinstance(answer, Done) and _coming(answer.result):
        turn.reply("person_coming")
        turn.effects.append(HandOver(opened.state, opened.reason, summarised(turn)))
        turn.session.handed_over = True
        return
    nobody_came(turn)


def nobody_came(turn: Turn) -> None:
    """The shopper is told, and has the choice to go on here."""
    turn.reply("person_nobody")
    turn.session.pending = Pending(kind="person", state=turn.session.state, slot="nobody", under=_open_question(turn))


def taken_over(turn: Turn, agent: str) -> None:
    """The first of several who take it has it."""
    session = turn.session
    if session.agent and agent != session.agent:
        turn.note("taken already", session.agent)
        return
    turn.note("taken over", agent)
    session.handed_over, session.agent = True, agent


def given_back(turn: Turn, agent: str) -> None:
    """The assistant goes on by itself; only who has the conversation gives it back."""
    session = turn.session
    if not session.handed_over or (agent and session.agent and agent != session.agent):
        turn.note("not theirs to give back", agent)
        return
    turn.note("given back", agent)
    session.handed_over, session.agent = False, ""
    turn.reply("agent_back")
    drop_offers(turn)
    ask_again(turn)


def ask_when_unhappy(turn: Turn) -> None:
    """Once per conversation, if the flow says so: the shopper's last lines were worse than it allows."""
    session, below = turn.session, turn.assistant.patterns.handover_mood
    if below is None or MOOD in session.alerts or session.handed_over or session.ended:
        return
    if len(session.moods) >= FEWEST_LINES and fmean(session.moods) < below and not _asked(turn):
        session.alerts = [*session.alerts, MOOD]
        ask_for_person(turn, MOOD)


def _asked(turn: Turn) -> bool:
    return any(call.action == ACTION for call in turn.session.calls.values())


def note_mood(turn: Turn, sentiment: str) -> None:
    """How the shopper's line sounds; what nobody judged does not count."""
    if (mood := MOODS.get(sentiment)) is not None:
        turn.session.moods = [*turn.session.moods, mood][-MOOD_LINES:]


def _open_question(turn: Turn) -> Pending | None:
    pending = turn.session.pending
    while pending is not None and pending.kind == "person":
        pending = pending.under
    return pending


def _coming(result: dict[str, Any]) -> bool:
    return bool(result.get("available") or result.get("taken") or result.get("queued"))


def offer_person(turn: Turn) -> None:
    """After too many failures."""
    session = turn.session
    under = _open_question(turn)
    session.pending = Pending(kind="person", state=session.state, under=under)
    session.failures = 0
    if under is not None:
        under.failures = 0
    turn.note("offers a person")
    turn.reply("person_offer")


def summarised(turn: Turn) -> str:
    """What a person should know: the task, its values, the last words."""
    task = turn.session.task
    if task is None:
        return str(turn.session.context.get("text", ""))[:300]
    values = ", ".join(f"{name} {spoken(value)}" for name, value in task.slots.items() if value.origin != "flow")
    return f"About {topic(turn)}" + (f": {values}" if values else "") + (" (answered)" if task.done else " (open)")
