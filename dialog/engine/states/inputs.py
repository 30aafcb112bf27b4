"""States that wait for the shopper."""

from __future__ import annotations

from dialog.engine.interpretation.line import held
from dialog.engine.session import Pending
from dialog.engine.states.base import Answer
from dialog.engine.turn import Turn
from dialog.flow.model import State


class InputContext:
    """Waits for a wish; the engine routes it by `intent_transitions`."""

    def enter(self, turn: Turn, state: State) -> str | None:
        return None

    def receive(self, turn: Turn, state: State, answer: Answer) -> str | None:
        return None


class InputUser:
    """Waits for a value of one slot: `match` when the line has one, else `notmatch`."""

    def enter(self, turn: Turn, state: State) -> str | None:
        asked = turn.said()[-1:]
        turn.session.pending = Pending(kind="input", state=state.full_name, slot=_slot(state), labels=asked)
        return None

    def receive(self, turn: Turn, state: State, answer: Answer) -> str | None:
        assert isinstance(answer, str)
        name = _slot(state)
        turn.session.pending = None
        parser = turn.parser(name)
        value = None
        if parser is not None:
            context = turn.parse_context(name)
            value = parser.answer(answer, context) or next(iter(parser.find(answer, context)), None)
        if value is not None and turn.session.task is not None:
            turn.session.task.slots[name] = held(turn, name, value, "answered")
            return state.transitions.get("match") or state.transitions.get("next_state")
        if not _entities(state).get("require_match", True):
            return state.transitions.get("match") or state.transitions.get("next_state")
        return state.transitions.get("notmatch") or state.transitions.get("next_state")


def _entities(state: State) -> dict[str, object]:
    return dict(state.properties.get("entities") or {})


def _slot(state: State) -> str:
    return str(_entities(state).get("slot", ""))
