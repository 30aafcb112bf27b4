"""How far labels can be trusted, in numbers: who calls things otherwise than everybody else, what most probably is
right, and which labels the model doubts. No database here: answers go in, numbers come out.

Answers are what each person says now of each sentence: `{sentence: {author: value}}`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

Answers = Mapping[str, Mapping[str, str]]

CLEARLY_Z = 4.0
"""Standard errors between a person and their colleagues before anything is said: nobody is named by chance."""
CLEARLY_APART = 0.15
"""And the difference matters only when it is this large."""
ENOUGH = 8.0
"""Sentences of a class that must be shared."""
MOST_FROM_ONE = 0.4
"""Share of what is trained on that may come from one person."""
CONTROLS = 10
"""Control sentences that somebody must have answered before they are judged by them."""
CONTROLS_RIGHT = 0.7
"""Who is clearly below this is told."""
PASSES = 30
"""Of the estimate of how reliable everybody is; it changes no more after about ten."""
TRUST = 4.0
"""Answers that everybody is thought to have given rightly in each class before the first real one."""


@dataclass(frozen=True, slots=True)
class ClassCheck:
    """Of what colleagues call `value`, how much does this person call `value`, and how much do colleagues among
    themselves."""

    author: str
    value: str
    own: float
    own_shared: float
    others: float
    others_shared: float

    @property
    def z(self) -> float:
        both = (self.own * self.own_shared + self.others * self.others_shared) / (self.own_shared + self.others_shared)
        error = sqrt(both * (1 - both) * (1 / self.own_shared + 1 / self.others_shared))
        return (self.others - self.own) / error if error else 0.0

    @property
    def clearly_apart(self) -> bool:
        return (
            min(self.own_shared, self.others_shared) >= ENOUGH
            and self.others - self.own > CLEARLY_APART
            and self.z > CLEARLY_Z
        )

    def __str__(self) -> str:
        return (
            f"of {self.own_shared:.0f} sentences that colleagues call {self.value} they call {self.own:.0%} so; "
            f"colleagues among themselves {self.others:.0%} (z = {self.z:.1f})"
        )


def class_checks(answers: Answers) -> list[ClassCheck]:
    """Every person and class. Kappa over all classes sees who clicks at random, but not who turns the few negatives
    into neutrals. A sentence counts once, however many people share it."""
    own: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    every: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    with_author: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for said in answers.values():
        people = len(said)
        if people < 2:
            continue
        for one, one_says in said.items():
            for other, other_says in said.items():
                if one == other:
                    continue
                same = float(one_says == other_says)
                _add(own[one, other_says], 1 / (people - 1), same)
                pair = 1 / (people - 1) / people
                _add(every[other_says], pair, same)
                _add(with_author[one, other_says], pair, same)
                _add(with_author[other, other_says], pair, same)
    checks = []
    for (author, value), (shared, agreed) in sorted(own.items()):
        rest = [whole - part for whole, part in zip(every[value], with_author[author, value], strict=True)]
        if shared > 0 and rest[0] > 1e-9:
            checks.append(ClassCheck(author, value, agreed / shared, shared, rest[1] / rest[0], rest[0]))
    return checks


def _add(sums: list[float], weight: float, same: float) -> None:
    sums[0] += weight
    sums[1] += weight * same


def known_answer(said: Mapping[str, str], without: str, experts: Collection[str] = ()) -> str | None:
    """What a sentence certainly is, by everybody but one person: an expert says so, or two people and nobody else
    says otherwise."""
    others = {author: value for author, value in said.items() if author != without}
    by_experts = {value for author, value in others.items() if author in experts}
    values = by_experts or set(others.values())
    return values.pop() if len(values) == 1 and (by_experts or len(others) >= 2) else None


def settled_answer(said: Mapping[str, str], experts: Collection[str] = ()) -> str | None:
    """What a sentence is well enough to measure models with: an expert says so, or two people and most of them."""
    by_experts = {value for author, value in said.items() if author in experts}
    if by_experts:
        return by_experts.pop() if len(by_experts) == 1 else None
    votes: dict[str, int] = defaultdict(int)
    for value in said.values():
        votes[value] += 1
    best = max(votes, key=votes.__getitem__, default=None)
    return best if best is not None and votes[best] >= 2 and votes[best] * 2 > len(said) else None


def wilson(right: int, asked: int, z: float = 1.96) -> tuple[float, float]:
    """Between which shares the true one lies."""
    if not asked:
        return 0.0, 1.0
    share, spread = right / asked, z * z / asked
    middle, half = share + spread / 2, z * sqrt(share * (1 - share) / asked + spread / asked / 4)
    return max(0.0, (middle - half) / (1 + spread)), min(1.0, (middle + half) / (1 + spread))


def fails_controls(right: int, asked: int) -> bool:
    return asked >= CONTROLS and wilson(right, asked, z=3.0)[1] < CONTROLS_RIGHT


def probabilities(answers: Answers) -> dict[str, dict[str, float]]:
    """How probable each value is for each sentence, by how reliable everybody turned out to be (Dawid and Skene):
    what most people say makes people reliable, and what reliable people say counts more."""
    items, people = list(answers), sorted({author for said in answers.values() for author in said})
    values = sorted({value for said in answers.values() for value in said.values()})
    if not items:
        return {}
    person = {name: number for number, name in enumerate(people)}
    index = {name: number for number, name in enumerate(values)}
    triples = np.array(
        [
            (number, person[author], index[value])
            for number, item in enumerate(items)
            for author, value in answers[item].items()
        ]
    )
    item_of, author_of, said = triples.T
    belief = np.zeros((len(items), len(values)))
    np.add.at(belief, (item_of, said), 1.0)
    belief /= belief.sum(axis=1, keepdims=True)
    at_first = np.full((len(values), len(values)), 1 / len(values)) + TRUST * np.eye(len(values))
    for _ in range(PASSES):
        confusion = np.tile(at_first, (len(people), 1, 1))  # person, true value, said value
        np.add.at(confusion.transpose(0, 2, 1), (author_of, said), belief[item_of])
        confusion /= confusion.sum(axis=2, keepdims=True)
        share = (belief.sum(axis=0) + 1) / (len(items) + len(values))
        logs = np.tile(np.log(share), (len(items), 1))
        np.add.at(logs, item_of, np.log(confusion[author_of, :, said]))
        belief = np.exp(logs - logs.max(axis=1, keepdims=True))
        belief /= belief.sum(axis=1, keepdims=True)
    return {item: {value: float(belief[number, index[value]]) for value in values} for number, item in enumerate(items)}


def capped(weights: Mapping[str, float], most: float = MOST_FROM_ONE) -> dict[str, float]:
    """By what each person's weights are multiplied so that nobody has more than that share. Of two people one has half
    at least: with few, the share is theirs alone."""
    total = {name: weight for name, weight in weights.items() if weight > 0}
    factors = dict.fromkeys(weights, 1.0)
    most = max(most, 1 / len(total)) if total else most
    over: set[str] = set()
    while len(over) < len(total):
        rest = sum(weight for name, weight in total.items() if name not in over)
        allowed = most * rest / (1 - most * len(over)) if most * len(over) < 1 else 0.0
        new = {
            name for name, weight in total.items() if name not in over and weight * (1 - most * len(over)) > most * rest
        }
        if not new:
            for name in over:
                factors[name] = min(1.0, allowed / total[name])
            break
        over |= new
    return factors


def doubted(labels: Sequence[str], scores: Sequence[Mapping[str, float]]) -> list[bool]:
    """Confident learning: labels of which the model is as sure that they are something else as it is, on average, of
    what people call that."""
    names = sorted({*labels, *(name for one in scores for name in one)})
    index = {name: number for number, name in enumerate(names)}
    given = np.array([index[label] for label in labels], dtype=int)
    sure = np.array([[one.get(name, 0.0) for name in names] for one in scores]).reshape(len(labels), len(names))
    counts = np.bincount(given, minlength=len(names))
    usual = np.bincount(given, sure[np.arange(len(given)), given], len(names)) / np.maximum(counts, 1)
    usual[counts == 0] = 2.0  # nobody calls anything that
    confident = np.where(sure >= usual, sure, -1.0)
    found = confident.max(axis=1, initial=-1.0) >= 0
    return [bool(one) for one in found & (confident.argmax(axis=1) != given)] if len(labels) else []
