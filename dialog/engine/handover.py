"""A person: asked for, offered after failures, there or not there."""

from __future__ import annotations

from typing import Any

from dialog.engine.asking import topic
from dialog.engine.events import Call, Done, Failed, HandOver
from dialog.engine.session import OpenCall, Pending
from dialog.engine.turn import Turn, spoken

ACTION = "handover"


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
