"""Slots as tags of words, as NeMo's files and turns have them: one tag per word, split at blanks.

how  much is   the  red         shirt
O    O    O    O    B-item.color B-item.type

A label of slots is a JSON array of such tags, so it holds no words of the caller.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from tenor.errors import BadInput
from tenor.yaml.nodes import meant

OUTSIDE = "O"
AROUND = " .,;:!?\"'()"
"""Marks of the sentence, not of the value."""
_decode = msgspec.json.Decoder(list[str]).decode


class SlotSpan(NamedTuple):
    """Characters start..end of the text, end not included."""

    slot: str
    start: int
    end: int


def write_tags(tags: Iterable[str]) -> str:
    return msgspec.json.encode(list(tags)).decode()


def read_tags(value: str) -> list[str]:
    try:
        return _decode(value)
    except msgspec.MsgspecError:
        way = 'a JSON array with a tag per word, such as ["O", "B-date"]'
        raise BadInput(f"{value[:50]!r} are no slots", way) from None


def check_tags(value: str, text: str, names: Sequence[str]) -> list[str]:
    """The tags of a label, one per word of the text; an I- goes on with the slot before it."""
    tags, words = read_tags(value), text.split()
    if len(tags) != len(words):
        raise BadInput(f"{len(tags)} tags for {len(words)} words", "one tag per word, split at blanks")
    before = OUTSIDE
    for number, tag in enumerate(tags, 1):
        kind, dash, name = tag.partition("-")
        if tag != OUTSIDE and (kind not in ("B", "I") or not dash):
            raise BadInput(f"{tag[:50]!r} is no tag of word {number}", "O, B-name or I-name")
        if tag != OUTSIDE and name not in names:
            raise BadInput(f"there is no slot {name[:50]!r} in force{meant(name, names)}", f"one of {', '.join(names)}")
        if kind == "I" and before[2:] != name:
            raise BadInput(f"{tag!r} of word {number} continues nothing", f"the first word of a slot is B-{name}")
        before = tag
    return tags


def spans_of(text: str, tags: Sequence[str]) -> list[SlotSpan]:
    """Where the values are, in order."""
    found: list[SlotSpan] = []
    position, before = 0, OUTSIDE
    for word, tag in zip(text.split(), tags, strict=True):
        start = text.index(word, position)
        position = start + len(word)
        if tag != OUTSIDE:
            name = tag[2:]
            if tag.startswith("I-") and before[2:] == name and found:
                found[-1] = found[-1]._replace(end=position)
            else:
                found.append(SlotSpan(name, start, position))
        before = tag
    return found


def tags_at(text: str, spans: Iterable[SlotSpan]) -> list[str]:
    """The tags of spans: a word belongs to the first span that touches it."""
    wanted = sorted(spans, key=lambda span: span.start)
    tags: list[str] = []
    position, last = 0, -1
    for word in text.split():
        start = text.index(word, position)
        position = start + len(word)
        touched = [number for number, span in enumerate(wanted) if span.start < position and start < span.end]
        if touched:
            tags.append(f"{'I' if touched[0] == last else 'B'}-{wanted[touched[0]].slot}")
        else:
            tags.append(OUTSIDE)
        last = touched[0] if touched else -1
    return tags


def tags_of_values(text: str, slots: Mapping[str, str]) -> list[str]:
    """The tags of what a Sentence carries: values by name, where `date_2` is a second date."""
    found: list[SlotSpan] = []
    lower, position = text.lower(), 0
    for name, value in slots.items():
        wanted = str(value).lower().strip(AROUND)
        if not wanted:
            continue
        start = lower.find(wanted, position)
        start = lower.find(wanted) if start < 0 else start
        if start >= 0:
            base, _, number = name.rpartition("_")
            found.append(SlotSpan(base if base and number.isdigit() else name, start, start + len(wanted)))
            position = start + len(wanted)
    return tags_at(text, found)
