"""Files of conversation tests, read with every mistake at its place.

at: 2026-11-18T10:00            # the clock; this one by default
channel: voice                  # or text
how warm it will be in tucson:  # a conversation
  - say: how warm will it get
  - expect: {asks: location, calls: none}
  - say: tucson
    while: {weather: {takes: 5 s}}
  - expect: [{reply: /moment/, at: 1 s}, {fails: weather, at: 3 s}]
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, Final, get_args

from dialog.flow.faults import FlowFault, fault, place_of
from dialog.flow.model import Assistant
from dialog.testing.conversation import (
    BargeIn,
    Behaviour,
    Channel,
    Conversation,
    Deed,
    Person,
    PressKey,
    Say,
    StaySilent,
    Step,
    Wait,
)
from dialog.testing.expectation_reader import NONE, ExpectationReader
from tenor.yaml import fields
from tenor.yaml.nodes import Faults, Faulty, Mapping, Node, Sequence, Text, parse, read_text

DEFAULT_CLOCK: Final = datetime(2026, 11, 18, 10, 0)
"""A Wednesday; a test that depends on the day it runs is none."""
CHANNELS: Final = get_args(Channel)
KEYS: Final = tuple("0123456789*#")
ALWAYS: Final = 1_000
"""Attempts that fail when all do."""
MOST_SILENCES: Final = 20
LONGEST_LINE: Final = 200_000
_PERSON: Final = ("takes over", "gives back")
_BEHAVIOUR: Final = ("takes", "fails", "uncertain", "result")


def read_conversations(path: Path, assistant: Assistant) -> tuple[list[Conversation], list[FlowFault]]:
    """The conversations of a file and what is wrong with it. Only a file that cannot be opened raises."""
    try:
        return parse_conversations(read_text(path), str(path), assistant)
    except Faulty as faulty:
        return [], [fault(place_of(str(path), one), one.message) for one in _places(faulty)]


def parse_conversations(text: str, file: str, assistant: Assistant) -> tuple[list[Conversation], list[FlowFault]]:
    faults = Faults()
    found: list[Conversation] = []
    try:
        tree = parse(text, faults, file)
    except Faulty as faulty:
        faults.found = list(faulty.faults)
    else:
        found = _FileReader(file, faults, assistant).conversations(tree)
    return found, [fault(place_of(file, one), one.message) for one in _places(faults)]


def _places(faults: Faults | Faulty) -> list[Any]:
    told = faults.found if isinstance(faults, Faults) else faults.faults
    return sorted(set(told))


class _FileReader:
    def __init__(self, file: str, faults: Faults, assistant: Assistant) -> None:
        self._file = file
        self._faults = faults
        self._actions = tuple(dict.fromkeys((*assistant.actions, "handover")))
        self._channel: Channel = "voice"
        self._expectations = ExpectationReader(file, faults, assistant)
        self._deeds: dict[str, Callable[[Node], Deed | None]] = {
            "say": self._say,
            "barge_in": self._barge_in,
            "key": self._key,
            "wait": self._wait,
            "silence": self._silence,
            "person": self._person,
        }

    def conversations(self, tree: Mapping) -> list[Conversation]:
        at = DEFAULT_CLOCK
        found: list[Conversation] = []
        for key, node in tree:
            if key.value == "at" and isinstance(node, Text):
                at = self._clock(node)
            elif key.value == "channel" and isinstance(node, Text):
                named = fields.choice(node, self._faults, "`channel`", CHANNELS)
                self._channel = "text" if named == "text" else "voice"
        for key, node in tree:
            if key.value in ("at", "channel") and isinstance(node, Text):
                continue
            if not key.value.strip():
                self._faults.add(key, "a conversation needs a name")
            steps = self._steps(key, node)
            where = place_of(self._file, key)
            found.append(Conversation(name=key.value, where=where, steps=steps, at=at, channel=self._channel))
        if not found:
            self._faults.add(tree, "no conversation is in this file")
        return found

    def _clock(self, node: Text) -> datetime:
        try:
            return datetime.fromisoformat(node.value)
        except ValueError:
            self._faults.add(node, f"`at` is a time such as 2026-11-18T10:00, not {node.value!r}")
            return DEFAULT_CLOCK

    def _steps(self, key: Text, node: Node) -> tuple[Step, ...]:
        if not isinstance(node, Sequence) or not node.items:
            self._faults.add(key, "a conversation is a list of steps: `- say: ...`, `- expect: ...`")
            return ()
        steps = [step for one in node.items if (step := self._step(one)) is not None]
        if not any(step.expectations for step in steps) and len(steps) == len(node.items):
            self._faults.add(key, "nothing is expected in this conversation, so it could not fail")
        return tuple(steps)

    def _step(self, node: Node) -> Step | None:
        if isinstance(node, Text) and node.value == "silence":
            self._needs_voice(node)
            return Step(where=place_of(self._file, node), deed=StaySilent(1))
        tree = fields.mapping(node, self._faults, "a step")
        if tree is None:
            return None
        fields.unknown_keys(tree, self._faults, "step", (*self._deeds, "while", "expect"))
        deeds = [(key, one) for key, one in tree if key.value in self._deeds]
        for key, _ in deeds[1:]:
            self._faults.add(key, f"`{deeds[0][0].value}` and `{key.value}` are two steps; write each with its own `-`")
        expected, behaviours = tree.get("expect"), tree.get("while")
        return Step(
            where=place_of(self._file, tree),
            deed=self._deeds[deeds[0][0].value](deeds[0][1]) if deeds else None,
            behaviours=self._behaviours(behaviours) if behaviours is not None else None,
            expectations=self._expectations.read(expected) if expected is not None else (),
        )

    # --- what the shopper does ----------------------------------------------------------------------------------

    def _line(self, node: Node, what: str) -> str | None:
        """A line; an empty one is one, too."""
        if not isinstance(node, Text):
            self._faults.add(node, f"{what} is a text; put it in quotes if it has a colon, a comma or a bracket")
        elif len(node.value) > LONGEST_LINE:
            self._faults.add(node, f"{what} is longer than {LONGEST_LINE} characters")
        else:
            return node.value
        return None

    def _say(self, node: Node) -> Deed | None:
        text = self._line(node, "`say`")
        return None if text is None else Say(text)

    def _barge_in(self, node: Node) -> Deed | None:
        tree = fields.mapping(node, self._faults, "`barge_in`")
        if tree is None:
            return None
        fields.unknown_keys(tree, self._faults, "key of `barge_in`", ("after", "say"))
        said, after = tree.get("say"), tree.get("after")
        if said is None:
            self._faults.add(tree, "`barge_in` needs `say`: what is said over the reply")
            return None
        words = 1 if after is None else self._word_count(after)
        text = self._line(said, "`say`")
        return None if text is None or words is None else BargeIn(text, words)

    def _word_count(self, node: Node) -> int | None:
        value = fields.text(node, self._faults, "`after`")
        if value is None:
            return None
        number, _, unit = value.partition(" ")
        if number.isascii() and number.isdigit() and len(number) < 5 and unit in ("word", "words"):
            return int(number)
        self._faults.add(node, f"`after` is a number of words such as 2 words, not {value!r}")
        return None

    def _key(self, node: Node) -> Deed | None:
        digit = fields.choice(node, self._faults, "key", KEYS)
        return None if digit is None else PressKey(digit)

    def _wait(self, node: Node) -> Deed | None:
        ms = fields.duration(node, self._faults, "`wait`")
        return None if ms is None else Wait(ms)

    def _needs_voice(self, node: Node) -> None:
        if self._channel == "text":
            self._faults.add(node, "in text nobody notices silence; let time pass with `wait`")

    def _silence(self, node: Node) -> Deed | None:
        self._needs_voice(node)
        times = fields.count(node, self._faults, "`silence`", MOST_SILENCES)
        return None if times is None else StaySilent(times)

    def _person(self, node: Node) -> Deed | None:
        word = fields.choice(node, self._faults, "`person`", _PERSON)
        return None if word is None else Person(word == _PERSON[0])

    # --- how actions behave -------------------------------------------------------------------------------------

    def _behaviours(self, node: Node) -> dict[str, Behaviour]:
        tree = fields.mapping(node, self._faults, "`while`")
        found: dict[str, Behaviour] = {}
        for key, one in tree or ():
            if key.value not in self._actions:
                self._faults.unknown(key, "action", self._actions)
            elif (behaviour := self._behaviour(one)) is not None:
                found[key.value] = behaviour
        return found

    def _behaviour(self, node: Node) -> Behaviour | None:
        tree = fields.mapping(node, self._faults, "how an action behaves")
        if tree is None:
            return None
        fields.unknown_keys(tree, self._faults, "behaviour of actions", _BEHAVIOUR)
        takes, fails, uncertain, result = (tree.get(name) for name in _BEHAVIOUR)
        return Behaviour(
            takes_ms=(fields.duration(takes, self._faults, "`takes`") or 0) if takes is not None else 0,
            fails=self._failures(fails) if fails is not None else 0,
            uncertain=bool(uncertain is not None and self._expectations.flag(uncertain, "`uncertain`")),
            result=self._result(result) if result is not None else None,
        )

    def _failures(self, node: Node) -> int:
        if isinstance(node, Text) and node.value.lower() in ("yes", "true", "always"):
            return ALWAYS
        return fields.count(node, self._faults, "`fails` is `always`, or how often:") or 0

    def _result(self, node: Node) -> dict[str, Any] | None:
        tree = fields.mapping(node, self._faults, "`result`")
        return None if tree is None else {key.value: _plain(one) for key, one in tree}


def _plain(node: Node) -> Any:
    """A result as JSON would have it: numbers, true, false and null where they are written."""
    if isinstance(node, Mapping):
        return {key.value: _plain(one) for key, one in node}
    if isinstance(node, Sequence):
        return [_plain(one) for one in node.items]
    words = {"true": True, "yes": True, "false": False, "no": False, "null": None, NONE: None}
    if node.value in words:
        return words[node.value]
    for number in (int, float):
        try:
            if len(node.value) < 20:
                return number(node.value)
        except ValueError:
            continue
    return node.value
