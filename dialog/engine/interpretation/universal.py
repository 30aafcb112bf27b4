"""Words that work in every state, and small talk: neither counts as a failure, and the open question stays open."""

from __future__ import annotations

from dialog.engine.asking import ask_again, drop_offers
from dialog.engine.events import End
from dialog.engine.handover import ask_for_person
from dialog.engine.stack import come_back
from dialog.engine.turn import Turn


def small_talk(turn: Turn, intent: str) -> bool:
    """Answer small talk; then the open question stands again."""
    turn.note("small talk", intent)
    turn.reply(intent.removeprefix("smalltalk."))
    drop_offers(turn)
    ask_again(turn)
    return True


def universal(turn: Turn, intent: str) -> bool:
    """Carry a universal word out; False for yes and no, which are answers."""
    session = turn.session
    match intent:
        case "universal.repeat":
            if session.replies:
                for text in session.replies:
                    turn.say(text)
            else:
                turn.reply("nothing_to_repeat")
        case "universal.cancel":
            _cancel(turn)
        case "universal.start_over":
            turn.forget()
            turn.session.state = turn.home
            turn.reply("started_over")
        case "universal.help":
            turn.reply("help")
            drop_offers(turn)
            ask_again(turn)
        case "universal.person":
            ask_for_person(turn, "asked")
        case "universal.goodbye":
            turn.reply("goodbye")
            session.ended = True
            turn.effects.append(End("goodbye"))
        case "universal.wait":
            turn.reply("wait")
        case _:
            return False
    turn.note("universal", intent)
    return True


def _cancel(turn: Turn) -> None:
    session = turn.session
    busy = session.pending is not None or bool(session.wishes)
    if session.pending is not None and session.task is not None and not session.task.done:
        session.recall |= session.task.slots  # "how much is it" still means what was not reserved
        session.task = session.frames[-1] if session.frames else None
    session.pending, session.wishes, session.returns, session.calls = None, [], [], {}
    session.state = turn.home
    changed = not busy and session.task is not None and session.task.changed
    turn.reply("cancelled" if busy else "changed" if changed else "nothing_to_cancel")
    if session.stack:
        come_back(turn)
