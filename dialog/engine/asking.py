"""Questions of the assistant: asking them, asking them again, and reading short answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from dialog.engine.session import Pending
from dialog.engine.turn import Turn, spoken_value
from dialog.understanding.keywords import fixed_phrase, normal
from dialog.values.place.states import BY_KEY, NAMES

MOST_CHOICES: Final = 3
TOPICS: Final = {
    "weather": "the weather",
    "places": "the store",
    "prices": "the price",
    "stock": "the stock",
    "product_info": "the product",
    "reserve": "the reservation",
    "Weather": "the weather",
    "Retail": "the store",
}
_LEAD_IN: Final = re.compile(r"^(?:(?:actually|oh|hmm|um|uh|well|sorry|wait|then|on second thought)\s+)+")
_ORDINALS: Final = {
    "first": 1, "second": 2, "third": 3, "one": 1, "two": 2, "three": 3, "1": 1, "2": 2, "3": 3, "1st": 1, "2nd": 2,
    "3rd": 3, "last": -1, "former": 1, "latter": -1,
}  # fmt: skip


def ask_slot(turn: Turn, state: str, name: str, failures: int = 0, lead: str = "") -> None:
    """Ask for a slot; the question stays open until it is answered or given up."""
    turn.session.pending = Pending(kind="slot", state=state, slot=name, failures=failures)
    turn.note("asks", name)
    turn.say(f"{lead} {question(turn, turn.session.pending)}")


def unknown_place_lead(turn: Turn, place: str) -> str:
    """What is said of a place that is none: that it is a state, or that nobody knows it."""
    turn.note("unknown place", place)
    code = BY_KEY.get(normal(place))
    if code is not None:
        return turn.worded(turn.texts("only_state"), "only_state", 0, {"place": NAMES[code]})
    return turn.worded(turn.texts("unknown_place"), "unknown_place", 0, {"place": place})


def ask_choice(turn: Turn, state: str, name: str, options: Sequence[Any]) -> None:
    chosen = list(options[:MOST_CHOICES])
    labels = [_label(one) for one in chosen]
    turn.session.pending = Pending(kind="choice", state=state, slot=name, options=chosen, labels=labels)
    turn.note("asks which", name)
    turn.say(question(turn, turn.session.pending))


def question(turn: Turn, pending: Pending, *, again: bool = False) -> str:
    """The words of an open question, reworded by how often it went unanswered. `again`: it may be the same words, since
    others stand before them."""
    if pending.kind == "input" and pending.labels:
        return pending.labels[0]
    if pending.kind in ("slot", "input"):
        slot = turn.slot(pending.slot)
        if slot is None or not slot.ask:
            return turn.worded(turn.texts("ask_slot"), "ask_slot", 0, {"slot": pending.slot.replace("_", " ")})
        if again:
            return turn.render(slot.ask[min(pending.failures, len(slot.ask) - 1)])
        return turn.worded(slot.ask, f"ask {slot.name}", pending.failures)
    if pending.kind in ("choice", "intent"):
        name = "choose_intent" if pending.kind == "intent" else "choose_again" if pending.failures else "choose"
        return turn.worded(turn.texts(name), name, None, {"choices": either(pending.labels)})
    if pending.kind == "confirm":
        spec = turn.assistant.actions[turn.task().action]
        assert spec.confirm is not None
        asked = turn.render(spec.confirm)
        return (
            turn.worded(turn.texts("confirm_again"), "confirm_again", 0, {"question": asked})
            if pending.failures
            else asked
        )
    if pending.kind == "resume":
        return turn.worded(turn.texts("resume"), "resume", 0, {"topic": topic(turn)})
    if pending.slot == "nobody":
        return turn.worded(turn.texts("go_on_or_later"), "go_on_or_later")
    return turn.worded(turn.texts("person_offer"), "person_offer")


def ask_again(turn: Turn) -> None:
    """After a digression the open question stands again."""
    if turn.session.pending is not None:
        turn.say(question(turn, turn.session.pending))


def drop_offers(turn: Turn) -> None:
    """An offer of a person is not repeated: the question under it is."""
    session = turn.session
    while session.pending is not None and session.pending.kind in ("person", "resume"):
        session.pending = session.pending.under


def topic(turn: Turn) -> str:
    """What the task in hand is about, as one says it."""
    task = turn.session.task
    if task is None:
        return "that"
    return TOPICS.get(task.action) or f"the {task.action.replace('_', ' ')}"


def either(labels: Sequence[str]) -> str:
    return labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} or {labels[-1]}"


def yes_or_no(text: str) -> bool | None:
    """What a short answer says; longer ones by their first word ("yes the first one please")."""
    line = _LEAD_IN.sub("", normal(text))
    named = fixed_phrase(line)
    if named in ("universal.yes", "universal.no"):
        return named == "universal.yes"
    first = fixed_phrase(line.split(" ", 1)[0]) if line else ""
    if len(line.split()) <= 5 and first in ("universal.yes", "universal.no"):
        return first == "universal.yes"
    return None


def chosen(pending: Pending, text: str) -> int | None:
    """Which option a line picks, by name, by number or by a word that only one of them has."""
    words = [
        word
        for word in normal(text).split()
        if word not in ("the", "in", "please", "one's", "um", "uh", "option", "number")
    ]
    labels = [normal(label).replace(",", " ").split() for label in pending.labels]
    asked = set(words)
    hits = [index for index, label in enumerate(labels) if asked and asked <= set(label)]
    if len(hits) == 1:
        return hits[0]
    telling = [
        index
        for index, label in enumerate(labels)
        if any(word in label and sum(word in other for other in labels) == 1 for word in words if len(word) > 1)
    ]
    if len(telling) == 1:
        return telling[0]
    ordinals = [word for word in words if word in _ORDINALS]
    if ordinals and len(words) <= 4 and not re.search(r"\b(?:weather|price|where|how)\b", text, re.IGNORECASE):
        number = _ORDINALS[ordinals[0]]
        index = len(labels) - 1 if number < 0 else number - 1
        return index if index < len(labels) else None
    return None


def _label(option: Any) -> str:
    if isinstance(option, dict) and option.get("name") and option.get("state"):
        return f"{option['name']} in {NAMES.get(option['state'], option['state'])}"
    return str(spoken_value(option))
