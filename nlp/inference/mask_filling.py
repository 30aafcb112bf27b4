"""Sentences that were redacted, read as if something ordinary stood where something was taken out.

"My name is [person]." tells a caller who introduces himself, but brackets are nothing a model has learned. It reads a
placeholder there; what it finds in a placeholder is thrown away.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from nlp.inference.types import Entity
from tenor.redaction.masking import LABELS

_PLACEHOLDERS = {
    "card": "four two four two",
    "account": "four two four two",
    "phone": "two zero six five five five",
    "number": "four two four two",
    "email": "john@example.com",
    "birth_date": "march third",
    "address": "twelve main street",
    "person": "John Smith",
}
_BY_LABEL = {LABELS[kind]: words for kind, words in _PLACEHOLDERS.items()}
_MASK = re.compile("|".join(map(re.escape, _BY_LABEL)))


class Placeholder(NamedTuple):
    start: int
    end: int
    """Where it stands in the sentence that is read."""
    longer: int
    """How many characters longer it is than the mask."""


def fill_masks(text: str) -> tuple[str, tuple[Placeholder, ...]]:
    """The sentence to be read, and where it is not what was said."""
    filled, done = "", 0
    placeholders = []
    for mask in _MASK.finditer(text):
        words = _BY_LABEL[mask[0]]
        filled += text[done : mask.start()]
        placeholders.append(Placeholder(len(filled), len(filled) + len(words), len(words) - len(mask[0])))
        filled += words
        done = mask.end()
    return filled + text[done:], tuple(placeholders)


def original_entities(entities: Iterable[Entity], placeholders: tuple[Placeholder, ...]) -> tuple[Entity, ...]:
    """Those of the values that were said, at their places in the sentence as it is kept."""
    found = []
    for entity in entities:
        if any(one.start < entity.end and entity.start < one.end for one in placeholders):
            continue
        shift = sum(one.longer for one in placeholders if one.end <= entity.start)
        found.append(Entity(entity.text, entity.label, entity.start - shift, entity.end - shift))
    return tuple(found)
