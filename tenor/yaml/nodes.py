"""YAML that people edit, read with the line and column of everything, so that every mistake can be pointed at.

Every value stays the text that was written: `yes`, `no` and `on` are words here, and so are numbers until somebody asks
for one. Tags, anchors and aliases are refused: nobody needs them to write rules, and they are how a small file becomes
an endless one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import yaml

from tenor.errors import BadInput

LARGEST = 1 << 20
"""Bytes of a file. Ten thousand rules fit."""
DEEPEST = 50
"""Levels of nesting."""


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One mistake, and where it is; line and column count from one."""

    line: int
    column: int
    message: str


class Faulty(BadInput):
    """A file with mistakes: all of them, one a line, as compilers tell them."""

    def __init__(self, path: Path | str, faults: Iterable[Fault]) -> None:
        self.path = str(path)
        self.faults = sorted(set(faults))
        super().__init__("\n".join(f"{path}:{fault.line}:{fault.column}: {fault.message}" for fault in self.faults))


@dataclass(frozen=True, slots=True)
class Place:
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Text(Place):
    """A word, a number, a phrase."""

    value: str


@dataclass(frozen=True, slots=True)
class Sequence(Place):
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Mapping(Place):
    """Keys in the order of the file. One that comes twice is a fault, and what it holds is looked at all the same."""

    entries: tuple[tuple[Text, Node], ...]

    def __iter__(self) -> Iterator[tuple[Text, Node]]:
        return iter(self.entries)

    def keys(self) -> tuple[str, ...]:
        return tuple(key.value for key, _ in self.entries)

    def get(self, name: str) -> Node | None:
        return next((node for key, node in self.entries if key.value == name), None)


Node = Text | Sequence | Mapping


class Faults:
    """The mistakes found so far. Checking goes on after each, so that a file is read once, not once a mistake."""

    def __init__(self) -> None:
        self.found: list[Fault] = []

    def add(self, place: Place, message: str) -> None:
        self.found.append(Fault(place.line, place.column, message))

    def unknown(self, key: Text, kind: str, known: Iterable[str]) -> None:
        """A name that there is not, with the one that was probably meant."""
        known = tuple(known)
        self.add(key, f"there is no {kind} {key.value!r}{meant(key.value, known)}")

    def raise_if_any(self, path: Path | str) -> None:
        if self.found:
            raise Faulty(path, self.found)


def meant(word: str, known: Iterable[str]) -> str:
    """`; did you mean ...?`, or what there is when nothing is near."""
    known = tuple(known)
    near = get_close_matches(word, known, 1, 0.6)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; there are: {', '.join(known)}" if 0 < len(known) <= 20 else ""


def kind_of(node: Node) -> str:
    return {Text: "a text", Sequence: "a list", Mapping: "a mapping"}[type(node)]


def read(path: Path, faults: Faults) -> Mapping:
    """The mapping in a file. Raises Faulty when nothing more can be said about it; other mistakes go to `faults`."""
    return parse(read_text(path), faults, path)


def read_text(path: Path) -> str:
    """The characters of a file, which is neither too large nor anything but UTF-8."""
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST + 1)
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from None
    if len(raw) > LARGEST:
        raise Faulty(path, [Fault(1, 1, f"larger than {LARGEST >> 20} MB: no file that people edit is")])
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - (raw.rfind(b"\n", 0, error.start) + 1) + 1
        raise Faulty(path, [Fault(line, column, "not UTF-8 text")]) from None


def parse(text: str, faults: Faults, path: Path | str = "text") -> Mapping:
    """The mapping in a text; `path` is what mistakes are told of."""
    try:
        return _parse(text, faults)
    except _Unreadable as error:
        raise Faulty(path, [*faults.found, error.fault]) from None


class _Unreadable(Exception):
    def __init__(self, line: int, column: int, message: str) -> None:
        self.fault = Fault(line, column, message)


def _parse(text: str, faults: Faults) -> Mapping:
    try:
        node = _compose(text, faults)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        column = error.position - text.rfind("\n", 0, error.position)
        raise _Unreadable(line, column, f"a character that YAML does not allow: U+{error.character:04X}") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        context = f" ({error.context})" if error.context else ""
        raise _Unreadable(line, column, f"not valid YAML: {error.problem}{context}") from None
    if not isinstance(node, Mapping):
        raise _Unreadable(1, 1, "empty" if node is None else "a mapping is expected: name, colon, what it is")
    return node


class _Open:
    """A list or mapping whose end has not come yet."""

    def __init__(self, place: Place, close: Callable[[Place, list[Node]], Node]) -> None:
        self.place = place
        self.close = close
        self.nodes: list[Node] = []


def _compose(text: str, faults: Faults) -> Node | None:
    """The tree of the first document. A loop with a stack of its own: no nesting exhausts Python's."""
    result: Node | None = None
    stack: list[_Open] = []
    documents = 0
    for event in yaml.parse(text, yaml.SafeLoader):
        mark = event.start_mark
        place = Place(mark.line + 1, mark.column + 1)
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents == 2:
                faults.add(place, "a second document (---); only one is read")
        if isinstance(event, yaml.AliasEvent):
            faults.add(place, f"aliases (*{event.anchor}) are not read here; write it out")
            node: Node = Text(place.line, place.column, "")
        elif isinstance(event, yaml.NodeEvent):
            if event.anchor:
                faults.add(place, f"anchors (&{event.anchor}) are not read here; write it out where it is used")
            tag = getattr(event, "tag", None)
            if tag and tag != "!":
                faults.add(place, f"tags ({tag}) are not read here")
            if not isinstance(event, yaml.ScalarEvent):
                if len(stack) == DEEPEST:
                    raise _Unreadable(place.line, place.column, f"nested deeper than {DEEPEST} levels")
                is_map = isinstance(event, yaml.MappingStartEvent)
                stack.append(_Open(place, (lambda at, nodes: _mapping(at, nodes, faults)) if is_map else _sequence))
                continue
            node = Text(place.line, place.column, event.value)
        elif isinstance(event, yaml.CollectionEndEvent):
            done = stack.pop()
            node = done.close(done.place, done.nodes)
        else:
            continue
        if stack:
            stack[-1].nodes.append(node)
        elif documents == 1:
            result = node
    return result


def _sequence(place: Place, nodes: list[Node]) -> Node:
    return Sequence(place.line, place.column, tuple(nodes))


def _mapping(place: Place, nodes: list[Node], faults: Faults) -> Node:
    entries: list[tuple[Text, Node]] = []
    first: dict[str, Text] = {}
    for key, node in zip(nodes[::2], nodes[1::2], strict=True):
        if not isinstance(key, Text):
            faults.add(key, f"a name is expected here, not {kind_of(key)}")
            continue
        if (earlier := first.setdefault(key.value, key)) is not key:
            faults.add(key, f"{key.value!r} is here twice; first in line {earlier.line}")
        entries.append((key, node))
    return Mapping(place.line, place.column, tuple(entries))
