"""States that get something done: ask for what is missing, confirm, call the action, go on by what came of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from dialog.engine.asking import ask_choice, ask_slot, question, unknown_place_lead
from dialog.engine.comparison import is_compared, note_figure
from dialog.engine.events import Call, Done, Failed
from dialog.engine.handover import ask_for_person, offer_person
from dialog.engine.scope import alternatives, item_slot, remember
from dialog.engine.session import OpenCall, Pending, SlotValue
from dialog.engine.states.base import Answer
from dialog.engine.turn import Turn
from dialog.flow.model import ActionSpec, State, Where
from dialog.flow.template import Template
from dialog.replies import status_of

MEASURES: Final = {
    "weather": "weather", "temperature": "temperature", "tempyesno": "temperature", "rain": "rain", "rainfall": "rain",
    "snow": "snow", "snowfall": "snow", "sunny": "sun", "cloudy": "cloud", "humidity": "humidity",
}  # fmt: skip
"""What the white paper's flows put into `intent`, and what is measured then."""
RETAIL_ACTIONS: Final = {
    "check_item_price": "prices",
    "retail_inventory_check": "stock",
    "find_the_store": "places",
}
MOST_KEPT: Final = 3
"""Items of a result that stay in the session, for templates and conditions."""
_NOWHERE: Final = Where("", 1, 1)
_SHOP_SLOTS: Final = ("item", "store", "location", "when", "sort", "quantity", "size", "color", "price")


class Task:
    """Needs its action's slots, and calls it."""

    def enter(self, turn: Turn, state: State) -> str | None:
        spec = self.spec(turn, state)
        task = turn.task()
        task.state, task.action = state.full_name, spec.name
        for name, given in (state.properties.get("arguments") or {}).items():
            value = turn.render(given) if isinstance(given, Template) else given
            if name not in task.slots or task.slots[name].origin == "flow":
                task.slots[name] = SlotValue(
                    value=value, text=str(value), turn=turn.session.turn, origin="flow", keep="turn"
                )
        return self._ask_or_call(turn, state, spec)

    def spec(self, turn: Turn, state: State) -> ActionSpec:
        return turn.assistant.actions[state.properties["action"]]

    def _ask_or_call(self, turn: Turn, state: State, spec: ActionSpec) -> str | None:
        task = turn.task()
        for need in spec.needs:
            names = alternatives(need)
            if known := [name for name in names if name in task.slots]:
                value = task.slots[known[0]]
                if value.alternatives:
                    ask_choice(turn, state.full_name, known[0], [value.value, *value.alternatives])
                    return None
                continue
            self._ask(turn, state, _asked_for(turn, names))
            return None
        for name in spec.uses:  # known, but which of them; or said without being known
            slot = turn.slot(name)
            if task.here and slot is not None and slot.type == "place" and name not in task.slots:
                self._ask(turn, state, name)
                return None
            if name in task.slots and task.slots[name].alternatives:
                ask_choice(turn, state.full_name, name, [task.slots[name].value, *task.slots[name].alternatives])
                return None
        if spec.confirm is not None and not task.confirmed:
            turn.session.pending = Pending(kind="confirm", state=state.full_name)
            turn.note("confirms", spec.name)
            turn.say(question(turn, turn.session.pending))
            return None
        call_action(turn, state.full_name, spec, self._arguments(turn, spec))
        return None

    def _ask(self, turn: Turn, state: State, name: str) -> None:
        """Ask for a slot, with a word about a place that was said and is not known."""
        task, slot = turn.task(), turn.slot(name)
        lead, failures = "", 0
        if slot is not None and slot.type == "place":
            if task.unknown_place:
                lead = unknown_place_lead(turn, task.unknown_place)
                task.unknown_place, failures = "", task.failures
            elif task.here:
                lead = turn.worded(turn.texts("here"), "here", 0)
                task.here = False
        if not _gives_up(turn, state, name, failures):
            ask_slot(turn, state.full_name, name, failures=failures, lead=lead)

    def _arguments(self, turn: Turn, spec: ActionSpec) -> dict[str, Any]:
        names = [*(name for need in spec.needs for name in alternatives(need)), *spec.uses]
        slots = turn.slots
        return {name: slots[name].value for name in dict.fromkeys(names) if name in slots}

    def receive(self, turn: Turn, state: State, answer: Answer) -> str | None:
        spec = self.spec(turn, state)
        if isinstance(answer, Failed):
            return self._failed(turn, state, spec, answer)
        assert isinstance(answer, Done)
        task, context = turn.task(), turn.session.context
        task.done, task.changed = True, spec.changes != "nothing"
        task.empty = is_empty(answer.result) and not answer.result.get("known")
        comparing = is_compared(turn)  # "is it warmer in Miami or in Tampa" is no question for a yes
        intent = task.intent.removesuffix("_yes_no") if comparing else task.intent
        text = "" if comparing else task.text
        status = status_of(spec.name, answer.result, slots=_plain(task.slots), intent=intent, text=text, now=turn.now)
        if comparing:
            note_figure(turn, answer.result)
        context["status"] = context[self.status_name(spec)] = status
        context["result"] = _kept(answer.result)
        context["results"] = _count(answer.result)
        context.pop("jarvis_error", None)
        turn.card = {"action": spec.name, "result": answer.result}
        remember(turn)
        task.failures = task.failures + 1 if task.empty else 0
        if (name := item_slot(turn)) and _gives_up(turn, state, name, task.failures):
            return None
        if task.empty and "empty" in state.transitions:
            return state.transitions["empty"]
        return state.transitions.get("done") or state.transitions.get("next_state")

    def status_name(self, spec: ActionSpec) -> str:
        return "weather_status" if spec.name == "weather" else "retail_status"

    def _failed(self, turn: Turn, state: State, spec: ActionSpec, failure: Failed) -> str | None:
        turn.note("action failed", failure.reason)
        turn.session.context["jarvis_error"] = "unavailable"
        if spec.changes != "nothing" and failure.uncertain:
            turn.reply("uncertain")
            ask_for_person(turn, "uncertain")
            return None
        if "failed" in state.transitions:
            return state.transitions["failed"]
        turn.reply("failed")
        return turn.home


class _Plugin(Task):
    """A type of the white paper: its action follows from `intent` in the context, and needs no declaration."""

    def receive(self, turn: Turn, state: State, answer: Answer) -> str | None:
        if isinstance(answer, Failed):
            turn.note("action failed", answer.reason)
            turn.session.context["jarvis_error"] = "unavailable"
            text = turn.worded(turn.texts("failed"), "failed")
            turn.session.context["weather_status"] = turn.session.context["retail_status"] = text
            return state.transitions.get("next_state")
        return super().receive(turn, state, answer)

    def _declared(self, turn: Turn, name: str, **rest: Any) -> ActionSpec:
        return turn.assistant.actions.get(name) or ActionSpec(name=name, call=name, where=_NOWHERE, **rest)


class Weather(_Plugin):
    def enter(self, turn: Turn, state: State) -> str | None:
        measure = MEASURES.get(str(turn.session.context.get("intent")), "weather")
        turn.task().slots["measure"] = SlotValue(
            value=measure, text=measure, turn=turn.session.turn, origin="flow", keep="turn"
        )
        return super().enter(turn, state)

    def spec(self, turn: Turn, state: State) -> ActionSpec:
        return self._declared(turn, "weather", needs=("location",), uses=("when", "measure"))


class Retail(_Plugin):
    def spec(self, turn: Turn, state: State) -> ActionSpec:
        name = RETAIL_ACTIONS.get(str(turn.session.context.get("intent")), "places")
        return self._declared(turn, name, uses=_SHOP_SLOTS)


def _asked_for(turn: Turn, names: Sequence[str]) -> str:
    """Of slots of which one will do, the one to ask for: the way leads to a store."""
    stores = [name for name in names if (slot := turn.slot(name)) is not None and slot.type == "store"]
    return stores[0] if stores and turn.task().intent.startswith("navigation.") else names[0]


def _gives_up(turn: Turn, state: State, slot: str, failures: int) -> bool:
    """After too many names that nobody knows a person is offered, and the question stays open."""
    if failures < turn.assistant.patterns.failures:
        return False
    turn.task().failures = 0
    turn.session.pending = Pending(kind="slot", state=state.full_name, slot=slot)
    offer_person(turn)
    return True


def call_action(turn: Turn, state: str, spec: ActionSpec, arguments: dict[str, Any]) -> None:
    session = turn.session
    number = 1 + sum(isinstance(effect, Call) for effect in turn.effects) + len(session.calls)
    wanted = {name: arguments[name] for name in spec.key if name in arguments} if spec.key else arguments
    seed = msgspec.json.encode([session.call, session.turn, spec.name, wanted], order="sorted")
    turn.effects.append(
        Call(
            id=f"{session.turn}.{number}",
            action=spec.name,
            arguments=arguments,
            key=hashlib.sha256(seed).hexdigest(),
            deadline_ms=spec.timeout_ms,
            filler=turn.render(spec.filler.say) if spec.filler is not None else "",
            filler_ms=spec.filler.after_ms if spec.filler is not None else 0,
            retries=spec.retries,
        )
    )
    session.calls[f"{session.turn}.{number}"] = OpenCall(action=spec.name, state=state, turn=session.turn)
    turn.note("calls", spec.name)


def is_empty(result: Mapping[str, Any]) -> bool:
    """Whether the action found nothing."""
    lists = [result[name] for name in ("items", "stores", "days") if isinstance(result.get(name), list)]
    return bool(lists) and not any(lists)


def _count(result: Mapping[str, Any]) -> int:
    return max((len(value) for value in result.values() if isinstance(value, list)), default=0)


def _kept(result: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value[:MOST_KEPT] if isinstance(value, list) else value for name, value in result.items()}


def _plain(slots: Mapping[str, SlotValue]) -> dict[str, Any]:
    return {name: held.value for name, held in slots.items()}
