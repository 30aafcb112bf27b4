"""A checked assistant: what its YAML files say, with places, ready for the engine.

Nothing here is checked again: `reader` makes these, `checker` has found every fault before anybody runs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from dialog.flow.expression import Expression
from dialog.flow.template import Template

Keep = Literal["turn", "topic", "call"]


@dataclass(frozen=True, slots=True, order=True)
class Where:
    """Where something was written; line and column count from one."""

    file: str
    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A value that the assistant may ask for and remember."""

    name: str
    type: str
    """A parser's type (`place`, `when`, `number`, `quantity`, `price`, `size`, `color`, `sort`, `item`, `store`,
    `choice`, `yes_no`, `text`) or `package.module:Class` of the author's own parser."""
    where: Where
    ask: tuple[Template, ...] = ()
    """The prompts: first asking, reworded, with an example."""
    keep: Keep = "topic"
    """How long a value holds: this turn, until another task begins, the whole call."""
    confirm_below: float = 0.6
    """Values less sure than this are said back."""
    depends_on: tuple[str, ...] = ()
    """Slots whose correction clears this one."""
    choices: tuple[str, ...] = ()
    """For type `choice`."""
    labels: tuple[str, ...] = ()
    """Slots of NeMo's dictionary that fill it (`item.type`, `item.name`); by default those that belong to the type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filler:
    after_ms: int
    say: Template


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionSpec:
    """An action a task can call."""

    name: str
    call: str
    """`package.module:Class`, or the name of an action that ships."""
    where: Where
    needs: tuple[str, ...] = ()
    """Slots without which it is not called; of `item or store` one will do."""
    uses: tuple[str, ...] = ()
    """Slots that are passed when known."""
    timeout_ms: int = 3000
    retries: int = 2
    changes: str = "nothing"
    """What it changes in the world; `nothing` may be repeated at will."""
    confirm: Template | None = None
    """The question before an action that changes something."""
    key: tuple[str, ...] = ()
    """Slots that make two wishes the same wish; all of them when empty."""
    filler: Filler | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedTopic:
    """A topic the assistant does not talk about."""

    name: str
    like: tuple[str, ...]
    """Sentences of this topic."""
    unless: tuple[str, ...] = ()
    """Phrases of lines that are none of it."""
    say: Template
    where: Where


@dataclass(frozen=True, slots=True, kw_only=True)
class Patterns:
    """What holds in every state."""

    failures: int = 3
    silence_ms: int = 8_000
    text_silence_ms: int = 30 * 60_000
    handover_queue: str = ""
    handover_wait_ms: int = 60_000
    handover_mood: float | None = None
    """A shopper whose mood is below it gets a person without asking."""
    digressions: int = 3
    digress_above: float = 0.7
    replies: Mapping[str, tuple[Template, ...]] = field(default_factory=dict)
    """Texts of the engine's own, by name (`back_to`, `repeat`, `help`, `goodbye`, `failed_once`, ...)."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One way out of a `choose` state: the first whose condition holds (None: always) is taken."""

    when: Expression | None
    to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """One state. Its type says which properties and transitions it has."""

    flow: str
    name: str
    type: str
    where: Where
    properties: Mapping[str, Any] = field(default_factory=dict)
    """As the type declares them: texts are Templates, lists tuples, times milliseconds."""
    transitions: Mapping[str, str] = field(default_factory=dict)
    """By the type's transition keys (`next_state`, `match`, `exists`, `flow`, `done`, `failed`, ...): full names
    `flow.state`; where the file gives none, the reader puts the next state of the file under `next_state`."""
    branches: tuple[Branch, ...] = ()
    delay_ms: int = 0

    @property
    def full_name(self) -> str:
        return f"{self.flow}.{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    name: str
    file: str
    start: str
    """Name of the first state."""
    states: Mapping[str, State]
    """In the order of the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assistant:
    """All flows of an assistant, and what they share."""

    main: str
    """Name of the main flow."""
    flows: Mapping[str, Flow]
    version: str
    """SHA-256 over the files, shortened: a conversation finishes on the version it began with."""
    intent_transitions: Mapping[str, str] = field(default_factory=dict)
    """From an intent to the full name of a state."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Other names of intents: `find_the_store` is `store_location`, `unknown` is `nomatch.none`."""
    examples: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Intents of the author's own: sentences that have them."""
    slots: Mapping[str, Slot] = field(default_factory=dict)
    actions: Mapping[str, ActionSpec] = field(default_factory=dict)
    guards: tuple[GuardedTopic, ...] = ()
    patterns: Patterns = field(default_factory=Patterns)
    texts: Mapping[str, str] = field(default_factory=dict)
    """The files as they were read, by name, so that a version can be kept beside a conversation."""

    def state(self, full_name: str) -> State:
        flow, _, name = full_name.partition(".")
        return self.flows[flow].states[name]
