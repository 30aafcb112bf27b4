"""Which labels a dataset takes: what people say now, how sure that is, and whether one can measure with it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from storage.labels.trust.reliability import capped, probabilities, settled_answer

KINDS = {"sentiment": "sentiment", "intent": "intent", "slots": "tags"}
"""Kinds of labels, and the columns they go to."""


class TrustedLabel(NamedTuple):
    value: str
    people: int
    """How many say so."""
    sure: float
    """How probable it is, by how reliable those are who said so."""
    authors: tuple[str, ...]
    measures: bool
    """Drawn at random, and two people agree or an expert said so: good enough for the hold-out."""
    why: str


def trusted_labels(
    labels: Iterable[Mapping[str, Any]], agents: Mapping[str, str], experts: Collection[str]
) -> dict[tuple[str, str], TrustedLabel]:
    """By sentence and kind. Held labels do not count, nor does an agent's word on their own call where another made
    one. `agents`: who took the call of each sentence; `experts`: whose word alone is enough to measure with."""
    said: dict[str, dict[str, dict[str, Mapping[str, Any]]]] = {kind: defaultdict(dict) for kind in KINDS}
    for label in sorted(labels, key=lambda label: float(label["at"])):
        if label["kind"] in KINDS and not label["held"] and label["sentence"] in agents:
            said[label["kind"]][label["sentence"]][label["author"]] = label  # of each person the newest
    found = {}
    for kind, of_kind in said.items():
        answers = {
            sentence: {author: str(label["value"]) for author, label in _counted(people, agents[sentence]).items()}
            for sentence, people in of_kind.items()
        }
        sure = probabilities(answers) if kind != "slots" else {}  # of slots hardly two values are equal
        for sentence, people in of_kind.items():
            own = agents[sentence]
            found[sentence, kind] = _trusted(people, own, answers[sentence], sure.get(sentence), experts)
    return found


def _counted(people: Mapping[str, Mapping[str, Any]], agent: str) -> Mapping[str, Mapping[str, Any]]:
    return {author: label for author, label in people.items() if author != agent} or people


def _trusted(
    people: Mapping[str, Mapping[str, Any]],
    agent: str,
    answers: Mapping[str, str],
    sure: Mapping[str, float] | None,
    experts: Collection[str],
) -> TrustedLabel:
    others = {author: value for author, value in answers.items() if author != agent}
    settled = settled_answer(others, experts)
    newest = max((people[author] for author in answers), key=lambda label: float(label["at"]))
    by_chance = sure or {value: list(answers.values()).count(value) / len(answers) for value in answers.values()}
    likely = max(answers.values(), key=lambda value: (by_chance[value], value == newest["value"]))
    value = settled or likely
    drawn = any(people[author]["why"] == "sample" for author in others)
    agree = sorted(author for author, said in answers.items() if said == value)
    return TrustedLabel(
        value=value,
        people=len(agree),
        sure=1.0 if settled else by_chance[value],
        authors=tuple(agree),
        measures=settled is not None and drawn,
        why="sample" if drawn else newest["why"],
    )


def balanced_weights(rows: list[tuple[float, tuple[str, ...]]]) -> list[float]:
    """Weights; what one person alone said has at most two fifths of them."""
    alone: dict[str, float] = defaultdict(float)
    for weight, authors in rows:
        alone[authors[0] if len(authors) == 1 else ""] += weight
    factors = capped(alone)
    return [
        round(weight * factors[authors[0]], 6) if len(authors) == 1 else round(weight, 6) for weight, authors in rows
    ]
