"""How far people agree on labels: Cohen's kappa of any two, and whose labels nobody shares."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, combinations
from math import sqrt

from sqlalchemy import select
from sqlmodel import Session

from storage.tables import Call, Label
from storage.viewer import Viewer

LABEL = Label.__table__  # type: ignore[attr-defined]
CALL = Call.__table__  # type: ignore[attr-defined]
KINDS = ("sentiment", "intent")
ENOUGH = 20
"""Sentences two people must share before anything is said about them."""
NEWEST = 20_000
"""Labels that are looked at."""
POOR = 0.4
"""Kappa below which agreement is no better than fair."""
Answers = Mapping[tuple[str, str], int]
"""How often one person said this and the other that."""


@dataclass(frozen=True, slots=True)
class Agreement:
    shared: int
    """Sentences that both labelled."""
    agreed: float
    """Share on which they say the same."""
    kappa: float | None
    """1: always; 0: as often as by chance. None when chance alone would agree always."""
    margin: float
    """Half of kappa's 95 % interval."""


@dataclass(frozen=True, slots=True)
class Pair:
    kind: str
    one: str
    other: str
    answers: Answers
    sentences: frozenset[str] = frozenset()
    """Those that both labelled."""

    @property
    def agreement(self) -> Agreement:
        return agreement(self.answers)


@dataclass(frozen=True, slots=True)
class OutlyingReviewer:
    """A person whose labels nobody shares, while the others agree among themselves."""

    kind: str
    author: str
    own: Agreement
    others: Agreement


def agreement(answers: Answers, sentences: int | None = None) -> Agreement:
    """Cohen's kappa of two people's answers to the same sentences; of several pairs' answers when they are pooled, and
    then `sentences` says how many there were, which is what the margin depends on."""
    compared = sum(answers.values())
    shared = compared if sentences is None else sentences
    if not compared:
        return Agreement(0, 0.0, None, 0.0)
    one, other = Counter[str](), Counter[str]()
    for (first, second), times in answers.items():
        one[first] += times
        other[second] += times
    agreed = sum(times for (first, second), times in answers.items() if first == second) / compared
    chance = sum(one[value] * other[value] for value in one) / compared**2
    if chance == 1:
        return Agreement(shared, agreed, None, 0.0)
    margin = 1.96 * sqrt(agreed * (1 - agreed) / shared) / (1 - chance)
    return Agreement(shared, agreed, (agreed - chance) / (1 - chance), margin)


def current_answers(
    session: Session, viewer: Viewer, kind: str, *, after: Mapping[str, float] | None = None, held: bool = True
) -> dict[str, dict[str, str]]:
    """What everybody says now of each sentence (or turn), of the newest labels. `after`: labels of an author up to that
    time are left out; `held`: whether labels that are held are looked at."""
    found = select(LABEL.c.sentence, LABEL.c.turn, LABEL.c.author, LABEL.c.value, LABEL.c.at)
    found = found.where(LABEL.c.kind == kind)
    if not viewer.sees_all:
        found = found.join(CALL, CALL.c.id == LABEL.c.call).where(viewer.clause())
    if not held:
        found = found.where(~LABEL.c.held)
    said: dict[str, dict[str, str]] = defaultdict(dict)
    for row in session.execute(found.order_by(LABEL.c.at.desc(), LABEL.c.id.desc()).limit(NEWEST)):
        if row.at > (after or {}).get(row.author, -1.0):
            said[row.sentence or row.turn].setdefault(row.author, row.value)  # what they said last
    return said


def pairs(session: Session, viewer: Viewer) -> list[Pair]:
    """Any two people who labelled the same sentences, those who share most first. Of the newest labels."""
    made = [pair for kind in KINDS for pair in pairs_of(kind, current_answers(session, viewer, kind))]
    return sorted(made, key=lambda pair: (-sum(pair.answers.values()), pair.kind, pair.one, pair.other))


def pairs_of(kind: str, said: Mapping[str, Mapping[str, str]]) -> list[Pair]:
    """Any two people among those who said something of the same sentence."""
    answers: dict[tuple[str, str], Counter[tuple[str, str]]] = defaultdict(Counter)
    sentences: dict[tuple[str, str], set[str]] = defaultdict(set)
    for sentence, values in said.items():
        for one, other in combinations(sorted(values), 2):
            answers[one, other][values[one], values[other]] += 1
            sentences[one, other].add(sentence)
    return [Pair(kind, *pair, counted, frozenset(sentences[pair])) for pair, counted in answers.items()]


def outlying_reviewers(found: Iterable[Pair]) -> list[OutlyingReviewer]:
    """Labels can be wrong on purpose. Told only where it takes no guess: the person is clearly alone, and there are
    others who clearly agree. What it means is for a person to find out."""
    found = list(found)
    odd: list[OutlyingReviewer] = []
    for kind in KINDS:
        here = [pair for pair in found if pair.kind == kind]
        for author in sorted(set(chain.from_iterable((pair.one, pair.other) for pair in here))):
            own = _pooled(pair for pair in here if author in (pair.one, pair.other))
            others = _pooled(pair for pair in here if author not in (pair.one, pair.other))
            if own.kappa is None or others.kappa is None or min(own.shared, others.shared) < ENOUGH:
                continue
            if own.kappa + own.margin < POOR < others.kappa - others.margin:
                odd.append(OutlyingReviewer(kind, author, own, others))
    return odd


def _pooled(several: Iterable[Pair]) -> Agreement:
    """A sentence that somebody shares with two others counts once."""
    answers: Counter[tuple[str, str]] = Counter()
    sentences: set[str] = set()
    for pair in several:
        answers.update(pair.answers)
        sentences |= pair.sentences
    return agreement(answers, len(sentences))
