"""Expectations of a conversation test, read with every mistake at its place."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from dialog.flow.faults import meant, place_of
from dialog.flow.model import Assistant
from dialog.testing.conversation import Expectation, ExpectedCall, Words
from tenor.taxonomy.assistant import ALIASES, INTENTS, routed_intent
from tenor.yaml import fields
from tenor.yaml.nodes import Faults, Mapping, Node, Sequence, Text

NONE: Final = "none"
"""Nothing: no reply, no call, no question, no value."""
QUESTIONS: Final = ("confirm", "person", "resume", "intent", NONE)
"""What may be asked beside slots."""
NAMES: Final = (
    "reply", "reply_not", "asks", "calls", "slots", "intent", "state", "ended", "fails", "handover", "at",
)  # fmt: skip
LONGEST_PATTERN: Final = 500
MOST_SHOWN: Final = 200
_PATTERN: Final = re.compile(r"/(.*)/(i?)", re.DOTALL)
_FLAGS: Final = {"yes": True, "no": False, "true": True, "false": False}


class ExpectationReader:
    def __init__(self, file: str, faults: Faults, assistant: Assistant) -> None:
        self._file = file
        self._faults = faults
        self._slots = tuple(assistant.slots)
        self._actions = tuple(dict.fromkeys((*assistant.actions, "handover")))
        self._states = tuple(state.full_name for flow in assistant.flows.values() for state in flow.states.values())
        self._intents = tuple(
            dict.fromkeys((*assistant.intent_transitions, *assistant.examples, *assistant.aliases, *INTENTS, *ALIASES))
        )

    def read(self, node: Node) -> tuple[Expectation, ...]:
        """One, or a list of them."""
        nodes = node.items if isinstance(node, Sequence) else (node,)
        if not nodes:
            self._faults.add(node, "`expect` is an empty list")
        found = [self._expectation(one) for one in nodes]
        return tuple(one for one in found if one is not None)

    def flag(self, node: Node, what: str) -> bool | None:
        value = fields.text(node, self._faults, what)
        if value is not None and value.lower() not in _FLAGS:
            self._faults.add(node, f"{what} is yes or no, not {value!r}")
        return None if value is None else _FLAGS.get(value.lower())

    def _expectation(self, node: Node) -> Expectation | None:
        tree = fields.mapping(node, self._faults, "`expect`")
        if tree is None:
            return None
        if not tree.entries:
            self._faults.add(tree, "`expect` is empty")
        fields.unknown_keys(tree, self._faults, "expectation", NAMES)
        given: dict[str, Node | None] = {name: tree.get(name) for name in NAMES}
        at = given["at"]
        if at is not None and not any(given[name] is not None for name in ("reply", "calls", "fails")):
            self._faults.add(at, "`at` says when: it needs `reply`, `calls` or `fails` beside it")
        return Expectation(
            where=place_of(self._file, tree),
            written={key.value: shown(one) for key, one in tree},
            reply=self._replies(given["reply"]),
            reply_not=self._several_words(given["reply_not"], "`reply_not`"),
            asks=self._name(given["asks"], "question", (*self._slots, *QUESTIONS)),
            calls=self._calls(given["calls"]),
            slots=self._values(given["slots"], "`slots`"),
            intent=self._intent(given["intent"]),
            state=self._name(given["state"], "state", self._states),
            ended=self._flag(given["ended"], "`ended`"),
            fails=self._name(given["fails"], "action", self._actions),
            handover=self._flag(given["handover"], "`handover`"),
            at_ms=None if at is None else self._moment(at),
        )

    def _moment(self, node: Node) -> int | None:
        if isinstance(node, Text) and node.value in ("0", "0 s", "0 ms"):
            return 0
        return fields.duration(node, self._faults, "`at`")

    def _flag(self, node: Node | None, what: str) -> bool | None:
        return None if node is None else self.flag(node, what)

    def _name(self, node: Node | None, what: str, known: Iterable[str]) -> str | None:
        if node is None:
            return None
        value = fields.text(node, self._faults, f"a {what}")
        if value is None or value in known:
            return value
        self._faults.add(node, f"there is no {what} {value!r}{meant(value, known)}")
        return None

    def _intent(self, node: Node | None) -> str | None:
        name = self._name(node, "intent", self._intents)
        return None if name is None else routed_intent(name)

    # --- words ----------------------------------------------------------------------------------------------------

    def _words(self, node: Node, what: str) -> Words | None:
        value = fields.text(node, self._faults, what)
        if value is None:
            return None
        pattern = _PATTERN.fullmatch(value)
        if pattern is None:
            return Words(value)
        if len(pattern[1]) > LONGEST_PATTERN:
            self._faults.add(node, f"{what}: a pattern has at most {LONGEST_PATTERN} characters")
            return None
        try:
            return Words(value, re.compile(pattern[1], re.IGNORECASE if pattern[2] else 0))
        except (re.error, OverflowError, RecursionError) as error:
            self._faults.add(node, f"{what}: {value} is no regular expression: {error}")
            return None

    def _several_words(self, node: Node | None, what: str) -> tuple[Words, ...]:
        if node is None:
            return ()
        nodes = node.items if isinstance(node, Sequence) else (node,)
        if not nodes:
            self._faults.add(node, f"{what} is an empty list")
        found = [self._words(one, what) for one in nodes]
        return tuple(one for one in found if one is not None)

    def _replies(self, node: Node | None) -> tuple[Words, ...] | None:
        if node is None:
            return None
        if isinstance(node, Text) and node.value == NONE:
            return ()
        return self._several_words(node, "`reply`")

    # --- calls and values -----------------------------------------------------------------------------------------

    def _calls(self, node: Node | None) -> tuple[ExpectedCall, ...] | None:
        """`weather`, `none`, `{weather: {location: Boston}}`, or a list of such."""
        if node is None:
            return None
        if isinstance(node, Text) and node.value == NONE:
            return ()
        found: list[ExpectedCall] = []
        for one in node.items if isinstance(node, Sequence) else (node,):
            if isinstance(one, Mapping):
                found += [
                    ExpectedCall(key.value, self._values(given, f"the arguments of {key.value}"))
                    for key, given in one
                    if self._name(key, "action", self._actions)
                ]
            elif name := self._name(one, "action", self._actions):
                found.append(ExpectedCall(name))
        return tuple(found)

    def _values(self, node: Node | None, what: str) -> dict[str, Any]:
        if node is None:
            return {}
        tree = fields.mapping(node, self._faults, what)
        return {key.value: self._value(key, one) for key, one in tree or ()}

    def _value(self, key: Text, node: Node) -> Any:
        """Words; None for a value that must not be there; a mapping of such for `when`."""
        if isinstance(node, Mapping):
            return {inner.value: self._value(inner, one) for inner, one in node}
        if isinstance(node, Text) and node.value == NONE:
            return None
        return self._words(node, f"`{key.value}`") or Words("")


def shown(node: Node) -> str:
    """What was written, on one line."""
    if isinstance(node, Text):
        text = " ".join(node.value.split())
    elif isinstance(node, Sequence):
        text = f"[{', '.join(shown(one) for one in node.items)}]"
    else:
        text = f"{{{', '.join(f'{key.value}: {shown(one)}' for key, one in node)}}}"
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
