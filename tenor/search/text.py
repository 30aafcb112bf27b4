"""A search as people write it in one line, and what is wrong with it, told with its column.

queue:billing sentiment:negative refund "last week"          sentences: their words and fields
queue:billing (role:caller cancel*) then (role:agent sorry)  calls: several sentences of one call (`calls`)
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from typing import NamedTuple

from tenor.errors import BadInput
from tenor.search import terms
from tenor.yaml.nodes import meant

OF_SENTENCE = ("sentiment", "intent", "role", "language", "aspect")
"""Fields that a sentence in brackets may have."""
OF_CALL = ("task", "call", "agent", "customer", "queue", "site", "medium", "rule", "severity")
ALONE = ("model",)
"""Fields of sentences that are not asked for in brackets."""
FIELDS = (*OF_SENTENCE, *OF_CALL, *ALONE)
TIMES = ("since", "until")
LANGUAGES = ("en", "other")
JOINS = ("then", "and", "not")

Known = Mapping[str, Collection[str]]
"""Values that there are, by field; a field that is not here takes any."""

_FIELD = re.compile(r'([a-z_]+):("[^"]*"|\S+)')
_FIELD_INSIDE = re.compile(r'([a-z_]+):("[^"]*"|[^\s()]+)')
_NO_VALUE = re.compile(r"([a-z_]+):(?=[\s)]|$)")
_JOIN = re.compile(r"(?:then|and|not)(?=\s*\()", re.IGNORECASE)
_WORD = re.compile(r'-?"[^"]*"?|[^\s"]+')
_WORD_INSIDE = re.compile(r'-?"[^"]*"?|[^\s"()]+')


class Field(NamedTuple):
    """`role:caller,agent`, with the column at which it begins, from 1."""

    name: str
    values: tuple[str, ...]
    column: int


class Bracket(NamedTuple):
    """What is in one pair of brackets, and the words that join it to the one before."""

    joined: tuple[str, ...]
    fields: tuple[Field, ...]
    words: str
    text: str
    column: int


class SearchText(NamedTuple):
    fields: tuple[Field, ...]
    """Outside of brackets."""
    words: str
    brackets: tuple[Bracket, ...]


class SearchFaults:
    """What is wrong with a search, gathered, so that it is told all at once."""

    def __init__(self) -> None:
        self._found: list[tuple[int, str]] = []

    def add(self, column: int, message: str) -> None:
        self._found.append((column, message))

    def __bool__(self) -> bool:
        return bool(self._found)

    def texts(self) -> list[str]:
        return [f"column {column}: {message}" for column, message in sorted(set(self._found))]

    def raise_if_any(self, hint: str = "") -> None:
        if self._found:
            raise BadInput("\n".join(self.texts()), hint)


def split(text: str, faults: SearchFaults) -> SearchText:
    """The parts of a line. Only a bracket that begins a word is one, and only beside one are there words that join."""
    fields: list[Field] = []
    words: list[tuple[int, str]] = []
    brackets: list[Bracket] = []
    joined: list[tuple[int, str]] = []
    loose: list[tuple[int, str]] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
        elif text[at] == "(":
            brackets.append(_bracket(text, at, _joined(joined, loose, brackets, faults), faults))
            loose, joined = [], []
            at += len(brackets[-1].text)
        elif found := _FIELD.match(text, at):
            fields.append(_field(found, at))
            at = found.end()
        elif found := _NO_VALUE.match(text, at):
            _check_value(found, at, faults)
            words.append((at + 1, found[0]))
            at = found.end()
        elif found := _JOIN.match(text, at) or (_WORD_INSIDE if brackets else _WORD).match(text, at):
            words.append((at + 1, found[0]))
            (joined if found[0].lower() in JOINS else loose).append((at + 1, found[0]))
            at = found.end()
        else:
            faults.add(at + 1, "no bracket is open here")
            at += 1
    if not brackets:
        return SearchText(tuple(fields), " ".join(word for _, word in words), ())
    for column, word in loose:
        _outside(column, word, faults)
    for column, word in joined[:1]:
        faults.add(column, f"after {word!r}, a sentence in brackets is missing")
    return SearchText(tuple(fields), "", tuple(brackets))


def _joined(
    joined: list[tuple[int, str]], loose: list[tuple[int, str]], before: list[Bracket], faults: SearchFaults
) -> tuple[str, ...]:
    for column, word in loose:
        _outside(column, word, faults)
    names = tuple(word.lower() for _, word in joined)
    allowed = (("then",), ("and",), ("not",), ("and", "not"), ("then", "not")) if before else ((), ("not",))
    if names not in allowed and joined:
        said = " ".join(names)
        wanted = "between sentences: then, and, not, then not" if before else "before the first sentence only: not"
        faults.add(joined[0][0], f"{said!r} joins nothing here; {wanted}")
    elif names not in allowed and not loose:
        faults.add(before[-1].column + len(before[-1].text), "between two sentences goes one of: then, and, not")
    return names if names in allowed else ("and",)


def _outside(column: int, word: str, faults: SearchFaults) -> None:
    if near := get_close_matches(word.lower(), JOINS, 1, 0.7):
        faults.add(column, f"{word!r} joins no sentences; did you mean {near[0]!r}?")
    elif word.lower() == "or":
        faults.add(column, "'or' joins no sentences; one field may have several values: intent:cancel,refund")
    else:
        faults.add(column, f"{word!r} is outside the brackets: words belong to a sentence, inside them")


def _bracket(text: str, start: int, joined: tuple[str, ...], faults: SearchFaults) -> Bracket:
    fields: list[Field] = []
    words: list[str] = []
    at = start + 1
    while at < len(text) and text[at] != ")":
        if text[at].isspace():
            at += 1
        elif text[at] == "(":
            faults.add(at + 1, "brackets inside brackets: each pair is one sentence")
            at += 1
        elif found := _FIELD_INSIDE.match(text, at):
            fields.append(_field(found, at))
            at = found.end()
        elif found := _NO_VALUE.match(text, at):
            _check_value(found, at, faults)
            words.append(found[0])
            at = found.end()
        else:
            found = _WORD_INSIDE.match(text, at)
            assert found is not None
            words.append(found[0])
            at = found.end()
    if at == len(text):
        faults.add(start + 1, "this bracket is not closed")
    elif not fields and not any(terms.read(" ".join(words))):
        faults.add(start + 1, "no word and no field is in these brackets")
    return Bracket(joined, tuple(fields), " ".join(words), text[start : at + 1], start + 1)


def _check_value(found: re.Match[str], at: int, faults: SearchFaults) -> None:
    if found[1] in (*FIELDS, *TIMES):
        faults.add(at + 1, f"{found[1]!r} has no value: write it without a space, {found[1]}:VALUE")


def _field(found: re.Match[str], at: int) -> Field:
    values = tuple(one for one in found[2].strip('"').split(",") if one)
    return Field(found[1], values, at + 1)


def check_fields(fields: Iterable[Field], names: Collection[str], faults: SearchFaults, known: Known) -> None:
    """Whether there are such fields, and such values of them."""
    for field in fields:
        if field.name not in names:
            faults.add(field.column, f"a search has no {field.name!r}{meant(field.name, names)}")
        elif not field.values:
            faults.add(field.column, f"{field.name!r} has no value")
        for value in field.values if field.name in names and field.name in known else ():
            there = known[field.name]
            if value not in there and (field.name != "role" or get_close_matches(value, there, 1, 0.6)):
                faults.add(field.column, f"there is no {field.name} {value!r}{meant(value, there)}")
