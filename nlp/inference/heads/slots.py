"""Values in a sentence: dates, amounts, names, numbers, from the token head's tags."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nlp.inference.models.onnx_model import Prediction
from nlp.inference.types import Entity, ScoredLabel

OUTSIDE = "O"
AROUND = " .,;:!?\"'()"
"""Marks of the sentence, not of the value."""
_ABBREVIATION = re.compile(r"(\b\w\.\w\.)[ .,;:!?\"'()]*$")
"""The full stop of `a.m.` is its own."""


def find_slots(text: str, prediction: Prediction, labels: Sequence[str], *, head: str = "slots") -> tuple[Entity, ...]:
    """Values in the order they are said. A word's first piece decides for the whole word."""
    rows = prediction.tokens[head]
    found: list[tuple[str, int, int, list[float]]] = []
    tag, last_word = OUTSIDE, -1
    for row, (start, end), word in zip(rows, prediction.offsets, prediction.words, strict=True):
        if word is None:
            tag = OUTSIDE
            continue
        if word != last_word:
            before, best = tag, int(row.argmax())
            tag, last_word = labels[best], word
            slot, score = tag[2:], float(row[best])
            if tag == OUTSIDE:
                continue
            if (tag.startswith("B-") or before[2:] != slot) and not _hyphenated(text, found, slot, start):
                found.append((slot, start, end, [score]))
                continue
            found[-1][3].append(score)
        if tag != OUTSIDE:
            slot, first, _, scores = found[-1]
            found[-1] = (slot, first, end, scores)
    return tuple(
        Entity(text[start:end], ScoredLabel(slot, sum(scores) / len(scores)), start, end)
        for slot, begin, over, scores in found
        for start, end in [_without_marks(text, begin, over)]
        if start < end
    )


def _hyphenated(text: str, found: Sequence[tuple[str, int, int, list[float]]], slot: str, start: int) -> bool:
    """Whether a value goes on here after a hyphen: the thirty-first."""
    return bool(found) and found[-1][0] == slot and text[found[-1][2] : start] == "-"


def _without_marks(text: str, start: int, end: int) -> tuple[int, int]:
    value = text[start:end]
    short = _ABBREVIATION.search(value)
    return end - len(value.lstrip(AROUND)), start + (short.end(1) if short else len(value.rstrip(AROUND)))
