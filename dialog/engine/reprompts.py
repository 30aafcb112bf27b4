"""What happens when a line is not understood, and when there is none."""

from __future__ import annotations

from dialog.engine.asking import ask_again, question
from dialog.engine.events import End
from dialog.engine.handover import offer_person
from dialog.engine.session import Pending
from dialog.engine.turn import Turn
from tenor.taxonomy.assistant import NO_MATCH


def not_answered(turn: Turn, lead: str = "") -> None:
    """The open question was not answered: reworded, then with an example, then a person."""
    pending = turn.session.pending
    assert pending is not None
    pending.failures += 1
    turn.note("failure", f"{pending.failures} of {pending.slot or pending.kind}")
    if pending.failures >= turn.assistant.patterns.failures:
        offer_person(turn)
        return
    turn.say(f"{lead} {question(turn, pending)}")


def not_understood(turn: Turn) -> str | None:
    """No question is open: the flow's own words first, then an example, then a person. A state to go to, if any."""
    session = turn.session
    session.failures += 1
    turn.note("failure", f"{session.failures} without a question")
    if session.failures >= turn.assistant.patterns.failures:
        offer_person(turn)
        return None
    if session.failures == 1 and (state := turn.assistant.intent_transitions.get(NO_MATCH)):
        return state
    turn.reply("not_understood", session.failures - 1)
    return None


def silence(turn: Turn) -> None:
    session = turn.session
    session.silences += 1
    turn.note("silence", str(session.silences))
    if session.silences > 2:
        if session.pending is not None and session.pending.kind == "person":
            session.ended = True
        if session.ended or session.task is None or session.pending is None:
            turn.reply("silence_end")
            session.ended = True
            turn.effects.append(End("silence"))
        else:
            offer_person(turn)
            session.silences = 1
        return
    if session.pending is not None:
        session.pending.failures = min(session.pending.failures + 1, turn.assistant.patterns.failures - 1)
        ask_again(turn)
    else:
        turn.reply("silence", session.silences - 1)


def long_pause(turn: Turn) -> bool:
    """In text, after half an hour: whether to go on is asked first."""
    session = turn.session
    if session.pending is None or session.task is None:
        return False
    session.pending = Pending(kind="resume", state=session.state, under=session.pending)
    turn.note("long pause")
    turn.say(question(turn, session.pending))
    return True
