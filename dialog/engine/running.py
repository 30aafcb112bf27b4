"""Goes from state to state until the conversation waits for somebody."""

from __future__ import annotations

from typing import Any, Final

from dialog.engine.comparison import compared_action, conclude
from dialog.engine.events import Done, Failed
from dialog.engine.handover import ask_for_person
from dialog.engine.interpretation.correction import goes_on
from dialog.engine.scope import item_slot, opening_slots
from dialog.engine.session import Frame, Pending, Wish
from dialog.engine.stack import come_back
from dialog.engine.states import state_type
from dialog.engine.states.task import RETAIL_ACTIONS
from dialog.engine.turn import Turn
from dialog.flow.model import Assistant
from dialog.flow.template import Template
from tenor.taxonomy.assistant import routed_intent

MOST_STATES: Final = 100
"""States passed without input or action: more is a loop."""
MOST_LOOKED_AT: Final = 50
PERSON: Final = "universal.person"


class Runner:
    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self.home = _home(assistant)
        """The state that waits for a wish."""
        self._actions: dict[str, str] = {}

    def run(self, turn: Turn, name: str | None) -> None:
        passed = 0
        while name:
            passed += 1
            if passed > MOST_STATES:
                self._stop_loop(turn, name)
                return
            state = self._assistant.state(name)
            turn.session.state = name
            turn.note("state", name)
            name = state_type(state.type).enter(turn, state)
            if name is None and state.type == "input_context":
                self.idle(turn)
                return

    def receive(self, turn: Turn, name: str, answer: Done | Failed | str) -> None:
        """Give a waiting state what it waited for."""
        state = self._assistant.state(name)
        self.run(turn, state_type(state.type).receive(turn, state, answer))

    def idle(self, turn: Turn) -> None:
        """Nothing is left to do for this wish: the next one of the line, or what was put aside."""
        session = turn.session
        session.returns = []
        if session.comparing and not any(self._is_compared(turn, one) for one in session.wishes):
            conclude(turn)
        if session.wishes:
            together = session.together
            self.begin(turn, session.wishes.pop(0))
            session.together = together  # "and on Friday?" means what was compared, whatever else was asked
        elif session.stack and session.pending is None:
            come_back(turn)
        elif session.task is not None and session.task.empty and (name := item_slot(turn)):
            failures = session.task.failures
            session.pending = Pending(kind="slot", state=session.task.state, slot=name, failures=failures)

    def _is_compared(self, turn: Turn, wish: Wish) -> bool:
        return self.action_of(wish.intent) == compared_action(turn.session.comparing)

    def begin(self, turn: Turn, wish: Wish) -> bool:
        """Start on a wish; False when no flow knows it."""
        session = turn.session
        if wish.intent == PERSON:
            ask_for_person(turn, "asked")
            return True
        intent = self.routed(wish.intent)
        state = self._assistant.intent_transitions.get(intent)
        if state is None:
            return False
        action = self.action_of(intent)
        slots = opening_slots(turn, wish, action, goes_on=goes_on(wish.text))
        session.task = Frame(
            intent=intent,
            state="",
            action=action,
            text=wish.text[:200],
            slots=slots,
            unknown_place=wish.unknown_place,
            here=wish.here,
            failures=_failures(turn, wish, action),
        )
        session.pending = None
        session.calls = {}
        session.failures = 0
        session.together = session.together if session.comparing else []
        session.context["intent"] = intent
        turn.note("wish", intent)
        self.run(turn, state)
        return True

    def routed(self, intent: str) -> str:
        return self._assistant.aliases.get(intent) or routed_intent(intent)

    def action_of(self, intent: str) -> str:
        """The action that a wish leads to: what makes two wishes the same topic."""
        intent = self.routed(intent)
        if intent not in self._actions:
            self._actions[intent] = self._look_for_action(self._assistant.intent_transitions.get(intent, ""))
        return self._actions[intent]

    def _look_for_action(self, start: str) -> str:
        """Go the way from an intent's state as far as it is known beforehand."""
        waiting, seen = [start] if start else [], set[str]()
        known: dict[str, Any] = {}
        while waiting and len(seen) < MOST_LOOKED_AT:
            name = waiting.pop(0)
            if name in seen:
                continue
            seen.add(name)
            state = self._assistant.state(name)
            for key, given in (state.properties.get("update_keys") or {}).items():
                known[key] = given.render({}) if isinstance(given, Template) else given
            match state.type:
                case "task":
                    return str(state.properties["action"])
                case "Weather":
                    return "weather"
                case "Retail":
                    return RETAIL_ACTIONS.get(str(known.get("intent")), "places")
                case "choose":
                    to = (one.to for one in state.branches if one.when is None or one.when.evaluate(known))
                    waiting += [next(to, state.transitions.get("next_state", ""))]
                case "input_context":
                    pass
                case _:
                    waiting += state.transitions.values()
            waiting = [one for one in waiting if one]
        return ""

    def _stop_loop(self, turn: Turn, name: str) -> None:
        turn.note("loop without input", name)
        turn.session.state = self.home
        turn.session.pending = None
        turn.effects.clear()
        turn.reply("loop")


def _home(assistant: Assistant) -> str:
    main = assistant.flows[assistant.main]
    for state in main.states.values():
        if state.type == "input_context":
            return state.full_name
    return f"{main.name}.{main.start}"


def _failures(turn: Turn, wish: Wish, action: str) -> int:
    """Another question of the same task that names an unknown place does not answer the open one."""
    pending, task = turn.session.pending, turn.session.task
    if not wish.unknown_place or pending is None or pending.kind != "slot" or task is None or task.action != action:
        return 0
    return pending.failures + 1
