"""Which labels a dataset takes: what people say now, who agrees, and whether it is good enough to measure with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

KINDS = {"sentiment": "sentiment", "intent": "intent", "slots": "tags"}
"""Kinds of labels, and the columns they go to."""
MOST_OF_ONE = 0.4
"""Share of the weight that one author's labels may have."""


class TrustedLabel(NamedTuple):
    value: str
    people: int
    """How many say so."""
    share: float
    """Of those who said anything."""
    authors: tuple[str, ...]
    measures: bool
    """Drawn at random, and two people agree or an expert said so: good enough for the hold-out."""
    why: str


def trusted_labels(
    labels: Iterable[Mapping[str, Any]], agents: Mapping[str, str], experts: Collection[str]
) -> dict[tuple[str, str], TrustedLabel]:
    """By sentence and kind. Held labels do not count, nor does an agent's word on their own call where another made
    one. `agents`: who took the call of each sentence; `experts`: whose word alone is enough to measure with."""
    said: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = defaultdict(dict)
    for label in sorted(labels, key=lambda label: float(label["at"])):
        if label["kind"] in KINDS and not label["held"] and label["sentence"] in agents:
            said[label["sentence"], label["kind"]][label["author"]] = label  # of each person the newest
    return {place: _trusted(people, agents[place[0]], experts) for place, people in said.items()}


def _trusted(people: Mapping[str, Mapping[str, Any]], agent: str, experts: Collection[str]) -> TrustedLabel:
    others = {author: label for author, label in people.items() if author != agent}
    counted = others or people
    newest = max(counted.values(), key=lambda label: float(label["at"]))
    agree = [label for label in counted.values() if label["value"] == newest["value"]]
    drawn = any(label["why"] == "sample" for label in others.values())
    sure = len(agree) >= 2 or any(label["author"] in experts for label in agree)
    return TrustedLabel(
        value=newest["value"],
        people=len(agree),
        share=len(agree) / len(counted),
        authors=tuple(sorted(label["author"] for label in agree)),
        measures=bool(others) and drawn and sure,
        why="sample" if drawn else newest["why"],
    )


def balanced_weights(rows: list[tuple[float, tuple[str, ...]]]) -> list[float]:
    """Weights, with those of an author who alone made more than two fifths of the labels scaled down to that."""
    alone: dict[str, float] = defaultdict(float)
    for weight, authors in rows:
        if len(authors) == 1:
            alone[authors[0]] += weight
    total = sum(weight for weight, _ in rows)
    scale = {}
    for author, weight in alone.items():
        rest = total - weight
        if rest > 0 and weight > MOST_OF_ONE * total:
            scale[author] = MOST_OF_ONE / (1 - MOST_OF_ONE) * rest / weight
    return [round(weight * scale.get(authors[0], 1.0), 6) if len(authors) == 1 else weight for weight, authors in rows]
