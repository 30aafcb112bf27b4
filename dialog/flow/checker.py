"""What can be wrong with an assistant as a whole: one generator per kind of fault, all of them always run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from dialog.flow.draft import Draft, StateDraft
from dialog.flow.expression import Expression
from dialog.flow.faults import FlowFault, fault, meant, unknown, warning
from dialog.flow.graph import Graph
from dialog.flow.import_paths import import_fault
from dialog.flow.known_names import ACTIONS, SLOT_TYPES, VARIABLES
from dialog.flow.model import Where
from dialog.flow.state_types import IMPORT_PATH, STATE_TYPES
from tenor.taxonomy.assistant import ALIASES, INTENTS, NO_MATCH, SLOT_NAMES

Check = Callable[[Draft, Graph], Iterator[FlowFault]]


def check(draft: Draft) -> list[FlowFault]:
    """Everything that is wrong, faults and warnings, in the order of the files."""
    graph = Graph(draft)
    return sorted({found for one in CHECKS for found in one(draft, graph)})


def _states(draft: Draft) -> Iterator[StateDraft]:
    for flow in draft.flows.values():
        yield from flow.states.values()


def dangling_transitions(draft: Draft, _: Graph) -> Iterator[FlowFault]:
    """A transition to a state or flow that there is not."""
    for state in _states(draft):
        for key, to in state.transitions.items():
            if draft.target(state, key) is None:
                found = _flow_fault(draft, to.name) if key == "flow" else _state_fault(draft, state, to.name)
                yield from (fault(to.where, message) for message in found)
        for _when, to in state.branches:
            if draft.state(to.name, state.flow) is None:
                yield from (fault(to.where, message) for message in _state_fault(draft, state, to.name))


def _flow_fault(draft: Draft, name: str) -> Iterator[str]:
    if name not in draft.unreadable:
        yield f"there is no flow {name!r}{meant(name, _flow_names(draft))}"


def _flow_names(draft: Draft) -> list[str]:
    return list(dict.fromkeys([*draft.flows, *(flow.title for flow in draft.flows.values() if flow.title)]))


def _state_fault(draft: Draft, state: StateDraft | None, name: str) -> Iterator[str]:
    """Nothing when the state may stand in a file that could not be read."""
    if draft.main in draft.unreadable or name.partition(".")[0] in draft.unreadable:
        return
    near = [*draft.flows[state.flow].states] if state is not None else []
    main = draft.flows.get(draft.main)
    names = dict.fromkeys([*near, *(main.states if main is not None else ())])
    flow = draft.flow(name) or draft.flow(f"{name}_flow")
    hint = f"; there is a flow {flow.name!r}: `flow: {flow.name}`" if flow is not None else meant(name, names)
    elsewhere = [flow.name for flow in draft.flows.values() if name in flow.states]
    if elsewhere:
        hint = f"; it is in another flow: {elsewhere[0]}.{name}"
    yield f"there is no state {name!r}{hint}"


def dangling_intents(draft: Draft, _: Graph) -> Iterator[FlowFault]:
    """An intent that leads to a state that there is not."""
    for intent, (_where, to) in draft.intent_transitions.items():
        if draft.intent_target(intent) is None:
            for message in _state_fault(draft, None, to.name):
                yield fault(to.where, f"intent {intent!r}: {message}")


def unknown_intents(draft: Draft, _: Graph) -> Iterator[FlowFault]:
    """An intent that no line can have."""
    known = {*INTENTS, *ALIASES, *draft.aliases, *draft.examples}
    for intent, (where, _to) in draft.intent_transitions.items():
        if intent not in known:
            yield fault(where, f"there is no intent {intent!r}{meant(intent, known) or _declare(intent)}")
    for alias, (where, to) in draft.aliases.items():
        if to.name not in known - {alias}:
            yield unknown(to.where, "intent", to.name, known - {alias})
        elif alias in draft.intent_transitions:
            yield fault(where, f"{alias!r} is an alias and has a way of its own in `intent_transitions`")


def _declare(intent: str) -> str:
    return f"; one of your own is declared with examples: intents: {{{intent}: {{like: [...]}}}}"


def intents_without_way(draft: Draft, _: Graph) -> Iterator[FlowFault]:
    """What a shopper may say and no state answers."""
    routed = {*draft.intent_transitions, *(alias for alias in draft.aliases)}
    for intent, (where, _examples) in draft.examples.items():
        if intent not in routed:
            yield fault(where, f"intent {intent!r} has no way: add it to `intent_transitions`")
    for alias, (where, to) in draft.aliases.items():
        if draft.intent_transitions and to.name not in draft.intent_transitions:
            yield warning(where, f"{alias!r} stands for {to.name!r}, which has no way in `intent_transitions`")
    for state in _states(draft):
        if state.type is None or state.type.name != "input_context":
            continue
        if not draft.intent_transitions:
            if draft.main not in draft.unreadable:
                yield fault(state.where, f"state {state.name!r} routes intents, and there are no `intent_transitions`")
        elif not {NO_MATCH, "unknown"} & set(draft.intent_transitions):
            first = next(iter(draft.intent_transitions.values()))[0]
            yield warning(first, f"`{NO_MATCH}` has no way: lines that are not understood get the engine's own answer")
        return


def no_main_flow(draft: Draft, _: Graph) -> Iterator[FlowFault]:
    if not draft.main and not draft.unreadable:
        file = next(iter(draft.texts), "")
        hint = "name one main_flow.yml" if len(draft.flows) > 1 else "write `states`"
        what = "which flow is the main one?" if len(draft.flows) > 1 else "there is no flow"
        yield fault(Where(file, 1, 1), f"{what} {hint}")


def unreachable_states(draft: Draft, graph: Graph) -> Iterator[FlowFault]:
    """A state that no conversation gets to. Not told while a file is unreadable: the way may be in it."""
    for state in _states(draft):
        if not draft.unreadable and draft.main and state.full_name not in graph.reachable:
            yield warning(state.where, f"no way leads to state {state.name!r}")


def dead_ends(draft: Draft, _: Graph) -> Iterator[FlowFault]:
    """A state after which nothing comes."""
    for state in _states(draft):
        kind = state.kind
        if kind is None or kind.ends or not state.falls_through or state.following:
            continue
        missing = " and ".join(f"`{key}`" for key in kind.exits[0] if key not in state.transitions)
        hint = "it is the last of its file"
        yield fault(state.where, f"state {state.name!r} leads nowhere: {hint} and has no {missing}")


def calls_without_flow(draft: Draft, _: Graph) -> Iterator[FlowFault]:
    for state in _states(draft):
        if state.type is not None and state.type.name == "call" and "flow" not in state.transitions:
            yield fault(state.where, f"state {state.name!r} is a call and has no `flow`")


def loops_without_input(draft: Draft, graph: Graph) -> Iterator[FlowFault]:
    """States that lead to each other and never wait for the shopper."""
    for loop in graph.loops():
        names = " -> ".join([*(state.name for state in loop.states[:6]), "..." if len(loop.states) > 6 else ""])
        way = f"{names.removesuffix(' -> ')} -> {loop.states[0].name}"
        if loop.endless:
            yield fault(loop.states[0].where, f"goes round without ever waiting for an input: {way}")
        else:
            yield warning(loop.states[0].where, f"may go round without waiting for an input: {way}")


def unset_variables(draft: Draft, _: Graph) -> Iterator[FlowFault]:
    """A variable in a text or condition that nothing sets. With state types of one's own it may be they that do."""
    known = set(VARIABLES) | set(draft.slots)
    own_types = False
    for state in _states(draft):
        kind = state.kind
        known |= {*(kind.sets if kind is not None else ()), *state.properties.get("update_keys", ())}
        if state.type is not None and state.type.name not in STATE_TYPES:
            own_types = True
        if state.type is not None and state.type.name == "input_user":
            known.add(state.properties.get("entities", {}).get("slot", ""))
    tell = warning if own_types else fault
    for mention in draft.mentions:
        used = mention.of.names if isinstance(mention.of, Expression) else mention.of.needed
        for name in sorted(used - known - mention.also):
            yield tell(mention.where, f"nothing sets {name!r}{meant(name, known | mention.also)}")
    for state in _states(draft):
        key = state.properties.get("key") if state.type is not None and state.type.name in STATE_TYPES else None
        if isinstance(key, str) and key.partition(".")[0] not in known:
            yield tell(state.places["key"], f"nothing sets {key.partition('.')[0]!r}{meant(key, known)}")


def unknown_references(draft: Draft, _: Graph) -> Iterator[FlowFault]:
    """Slots and actions that are used and not declared."""
    places = {*SLOT_TYPES, *SLOT_NAMES}
    for kind, reference in draft.references:
        name = reference.name
        if kind == "slot" and name not in draft.slots:
            yield unknown(reference.where, "slot", name, draft.slots)
        elif kind == "slot or type" and name not in places | set(draft.slots):
            yield unknown(reference.where, "slot", name, {*draft.slots, *SLOT_NAMES})
        elif kind == "action" and name not in draft.actions:
            ships = f"action {name!r} ships and is not declared: actions: {{{name}: {{needs: [...]}}}}"
            missing = unknown(reference.where, "action", name, {*draft.actions, *ACTIONS})
            yield fault(reference.where, ships) if name in ACTIONS else missing
        elif kind == "implementation" and name not in ACTIONS and not IMPORT_PATH.fullmatch(name):
            hint = meant(name, ACTIONS)
            yield fault(reference.where, f"`call` is package.module:Class or an action that ships, not {name!r}{hint}")


def unknown_classes(draft: Draft, _: Graph) -> Iterator[FlowFault]:
    """Types of states and slots, and actions, of the author's own that cannot be imported."""
    paths = [(state.type.where, state.type.name) for state in _states(draft) if state.type is not None]
    paths += [(slot.where, slot.type) for slot in draft.slots.values()]
    paths += [(action.where, action.call) for action in draft.actions.values()]
    for where, path in paths:
        message = import_fault(path) if IMPORT_PATH.fullmatch(path) else None
        if message is not None:
            yield fault(where, message)


def missing_prompts(draft: Draft, _: Graph) -> Iterator[FlowFault]:
    """A slot that a task has to ask for, without a question."""
    told: set[str] = set()
    for state in _states(draft):
        name = state.properties.get("action") if state.type is not None and state.type.name == "task" else None
        action = draft.actions.get(name) if isinstance(name, str) else None
        for need in action.needs if action is not None else ():
            asked, *others = need.split(" or ")
            slot = draft.slots.get(asked)
            given = any(one in state.properties.get("arguments", ()) for one in (asked, *others))
            if slot is not None and not slot.ask and not given and asked not in told:
                told.add(asked)
                yield fault(slot.where, f"slot {asked!r} has no `ask`, and action {name!r} needs it")


def circular_dependencies(draft: Draft, _: Graph) -> Iterator[FlowFault]:
    """A slot that depends on itself: correcting it would clear it."""
    for slot in draft.slots.values():
        if slot.name in slot.depends_on:
            yield fault(slot.where, f"slot {slot.name!r} depends on itself")


CHECKS: Final[tuple[Check, ...]] = (
    no_main_flow,
    dangling_transitions,
    dangling_intents,
    unknown_intents,
    intents_without_way,
    unreachable_states,
    dead_ends,
    calls_without_flow,
    loops_without_input,
    unset_variables,
    unknown_references,
    unknown_classes,
    missing_prompts,
    circular_dependencies,
)
