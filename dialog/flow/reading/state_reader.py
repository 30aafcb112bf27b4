"""One state of a file: its type, properties and transitions, by the table of state types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from dialog.flow.draft import Reference, StateDraft
from dialog.flow.reading.file_context import FileContext
from dialog.flow.state_types import STATE_TYPES, Kind, StateType, state_type
from tenor.yaml import fields
from tenor.yaml.nodes import Mapping, Node, Sequence, Text

STATE_KEYS: Final = ("type", "properties", "transitions", "delay")
_ENTITY_KEYS: Final = ("slot", "require_match")

_Parts = Iterable[tuple[Text, Node]]


def read_state(context: FileContext, flow: str, key: Text, parts: _Parts) -> StateDraft:
    state = StateDraft(flow=flow, name=key.value, where=context.where(key))
    by_key: dict[str, tuple[Text, Node]] = {}
    for part, node in parts:
        by_key.setdefault(part.value, (part, node))
    kind = _read_type(context, state, key, by_key)
    properties, transitions = _sorted(context, kind, by_key)
    if kind is not None and kind.branches:
        _read_branches(context, state, key, transitions)
    else:
        _read_transitions(context, state, kind, transitions)
    if kind is not None:
        _read_properties(context, state, kind, key, properties)
    _read_delay(context, state, by_key.get("delay"))
    return state


def _read_type(
    context: FileContext, state: StateDraft, key: Text, by_key: dict[str, tuple[Text, Node]]
) -> StateType | None:
    if "type" not in by_key:
        context.faults.add(key, f"state {state.name!r} has no `type`")
        return None
    node = by_key["type"][1]
    name = fields.text(node, context.faults, "`type`")
    if name is None or not isinstance(node, Text):
        return None
    state.type = Reference(name, context.where(node))
    kind = state_type(name)
    if kind is None:
        context.faults.unknown(node, "type of states", STATE_TYPES)
    return kind


_Found = list[tuple[Text, Node]]


def _sorted(
    context: FileContext, kind: StateType | None, by_key: dict[str, tuple[Text, Node]]
) -> tuple[_Found, _Found | tuple[Text, Node]]:
    """The properties and the transitions, those that stand in the wrong place included. A list of transitions (of a
    `choose` state) comes as it is."""
    faults = context.faults
    properties = context.entries(by_key["properties"][1], "`properties`") if "properties" in by_key else []
    given = by_key.get("transitions")
    for part, node in list(properties):
        if part.value == "transitions":
            faults.add(part, "`transitions` stands inside of `properties`: it belongs beside them")
            properties.remove((part, node))
            given = given or (part, node)
    if given is not None and isinstance(given[1], Sequence):
        transitions: _Found | tuple[Text, Node] = given
    else:
        transitions = context.entries(given[1], "`transitions`") if given is not None else []
    for name, (part, node) in by_key.items():
        if name in STATE_KEYS:
            continue
        if kind is not None and name in kind.properties:
            faults.add(part, f"`{name}` stands beside `properties`: it belongs inside of them")
            properties.append((part, node))
        elif kind is not None and name in kind.transitions and isinstance(transitions, list):
            faults.add(part, f"`{name}` stands beside `transitions`: it belongs inside of them")
            transitions.append((part, node))
        elif " " in name.strip():
            context.name(part, "a key of a state")
        elif isinstance(node, Mapping) and node.get("type") is not None:
            faults.add(part, f"{name!r} looks like a state that is indented too far")
        else:
            faults.unknown(part, "key of a state", STATE_KEYS)
    return properties, transitions


def _read_transitions(
    context: FileContext, state: StateDraft, kind: StateType | None, found: _Found | tuple[Text, Node]
) -> None:
    if isinstance(found, tuple):
        context.faults.add(found[1], "`transitions` is a mapping (key: state); only a `choose` state has a list")
        return
    for key, node in found:
        if kind is not None and kind.name in STATE_TYPES and key.value not in kind.transitions:
            if kind.transitions:
                context.faults.unknown(key, f"transition of a {kind.name} state", kind.transitions)
            else:
                context.faults.add(key, f"a {kind.name} state has no transitions")
            continue
        target = fields.text(node, context.faults, f"`{key.value}`")
        if target is not None:
            state.transitions.setdefault(key.value, Reference(target, context.where(node)))


def _read_branches(context: FileContext, state: StateDraft, key: Text, found: _Found | tuple[Text, Node]) -> None:
    faults = context.faults
    if not isinstance(found, tuple) or not isinstance(found[1], Sequence) or not found[1].items:
        place = found[1] if isinstance(found, tuple) else found[0][0] if found else key
        faults.add(place, "a choose state has a list of transitions: - {when: results > 1, to: pick}")
        return
    items = found[1].items
    for index, item in enumerate(items):
        tree = fields.mapping(item, faults, "a transition of a choose state")
        if tree is None:
            continue
        fields.unknown_keys(tree, faults, "key of such a transition", ("when", "to"))
        when, to = tree.get("when"), tree.get("to")
        condition = context.expression(when, "`when`") if when is not None else None
        if when is None and index < len(items) - 1:
            faults.add(item, "without `when` it is always taken: those below never are")
        target = fields.text(to, faults, "`to`") if to is not None else None
        if to is None:
            faults.add(item, "a transition of a choose state has no `to`")
        if target is not None and to is not None and (when is None or condition is not None):
            state.branches.append((condition, Reference(target, context.where(to))))
    if items and isinstance(items[-1], Mapping) and items[-1].get("when") is not None:
        faults.add(items[-1], "the last transition has a `when`: what if none holds? End with {to: ...}")


def _read_properties(context: FileContext, state: StateDraft, kind: StateType, key: Text, found: _Found) -> None:
    own = kind.name not in STATE_TYPES
    for part, node in found:
        state.places.setdefault(part.value, context.where(part))
        if part.value == "delay":
            continue
        if own:
            state.properties.setdefault(part.value, _plain(node))
        elif part.value in kind.properties:
            value = _property(context, kind.properties[part.value].kind, part.value, node)
            if value is not None:
                state.properties.setdefault(part.value, value)
        elif " " in part.value.strip():
            context.name(part, "a property")
        elif kind.properties:
            context.faults.unknown(part, f"property of a {kind.name} state", kind.properties)
        else:
            context.faults.add(part, f"a {kind.name} state has no properties")
    for name, declared in kind.properties.items():
        if declared.required and name not in state.places:
            context.faults.add(key, f"state {state.name!r} has no `{name}`, which a {kind.name} state needs")
    delays = [(part, node) for part, node in found if part.value == "delay"]
    if delays:
        ms = context.delay(delays[0][1])
        if ms is not None:
            state.properties["delay"] = ms


def _read_delay(context: FileContext, state: StateDraft, beside: tuple[Text, Node] | None) -> None:
    """`delay` may stand beside the properties or among them; in both places it must be the same."""
    inside = state.properties.pop("delay", None)
    if beside is None:
        state.delay_ms = inside or 0
        return
    ms = context.delay(beside[1])
    if ms is not None and inside is not None and ms != inside:
        context.faults.add(beside[0], f"`delay` is {ms} ms here and {inside} ms under `properties`: which one?")
    state.delay_ms = ms or 0


def _property(context: FileContext, kind: Kind, name: str, node: Node) -> Any:
    what = f"`{name}`"
    match kind:
        case "template":
            return context.template(node, what)
        case "templates":
            return context.templates(node, what) or None
        case "templates by name":
            return context.templates_by_name(node, what)
        case "variable":
            return context.variable(node, what)
        case "flag":
            return context.flag(node, what)
        case "action":
            names = context.references(node, "action", what)
            return names[0] if names else None
        case "slot entity":
            return _slot_entity(context, node)
        case "intent entity":
            return {key.value: _plain(value) for key, value in context.entries(node, what)}
        case _:
            return fields.text(node, context.faults, what)


def _slot_entity(context: FileContext, node: Node) -> dict[str, Any] | None:
    """The paper's `entities: {slot: location, require_match: true}`."""
    tree = fields.mapping(node, context.faults, "`entities`")
    if tree is None:
        return None
    fields.unknown_keys(tree, context.faults, "key of `entities`", _ENTITY_KEYS)
    slot, match = tree.get("slot"), tree.get("require_match")
    if slot is None:
        context.faults.add(node, "`entities` has no `slot`")
        return None
    names = context.references(slot, "slot or type", "`slot`")
    required = context.flag(match, "`require_match`") if match is not None else True
    return {"slot": names[0], "require_match": required is not False} if names else None


def _plain(node: Node) -> Any:
    """A property of a type of the author's own: texts, tuples and mappings as they are written."""
    if isinstance(node, Text):
        return node.value
    if isinstance(node, Sequence):
        return tuple(_plain(item) for item in node.items)
    return {key.value: _plain(value) for key, value in node}
