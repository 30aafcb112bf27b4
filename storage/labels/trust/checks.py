"""Whose labels to hold, and which labels may be learned from and measured with.

for training   every label that is not held, weighted by how probable it is, nobody with more than 40 %
to measure     of sentences drawn at random, where two people agree or an expert says so; never an agent's own call
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlmodel import Session

from storage.labels.trust import reliability
from storage.labels.trust.agreement import CALL, KINDS, LABEL, current_answers, outlying_reviewers, pairs_of
from storage.labels.trust.holds import hold, is_held, released_at
from storage.viewer import HOUSE

EVERY = 25
"""After so many labels an author's are looked at again."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """An author whose labels are clearly unlike everybody else's. What it means is for a person to find out."""

    author: str
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class TrustedLabel:
    """What people together say of a sentence or turn."""

    item: str
    """Id of the sentence, or of the turn."""
    is_turn: bool
    call: str
    kind: str
    value: str
    weight: float
    """From 0 to 1: how probable it is, less where most of all labels come from one person."""
    authors: tuple[str, ...]
    """Who said something of it."""
    random: bool
    """Whether somebody was asked because it was drawn at random."""
    settled: bool
    """Whether models can be measured with it."""


def suspicions(session: Session, experts: Collection[str] = ()) -> list[Suspicion]:
    """Everybody who is clearly unlike the others: over all classes, in one class, or by control sentences. Labels that
    are held, and those that a person has released, are not looked at again."""
    released = released_at(session)
    found: dict[tuple[str, str], str] = {}
    for kind in KINDS:
        answers = current_answers(session, HOUSE, kind, after=released, held=False)
        for odd in outlying_reviewers(pairs_of(kind, answers)):
            found[odd.author, kind] = (
                f"kappa {odd.own.kappa:.2f} ± {odd.own.margin:.2f} over {odd.own.shared} shared sentences, "
                f"the others {odd.others.kappa:.2f} ± {odd.others.margin:.2f}"
            )
        for check in reliability.class_checks(answers):
            if check.clearly_apart:
                found.setdefault((check.author, kind), str(check))
        for author, (right, asked) in control_results(session, kind, experts, after=released).items():
            if reliability.fails_controls(right, asked):
                found.setdefault((author, kind), f"{right} of {asked} control sentences right")
    return [
        Suspicion(author, kind, reason) for (author, kind), reason in sorted(found.items()) if author not in experts
    ]


def hold_suspects(session: Session, experts: Collection[str] = ()) -> list[Suspicion]:
    """Hold the labels of everybody who is suspected; those who are held now for the first time."""
    held = []
    for one in suspicions(session, experts):
        if not is_held(session, one.author):
            hold(session, one.author, f"{one.kind}: {one.reason}")
            held.append(one)
    return held


def watch(session: Session, author: str, kind: str, experts: Collection[str] = ()) -> None:
    """After a label: now and then look whether its author is still like the others, so that nobody's labels are
    learned from until somebody happens to look."""
    number = session.scalar(
        select(func.count()).select_from(LABEL).where(LABEL.c.author == author, LABEL.c.kind == kind)
    )
    if number and number % EVERY == 0:
        hold_suspects(session, experts)


def control_results(
    session: Session, kind: str, experts: Collection[str] = (), *, after: Mapping[str, float] | None = None
) -> dict[str, tuple[int, int]]:
    """Of each author: how many control sentences they answered rightly, and how many they were asked."""
    answers = current_answers(session, HOUSE, kind, held=False)
    results: dict[str, tuple[int, int]] = {}
    asked = select(LABEL.c.sentence, LABEL.c.author, LABEL.c.value, LABEL.c.at)
    for row in session.execute(asked.where(LABEL.c.kind == kind, LABEL.c.why == "control")):
        if row.at <= (after or {}).get(row.author, -1.0):
            continue
        known = reliability.known_answer(answers.get(row.sentence, {}), row.author, experts)
        if known is not None:
            right, number = results.get(row.author, (0, 0))
            results[row.author] = right + (row.value == known), number + 1
    return results


def trusted_labels(session: Session, kind: str, experts: Collection[str] = ()) -> list[TrustedLabel]:
    """One per sentence or turn that anybody labelled, in the order of their ids. Of slots, which are too many to
    estimate, what most say; of as many, what was said last."""
    columns = (LABEL.c.sentence, LABEL.c.turn, LABEL.c.call, LABEL.c.author, LABEL.c.value, LABEL.c.why, CALL.c.agent)
    found = select(*columns).join(CALL, CALL.c.id == LABEL.c.call).where(LABEL.c.kind == kind, ~LABEL.c.held)
    said: dict[tuple[str, bool], dict[str, str]] = defaultdict(dict)
    calls: dict[str, str] = {}
    at_random: set[str] = set()
    own: dict[str, str] = {}
    for row in session.execute(found.order_by(LABEL.c.at.desc(), LABEL.c.id.desc())):
        item = row.sentence or row.turn
        said[item, row.sentence is None].setdefault(row.author, row.value)
        calls[item], own[item] = row.call, row.agent
        if row.why == "sample":
            at_random.add(item)
    chosen = {
        is_turn: _chosen({item: one for (item, turn), one in said.items() if turn is is_turn}, kind)
        for is_turn in (False, True)
    }
    total: dict[str, float] = defaultdict(float)
    for (item, is_turn), one in said.items():
        for author in one:
            total[author] += chosen[is_turn][item][1] / len(one)
    factors = reliability.capped(total)
    made = []
    for (item, is_turn), one in sorted(said.items()):
        value, probability = chosen[is_turn][item]
        share = sum(factors[author] for author in one) / len(one)
        others = {author: said_so for author, said_so in one.items() if author != own[item]}
        settled = item in at_random and reliability.settled_answer(others, experts) == value
        about = (item, is_turn, calls[item], kind, value, probability * share, tuple(sorted(one)))
        made.append(TrustedLabel(*about, random=item in at_random, settled=settled))
    return made


def _chosen(answers: Mapping[str, Mapping[str, str]], kind: str) -> dict[str, tuple[str, float]]:
    if kind in KINDS:
        found = reliability.probabilities(answers)
        return {item: max(one.items(), key=lambda pair: pair[1]) for item, one in found.items()}
    made = {}
    for item, one in answers.items():
        values = list(one.values())  # the newest first
        value = max(values, key=values.count)
        made[item] = value, values.count(value) / len(values)
    return made
