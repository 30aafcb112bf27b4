"""Which stretches of speech are of one voice.

All stretches are cut in two as well as they can be, and each part again, for as long as the two halves are less alike
than two halves of one person's speech. That is sure even of short stretches as long as there are longer ones
around them, which is why it is asked anew whenever somebody has spoken: on telephone calls, comparing each stretch
with those before it got a tenth of the speech wrong that this gets right (docs/decisions.md).
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import numpy.typing as npt

from asr.local.speakers.encoder import Vectors

ALIKE, SHORT = 0.86, 0.4
"""Two halves of one person's speech are at least this much alike, less by up to `SHORT` the shorter one of them is."""
_SEEDS = 8
"""The longest stretches, any two of which may be the two voices."""
_ROUNDS = 20

Groups = npt.NDArray[np.int64]
"""The number of its group for each stretch."""
Weights = npt.NDArray[np.float64]
"""Seconds that each stretch counts as."""


def cluster(vectors: Vectors, weights: Weights, most: int) -> Groups:
    """At most so many groups, numbered in the order in which they first occur."""
    groups = [np.arange(len(vectors))]
    while len(groups) < most:
        splits = [(split, group) for group in groups if (split := _split(vectors[group], weights[group])) is not None]
        if not splits:
            break
        (_, second), group = min(splits, key=lambda found: found[0][0])
        groups = [one for one in groups if one is not group] + [group[~second], group[second]]
    found = np.zeros(len(vectors), np.int64)
    for number, group in enumerate(sorted(groups, key=lambda group: int(group[0]))):
        found[group] = number
    return found


def centre(vectors: Vectors, weights: Weights) -> Vectors:
    """What stretches of one voice have in common."""
    total = (vectors * weights[:, None]).sum(axis=0)
    found: Vectors = (total / max(float(np.linalg.norm(total)), 1e-9)).astype(np.float32)
    return found


def _split(vectors: Vectors, weights: Weights) -> tuple[float, npt.NDArray[np.bool_]] | None:
    """How much more alike the halves are than they may be, and which belong to the second; None: it is one voice."""
    if len(vectors) < 2:
        return None
    seeds = np.argsort(-weights, kind="stable")[:_SEEDS]
    parts = (_two_means(vectors, weights, one, other) for one, other in combinations(seeds, 2))
    found = [part for part in parts if part.any() and not part.all()]
    if not found:
        return None
    second = max(found, key=lambda part: _fit(vectors, weights, part))
    alike = float(centre(vectors[~second], weights[~second]) @ centre(vectors[second], weights[second]))
    shorter = min(weights[~second].sum(), weights[second].sum())
    excess = alike - (ALIKE - SHORT * math.exp(-shorter))
    return (excess, second) if excess < 0 else None


def _two_means(vectors: Vectors, weights: Weights, one: np.int64, other: np.int64) -> npt.NDArray[np.bool_]:
    second: npt.NDArray[np.bool_] = vectors @ vectors[other] > vectors @ vectors[one]
    for _ in range(_ROUNDS):
        if second.all() or not second.any():
            break
        again = vectors @ centre(vectors[second], weights[second]) > vectors @ centre(
            vectors[~second], weights[~second]
        )
        if (again == second).all():
            break
        second = again
    return second


def _fit(vectors: Vectors, weights: Weights, second: npt.NDArray[np.bool_]) -> float:
    """How close all are to the centre of their half."""
    return sum(
        float(weights[half] @ (vectors[half] @ centre(vectors[half], weights[half]))) for half in (second, ~second)
    )
