"""Which states and ways of an assistant its tests have been through."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dialog.engine.events import TraceEntry
from dialog.flow.model import Assistant

Way = tuple[str, str]
"""From a state, or from an intent in angle brackets, to a state."""


class Coverage:
    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        states = [state for flow in assistant.flows.values() for state in flow.states.values()]
        self._types = {state.full_name: state.type for state in states}
        self.states: dict[str, bool] = {state.full_name: False for state in states}
        self.ways: dict[Way, bool] = {}
        for intent, to in assistant.intent_transitions.items():
            self.ways[(_of_intent(intent), to)] = False
        for state in states:
            for to in (*state.transitions.values(), *(branch.to for branch in state.branches)):
                self.ways[(state.full_name, to)] = False

    def add(self, before: str, intent: str, trace: Sequence[TraceEntry]) -> None:
        """One step: the state it began in, the intent that was understood, and what the engine did."""
        wished = {intent} | {entry.detail for entry in trace if entry.rule == "wish"}
        openings = {self._assistant.intent_transitions.get(one): one for one in wished}
        last = before
        for entry in trace:
            if entry.rule != "state":
                continue
            state = entry.detail
            self.states[state] = True
            self._pass((last, state))
            if state in openings:
                self._pass((_of_intent(openings[state]), state))
            if self._types.get(last) == "end":  # a called flow has ended: the caller's way on
                for name, kind in self._types.items():
                    if kind == "call" and self.states[name]:
                        self._pass((name, state))
            last = state

    def _pass(self, way: Way) -> None:
        if way in self.ways:
            self.ways[way] = True

    def missing_states(self) -> list[str]:
        return [name for name, seen in self.states.items() if not seen]

    def missing_ways(self) -> list[str]:
        return [f"{start} -> {to}" for (start, to), seen in self.ways.items() if not seen]

    def summary(self) -> str:
        return f"{_share(self.states.values())} states, {_share(self.ways.values())} transitions"

    def as_json(self) -> dict[str, Any]:
        return {
            "states": {"seen": sum(self.states.values()), "all": len(self.states), "missing": self.missing_states()},
            "transitions": {"seen": sum(self.ways.values()), "all": len(self.ways), "missing": self.missing_ways()},
        }


def _of_intent(intent: str) -> str:
    return f"<{intent}>"


def _share(seen: Iterable[bool]) -> str:
    flags = list(seen)
    return f"{sum(flags)} of {len(flags)}"
