"""Digressions: the task in hand waits while another question is answered, and comes back by itself."""

from __future__ import annotations

from dialog.engine.asking import question, topic
from dialog.engine.session import Suspended
from dialog.engine.turn import Turn


def suspend(turn: Turn) -> None:
    """Put the task in hand aside, with its open question."""
    session = turn.session
    if session.task is None or session.pending is None or session.task.done:
        return
    pending = session.pending
    while pending.kind in ("person", "resume") and pending.under is not None:
        pending = pending.under
    if len(session.stack) >= turn.assistant.patterns.digressions:
        oldest = session.stack.pop(0)
        held, session.task = session.task, oldest.frame
        about = topic(turn)
        session.task = held
        turn.reply("dropped", topic=about)
    context = {name: session.context[name] for name in ("intent",) if name in session.context}
    session.stack.append(Suspended(frame=session.task, pending=pending, context=context))
    turn.note("puts aside", session.task.action)
    session.recall.update(session.task.slots)
    session.task = session.pending = None


def come_back(turn: Turn) -> None:
    """The digression is answered: the question that waited stands again."""
    session = turn.session
    waiting = session.stack.pop()
    session.task, session.pending = waiting.frame, waiting.pending
    session.context.update(waiting.context)
    session.state = waiting.pending.state
    turn.note("comes back to", waiting.frame.action)
    asked = question(turn, waiting.pending, again=True)
    turn.reply("back_to", topic=topic(turn), question=asked[:1].lower() + asked[1:])
