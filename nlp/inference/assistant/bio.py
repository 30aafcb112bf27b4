"""The likeliest valid BIO sequence of a sentence's words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nlp.inference.models.onnx_model import Floats

_NEVER = -1e9


class BioDecoder:
    """Viterbi's search, in which an I- label follows only its own B- or I- label."""

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = tuple(labels)
        number = {label: at for at, label in enumerate(labels)}
        self._inside = np.array([at for at, label in enumerate(labels) if label.startswith("I-")])
        self._begins = np.array([number[f"B-{labels[at][2:]}"] for at in self._inside])
        self._free = np.ones(len(labels), bool)
        self._free[self._inside] = False

    def decode(self, scores: Floats) -> list[str]:
        """`scores`: the logarithm of each label's probability, a row for each word."""
        if not len(scores):
            return []
        best = np.where(self._free, scores[0], _NEVER)
        came_from = np.zeros(scores.shape, np.int64)
        for at in range(1, len(scores)):
            before = came_from[at]
            any_best = int(best.argmax())
            before[:] = any_best
            reached = np.full(len(best), best[any_best])
            stays = best[self._inside] >= best[self._begins]
            before[self._inside] = np.where(stays, self._inside, self._begins)
            reached[self._inside] = best[before[self._inside]]
            best = reached + scores[at]
        chosen = [int(best.argmax())]
        for at in range(len(scores) - 1, 0, -1):
            chosen.append(int(came_from[at][chosen[-1]]))
        return [self.labels[number] for number in reversed(chosen)]


def spans_of(tags: Sequence[str]) -> list[tuple[int, int, str]]:
    """Slots as first word, first word after, name."""
    found: list[tuple[int, int, str]] = []
    for at, tag in enumerate(tags):
        if tag.startswith("B-"):
            found.append((at, at + 1, tag[2:]))
        elif tag.startswith("I-") and found and found[-1][1] == at and found[-1][2] == tag[2:]:
            found[-1] = (found[-1][0], at + 1, found[-1][2])
    return found
