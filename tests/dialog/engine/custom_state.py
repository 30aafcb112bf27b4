"""A state type as an author may write one."""

from __future__ import annotations

from dialog.engine.states.base import Answer
from dialog.engine.turn import Turn
from dialog.flow.model import State


class Points:
    def enter(self, turn: Turn, state: State) -> str | None:
        turn.say("You have 12 points.")
        return state.transitions.get("next_state")

    def receive(self, turn: Turn, state: State, answer: Answer) -> str | None:
        return None
