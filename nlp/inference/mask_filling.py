"""Sentences that were redacted, read as if something ordinary stood where something was taken out.

"My name is [person]." tells a caller who introduces himself, but brackets are nothing a model has learned. It reads a
stand-in there; what it finds in a stand-in is thrown away.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from nlp.understanding import Entity
from tenor.redaction.masking import LABELS

_STAND_INS = {
    "card": "four two four two",
    "account": "four two four two",
    "phone": "two zero six five five five",
    "number": "four two four two",
    "email": "john@example.com",
    "birth_date": "march third",
    "address": "twelve main street",
    "person": "John Smith",
}
_BY_LABEL = {LABELS[kind]: words for kind, words in _STAND_INS.items()}
_MASK = re.compile("|".join(map(re.escape, _BY_LABEL)))


class StandIn(NamedTuple):
    start: int
    end: int
    """Where it stands in the sentence that is read."""
    longer: int
    """How many characters longer it is than the mask."""


def filled(text: str) -> tuple[str, tuple[StandIn, ...]]:
    """The sentence to be read, and where it is not what was said."""
    read, done = "", 0
    found = []
    for mask in _MASK.finditer(text):
        words = _BY_LABEL[mask[0]]
        read += text[done : mask.start()]
        found.append(StandIn(len(read), len(read) + len(words), len(words) - len(mask[0])))
        read += words
        done = mask.end()
    return read + text[done:], tuple(found)


def as_said(entities: Iterable[Entity], stand_ins: tuple[StandIn, ...]) -> tuple[Entity, ...]:
    """Those of the values that were said, at their places in the sentence as it is kept."""
    found = []
    for entity in entities:
        if any(one.start < entity.end and entity.start < one.end for one in stand_ins):
            continue
        shift = sum(one.longer for one in stand_ins if one.end <= entity.start)
        found.append(Entity(entity.text, entity.label, entity.start - shift, entity.end - shift))
    return tuple(found)
