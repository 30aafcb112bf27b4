"""States that say something."""

from __future__ import annotations

from dialog.engine.states.base import Answer
from dialog.engine.turn import Turn
from dialog.flow.model import State


class MessageText:
    def enter(self, turn: Turn, state: State) -> str | None:
        turn.say_card(turn.render(state.properties["text"]), interruptible=state.properties.get("interruptible", True))
        return state.transitions.get("next_state")

    def receive(self, turn: Turn, state: State, answer: Answer) -> str | None:
        return None


class MessageTextRandom:
    def enter(self, turn: Turn, state: State) -> str | None:
        turn.say_card(turn.worded(state.properties["responses"], state.full_name))
        return state.transitions.get("next_state")

    def receive(self, turn: Turn, state: State, answer: Answer) -> str | None:
        return None
