"""How long values hold: and which of them a new task begins with."""

from __future__ import annotations

from typing import Final

import msgspec

from dialog.engine.interpretation.anaphora import FOUND_STORE, resolve, reused
from dialog.engine.session import Frame, SlotValue, Wish
from dialog.engine.turn import Turn

MOST_FRAMES: Final = 4


def opening_slots(turn: Turn, wish: Wish, action: str, *, goes_on: bool = False) -> dict[str, SlotValue]:
    """What a wish starts with: what it says, what the topic or the call still holds, what its pronouns mean. One that
    `goes_on` ("and tomorrow's weather?") takes up the last question of its action, whatever was asked since."""
    session, slots = turn.session, dict(wish.slots)
    last = session.task
    if goes_on and last is not None and last.action != action:
        again = next((one for one in reversed(session.frames) if one.action == action), last)
        last = again if _one_place(turn, last, again) else last
    same = last is not None and last.action == action
    before = last.slots if last is not None else {}
    replaced = _replaced(turn, slots, action)
    follows = same and not any(_is(turn, name, kind) for name in slots for kind in ("place", "item", "store"))
    for name, value in {**session.recall, **before}.items():
        if name in slots or name in replaced or (wish.elsewhere and _is(turn, name, "place")):
            continue
        if value.keep == "call" or (same and name in before and (value.keep == "topic" or follows)):
            slots[name] = reused(value)
    for name, value in session.loose.items():
        slots.setdefault(name, value)
    session.loose = {}
    resolve(turn, wish, slots, needed_by(turn, action), either=_either_will_do(turn, action))
    uses = used_by(turn, action)
    return {name: value for name, value in slots.items() if uses is None or name in uses}


def _one_place(turn: Turn, frame: Frame, other: Frame) -> bool:
    """Whether two tasks are not about two places."""
    places = [held.value for one in (frame, other) for name, held in one.slots.items() if _is(turn, name, "place")]
    return len(places) < 2 or places[0] == places[1]


def _replaced(turn: Turn, slots: dict[str, SlotValue], action: str) -> set[str]:
    """Slots that hang on one that is new: a size goes with its item; a new item ends the search for a store."""
    gone = {slot.name for slot in turn.assistant.slots.values() if any(one in slots for one in slot.depends_on)}
    kinds = {turn.assistant.slots[name].type for name in slots if name in turn.assistant.slots}
    if kinds & {"item", "store"} and _either_will_do(turn, action):
        gone |= {slot.name for slot in turn.assistant.slots.values() if slot.type in ("item", "store")}
    return gone


def _either_will_do(turn: Turn, action: str) -> bool:
    """Whether the action looks for an item or a store, so that a new one takes the place of the other."""
    spec = turn.assistant.actions.get(action)
    return spec is not None and any(len(alternatives(need)) > 1 for need in spec.needs)


def remember(turn: Turn) -> None:
    """The task is done: what it went by can be referred to."""
    session = turn.session
    if session.task is None:
        return
    for name, value in session.task.slots.items():
        session.recall[name] = value
    _remember_store(turn)
    session.frames = [one for one in session.frames if one.action != session.task.action][-MOST_FRAMES + 1 :]
    session.frames.append(msgspec.structs.replace(session.task, slots=dict(session.task.slots)))


def _remember_store(turn: Turn) -> None:
    """Where the first thing that was found is: "where is that store?"."""
    found = turn.session.context.get("result") or {}
    items = found.get("items") if isinstance(found, dict) else None
    first = items[0] if isinstance(items, list) and items and isinstance(items[0], dict) else {}
    if isinstance(first.get("store"), str) and "store" not in turn.slots:
        turn.session.recall[FOUND_STORE] = SlotValue(value=first["store"], text=first["store"], turn=turn.session.turn)


def item_slot(turn: Turn) -> str:
    """The slot of the task that says what is looked for; none when it looks for nothing of a shop."""
    return next((name for name in turn.slots if _is(turn, name, "item") or _is(turn, name, "store")), "")


def used_by(turn: Turn, action: str) -> frozenset[str] | None:
    """The slots an action takes; None when nobody says."""
    spec = turn.assistant.actions.get(action)
    if spec is None:
        return None
    return frozenset((*(name for need in spec.needs for name in alternatives(need)), *spec.uses))


def needed_by(turn: Turn, action: str) -> frozenset[str]:
    spec = turn.assistant.actions.get(action)
    return frozenset(name for need in spec.needs for name in alternatives(need)) if spec is not None else frozenset()


def alternatives(need: str) -> tuple[str, ...]:
    """`item or store` is needed when neither is known."""
    return tuple(need.split(" or "))


def _is(turn: Turn, name: str, kind: str) -> bool:
    slot = turn.slot(name)
    return slot is not None and slot.type == kind
