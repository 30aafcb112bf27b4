"""An assistant as its files say it: names not looked up yet, everything with its place. What is checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dialog.flow.expression import Expression
from dialog.flow.model import ActionSpec, GuardedTopic, Patterns, Slot, Where
from dialog.flow.state_types import StateType, state_type
from dialog.flow.template import Template


@dataclass(frozen=True, slots=True)
class Reference:
    """A name that stands for something else, and where it is written."""

    name: str
    where: Where


@dataclass(slots=True, kw_only=True)
class StateDraft:
    flow: str
    name: str
    where: Where
    type: Reference | None = None
    properties: dict[str, Any] = field(default_factory=dict)
    places: dict[str, Where] = field(default_factory=dict)
    """Of the properties."""
    transitions: dict[str, Reference] = field(default_factory=dict)
    branches: list[tuple[Expression | None, Reference]] = field(default_factory=list)
    delay_ms: int = 0
    following: str = ""
    """The next state of the file; empty for the last."""

    @property
    def full_name(self) -> str:
        return f"{self.flow}.{self.name}"

    @property
    def kind(self) -> StateType | None:
        return state_type(self.type.name) if self.type is not None else None

    @property
    def falls_through(self) -> bool:
        """Whether the next state of the file follows, since the file gives no complete way out."""
        kind = self.kind
        return kind is not None and not any(all(key in self.transitions for key in keys) for keys in kind.exits)


@dataclass(slots=True, kw_only=True)
class FlowDraft:
    name: str
    file: str
    title: str = ""
    """What stands under `name`: a second name."""
    start: Reference | None = None
    states: dict[str, StateDraft] = field(default_factory=dict)

    @property
    def first(self) -> str:
        """Name of the state it begins with; empty when it has none."""
        if self.start is not None and self.start.name in self.states:
            return self.start.name
        return next(iter(self.states), "")


@dataclass(frozen=True, slots=True)
class Mention:
    """A text or condition and what it may use beside the variables that everybody may."""

    of: Template | Expression
    where: Where
    also: frozenset[str] = frozenset()


@dataclass(slots=True, kw_only=True)
class Draft:
    """All files of an assistant together."""

    flows: dict[str, FlowDraft] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)
    """Names of flows whose files could not be read: what leads there is no further mistake."""
    main: str = ""
    intent_transitions: dict[str, tuple[Where, Reference]] = field(default_factory=dict)
    """From an intent (written there) to a state."""
    aliases: dict[str, tuple[Where, Reference]] = field(default_factory=dict)
    examples: dict[str, tuple[Where, tuple[str, ...]]] = field(default_factory=dict)
    slots: dict[str, Slot] = field(default_factory=dict)
    actions: dict[str, ActionSpec] = field(default_factory=dict)
    guards: dict[str, GuardedTopic] = field(default_factory=dict)
    patterns: Patterns = field(default_factory=Patterns)
    references: list[tuple[str, Reference]] = field(default_factory=list)
    """Names of slots and actions that are used somewhere: (`slot` or `action`, the name)."""
    mentions: list[Mention] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)

    def flow(self, name: str) -> FlowDraft | None:
        """By the name of its file, or by its `name`."""
        return self.flows.get(name) or next((one for one in self.flows.values() if one.title == name), None)

    def state(self, name: str, flow: str) -> StateDraft | None:
        """A state by the name that a flow uses for it: its own state, one of the main flow, or `flow.state`."""
        for owner in (flow, self.main):
            if owner in self.flows and name in self.flows[owner].states:
                return self.flows[owner].states[name]
        named, _, rest = name.partition(".")
        other = self.flow(named) if rest else None
        return other.states.get(rest) if other is not None else None

    def target(self, state: StateDraft, key: str) -> StateDraft | None:
        """Where a transition leads; None when there is no such state or flow."""
        name = state.transitions[key].name
        if key != "flow":
            return self.state(name, state.flow)
        flow = self.flow(name)
        return flow.states.get(flow.first) if flow is not None else None

    def intent_target(self, intent: str) -> StateDraft | None:
        """Where an intent leads, by the names of the file in which that is written."""
        _, to = self.intent_transitions[intent]
        return self.state(to.name, Path(to.where.file).stem)

    def targets(self, state: StateDraft) -> list[StateDraft]:
        """Where a state may lead by itself, intents not counted."""
        found = [self.target(state, key) for key in state.transitions]
        found += [self.state(to.name, state.flow) for _, to in state.branches]
        if state.falls_through:
            found.append(self.flows[state.flow].states.get(state.following))
        return [one for one in found if one is not None]
