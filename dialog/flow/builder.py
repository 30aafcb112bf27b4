"""The checked model of a draft in which every name has been found."""

from __future__ import annotations

from dialog.flow.draft import Draft, FlowDraft, StateDraft
from dialog.flow.model import Assistant, Branch, Flow, State
from tenor.taxonomy.assistant import ALIASES


def build(draft: Draft, version: str) -> Assistant:
    """Only for a draft without faults."""
    return Assistant(
        main=draft.main,
        flows={name: _flow(draft, flow) for name, flow in draft.flows.items()},
        version=version,
        intent_transitions={intent: _found(draft.intent_target(intent)) for intent in draft.intent_transitions},
        aliases={**ALIASES, **{alias: to.name for alias, (_, to) in draft.aliases.items()}},
        examples={intent: sentences for intent, (_, sentences) in draft.examples.items()},
        slots=draft.slots,
        actions=draft.actions,
        guards=tuple(draft.guards.values()),
        patterns=draft.patterns,
        texts=draft.texts,
    )


def _flow(draft: Draft, flow: FlowDraft) -> Flow:
    states = {name: _state(draft, state) for name, state in flow.states.items()}
    return Flow(name=flow.name, file=flow.file, start=flow.first, states=states)


def _state(draft: Draft, state: StateDraft) -> State:
    assert state.type is not None
    transitions = {key: _found(draft.target(state, key)) for key in state.transitions}
    if state.falls_through and state.following:
        following = f"{state.flow}.{state.following}"
        kind = state.kind
        for key in kind.exits[0] if kind is not None and len(kind.exits) == 1 else ():
            transitions.setdefault(key, following)
        transitions.setdefault("next_state", following)
    return State(
        flow=state.flow,
        name=state.name,
        type=state.type.name,
        where=state.where,
        properties=state.properties,
        transitions=transitions,
        branches=tuple(Branch(when, _found(draft.state(to.name, state.flow))) for when, to in state.branches),
        delay_ms=state.delay_ms,
    )


def _found(state: StateDraft | None) -> str:
    assert state is not None
    return state.full_name
