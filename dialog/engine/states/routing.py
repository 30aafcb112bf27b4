"""States that only decide where to go."""

from __future__ import annotations

from dialog.engine.session import SlotValue
from dialog.engine.states.base import Answer
from dialog.engine.turn import Turn
from dialog.flow.model import State
from dialog.flow.template import Template


class ChangeContext:
    """Sets variables; one that is named like a slot fills the slot of the task in hand."""

    def enter(self, turn: Turn, state: State) -> str | None:
        for name, given in (state.properties.get("update_keys") or {}).items():
            value = turn.render(given) if isinstance(given, Template) else given
            if name in turn.assistant.slots and turn.session.task is not None:
                slot = turn.assistant.slots[name]
                turn.session.task.slots[name] = SlotValue(
                    value=value, text=str(value), turn=turn.session.turn, origin="flow", keep=slot.keep
                )
            else:
                turn.session.context[name] = value
        return state.transitions.get("flow") or state.transitions.get("next_state")

    def receive(self, turn: Turn, state: State, answer: Answer) -> str | None:
        return None


class ConditionalExists:
    def enter(self, turn: Turn, state: State) -> str | None:
        key = state.properties["key"]
        exists = bool(turn.render(key).strip()) if isinstance(key, Template) else bool(turn.variables().get(str(key)))
        return state.transitions["exists" if exists else "notexists"]

    def receive(self, turn: Turn, state: State, answer: Answer) -> str | None:
        return None


class Choose:
    """The first branch whose condition holds."""

    def enter(self, turn: Turn, state: State) -> str | None:
        variables = turn.variables()
        for branch in state.branches:
            if branch.when is None or branch.when.evaluate(variables):
                return branch.to
        return state.transitions.get("next_state")

    def receive(self, turn: Turn, state: State, answer: Answer) -> str | None:
        return None
