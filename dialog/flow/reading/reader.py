"""Files of an assistant, read into a draft with every mistake at its place.

A file that was damaged by printing is read as far as one can guess what was meant (a state that lost its indentation is
still a state), so that one mistake is told once and not again by everything that depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from dialog.flow.draft import Draft, FlowDraft, Reference, StateDraft
from dialog.flow.faults import FlowFault, fault, place_of
from dialog.flow.reading.declarations import read_actions, read_guard, read_intents, read_patterns, read_slots
from dialog.flow.reading.file_context import NAME, FileContext
from dialog.flow.reading.state_reader import STATE_KEYS, read_state
from dialog.flow.reading.wrapped import without_wrapped_lines
from tenor.yaml import fields
from tenor.yaml.nodes import Fault, Faults, Faulty, Mapping, Node, Place, Text, meant, parse

TOP_KEYS: Final = (
    "name", "start", "intent_transitions", "aliases", "states", "slots", "actions", "guard", "patterns", "intents",
)  # fmt: skip
MOST_STATES: Final = 20_000

_SECTIONS: Final[dict[str, Callable[[FileContext, Node], None]]] = {
    "slots": read_slots,
    "actions": read_actions,
    "guard": read_guard,
    "intents": read_intents,
    "patterns": read_patterns,
}


def read_file(name: str, file: str, text: str, draft: Draft) -> list[FlowFault]:
    """Add the flow `name`, read from `text`, to the draft; `file` is how mistakes call it."""
    context = FileContext(file, draft)
    syntax = Faults()
    wrapped: list[Fault] = []
    try:
        tree = parse(text, syntax, file)
    except Faulty as faulty:
        mended, wrapped = without_wrapped_lines(text)
        if not wrapped:
            draft.unreadable.add(name)
            return _placed(file, faulty.faults)
        syntax = Faults()
        try:
            tree = parse(mended, syntax, file)
        except Faulty as again:
            draft.unreadable.add(name)
            return _placed(file, [*wrapped, *again.faults])
    if not NAME.fullmatch(name):
        context.faults.add(tree, f"{name!r} is no name for a flow: letters, digits, - and _, up to 80")
    _read_tree(name, context, tree)
    told = {(one.line, one.column) for one in context.faults.found}
    # A key that was misplaced is not told a second time as one that comes twice.
    syntax.found = [one for one in syntax.found if (one.line, one.column) not in told]
    return _placed(file, [*wrapped, *syntax.found, *context.faults.found])


def _placed(file: str, faults: Iterable[Fault]) -> list[FlowFault]:
    return [fault(place_of(file, Place(one.line, one.column)), one.message) for one in faults]


@dataclass(slots=True)
class _StateEntry:
    """A state of the file, with parts that may have been found elsewhere."""

    key: Text
    parts: list[tuple[Text, Node]] = field(default_factory=list)

    def adopt(self, key: Text, node: Node) -> None:
        if key.value not in (part.value for part, _ in self.parts):
            self.parts.append((key, node))


class _StateEntries:
    """The states in the order of the file, whatever their indentation."""

    def __init__(self, context: FileContext) -> None:
        self.found: list[_StateEntry] = []
        self._context = context

    def add(self, key: Text, node: Node) -> None:
        entry = _StateEntry(key)
        tree = fields.mapping(node, self._context.faults, f"state {key.value!r}")
        entry.parts = list(tree) if tree is not None else []
        self.found.append(entry)

    def add_part(self, key: Text, node: Node) -> None:
        """`transitions` and the like beside the states."""
        if not self.found:
            self._context.faults.add(key, f"`{key.value}` stands outside of any state")
            return
        owner = self.found[-1]
        message = f"`{key.value}` stands beside the states: it looks like a part of state {owner.key.value!r}"
        self._context.faults.add(key, f"{message} that lost its indentation")
        owner.adopt(key, node)


def _read_tree(name: str, context: FileContext, tree: Mapping) -> None:
    flow = FlowDraft(name=name, file=context.file)
    entries = _StateEntries(context)
    for key, node in tree:
        if key.value in _SECTIONS:
            _SECTIONS[key.value](context, node)
        elif key.value == "states":
            for state, value in context.entries(node, "`states`"):
                if state.value in STATE_KEYS:
                    entries.add_part(state, value)
                else:
                    entries.add(state, value)
        elif key.value in ("name", "start"):
            _read_head(context, flow, key.value, node)
        elif key.value in ("intent_transitions", "aliases"):
            _read_intents(context, key.value, node)
        else:
            _read_stray(context, entries, key, node)
    _read_states(context, flow, entries.found)
    if flow.states or tree.get("states") is not None:
        context.draft.flows[name] = flow
    if not flow.states and tree.get("states") is not None:
        context.faults.add(tree, "`states` is empty")
    if flow.start is not None and flow.start.name not in flow.states:
        place = tree.get("start")
        assert place is not None
        context.faults.add(place, f"there is no state {flow.start.name!r}{meant(flow.start.name, flow.states)}")


def _read_head(context: FileContext, flow: FlowDraft, key: str, node: Node) -> None:
    value = fields.text(node, context.faults, f"`{key}`")
    if value is not None and key == "name":
        flow.title = value
    elif value is not None:
        flow.start = Reference(value, context.where(node))


def _read_intents(context: FileContext, section: str, node: Node) -> None:
    """`intent_transitions` (to states) or `aliases` (to intents)."""
    known = context.draft.intent_transitions if section == "intent_transitions" else context.draft.aliases
    for key, value in context.entries(node, f"`{section}`"):
        if " " in key.value.strip():
            context.name(key, "an intent")
            continue
        target = fields.text(value, context.faults, f"`{key.value}`")
        if target is None:
            continue
        if key.value in known:
            first = known[key.value][0]
            if first.file != context.file:
                context.faults.add(key, f"{key.value!r} stands in `{section}` twice; the first is in {first.file}")
            continue
        known[key.value] = (context.where(key), Reference(target, context.where(value)))


def _read_stray(context: FileContext, entries: _StateEntries, key: Text, node: Node) -> None:
    """A key at the top of the file that has no business there: say what probably happened, and go on from that."""
    if key.value in STATE_KEYS:
        entries.add_part(key, node)
    elif isinstance(node, Mapping) and any(part.value in STATE_KEYS for part, _ in node):
        message = f"{key.value!r} looks like a state that lost its indentation: it belongs under `states`"
        context.faults.add(key, message)
        entries.add(key, node)
    elif " " in key.value.strip():
        context.name(key, "a key")
    else:
        context.faults.unknown(key, "key", TOP_KEYS)


def _read_states(context: FileContext, flow: FlowDraft, entries: list[_StateEntry]) -> None:
    if len(entries) > MOST_STATES:
        context.faults.add(entries[MOST_STATES].key, f"more than {MOST_STATES} states in a flow")
        del entries[MOST_STATES:]
    before: StateDraft | None = None
    for entry in entries:
        if not context.name(entry.key, "a state"):
            continue
        state = read_state(context, flow.name, entry.key, entry.parts)
        if state.name in flow.states:  # told already, unless one of the two lost its indentation
            context.faults.add(entry.key, f"state {state.name!r} is there twice")
            continue
        if before is not None:
            before.following = state.name
        before = flow.states[state.name] = state
