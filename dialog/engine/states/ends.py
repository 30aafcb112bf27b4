"""States that leave a flow: for another with a way back, for a person, for good."""

from __future__ import annotations

from dialog.engine.events import End as EndEffect
from dialog.engine.handover import ask_for_person
from dialog.engine.states.base import Answer
from dialog.engine.turn import Turn
from dialog.flow.model import State


class Reset:
    """Forgets everything that was said."""

    def enter(self, turn: Turn, state: State) -> str | None:
        turn.forget()
        return state.transitions.get("next_state")

    def receive(self, turn: Turn, state: State, answer: Answer) -> str | None:
        return None


class Call:
    """Runs another flow and goes on here when it ends."""

    def enter(self, turn: Turn, state: State) -> str | None:
        if back := state.transitions.get("next_state") or state.transitions.get("done"):
            turn.session.returns.append(back)
        return state.transitions.get("flow")

    def receive(self, turn: Turn, state: State, answer: Answer) -> str | None:
        return None


class HandOver:
    """Passes the conversation to a person."""

    def enter(self, turn: Turn, state: State) -> str | None:
        ask_for_person(
            turn, str(state.properties.get("reason") or "asked"), queue=str(state.properties.get("queue") or "")
        )
        return None

    def receive(self, turn: Turn, state: State, answer: Answer) -> str | None:
        return None


class End:
    """The end of a flow that was called, or of the conversation."""

    def enter(self, turn: Turn, state: State) -> str | None:
        if turn.session.returns:
            return turn.session.returns.pop()
        if text := state.properties.get("text"):
            turn.say(turn.render(text))
        turn.session.ended = True
        turn.effects.append(EndEffect("flow"))
        return None

    def receive(self, turn: Turn, state: State, answer: Answer) -> str | None:
        return None
