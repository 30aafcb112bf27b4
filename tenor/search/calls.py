"""Calls by several of their sentences: `(role:caller cancel*) then (role:agent sorry) and not (role:agent discount)`.

Each pair of brackets is one sentence, by its words and fields. Between them:

    (A) then (B)              B later than A
    (A) and (B)               both, in any order; also one sentence that is both
    (A) not (B)               A, and nowhere in the call B; also `and not`
    (A) then not (B)          no B after A
    (A) then not (B) then (C) no B between A and C
    not (B) then (A)          no B before A

What `then` joins is a chain; chains hold beside each other. Stored calls and rules ask the same questions here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tenor.search import terms
from tenor.search.terms import Terms
from tenor.search.text import (
    OF_CALL,
    OF_SENTENCE,
    TIMES,
    Bracket,
    Known,
    SearchFaults,
    check_fields,
    split,
)
from tenor.taxonomy import aspects

MOST = 8
"""Sentences of a search; each is a question to the database."""
LONGEST = 1_000
INDEXED = 100_000
"""Characters of a sentence that can be found, as in the index of what is stored."""

Position = tuple[int, str]
"""Where a sentence stands in its call: `start_ms` and id."""


class SaidSentence(NamedTuple):
    """What a sentence must be like."""

    words: str
    terms: Terms
    fields: tuple[tuple[str, tuple[str, ...]], ...]

    def matches(self, text: str, **values: str) -> bool:
        """Whether one with this text and these values of its fields is like that."""
        return all(_is_one(name, values[name], wanted) for name, wanted in self.fields) and terms.found_in(
            text[:INDEXED], self.terms
        )


def _is_one(name: str, value: str, wanted: tuple[str, ...]) -> bool:
    return not aspects.named(value).isdisjoint(wanted) if name == aspects.CLASSIFIER else value in wanted


class Step(NamedTuple):
    """One sentence of a chain."""

    sentence: int
    """Which of the search's sentences."""
    wanted: bool
    """Or whether it must not be there, between its neighbours."""


class CallSearch(NamedTuple):
    """Every chain must be found in a call."""

    sentences: tuple[SaidSentence, ...]
    chains: tuple[tuple[Step, ...], ...]
    text: str

    @property
    def wanted(self) -> tuple[int, ...]:
        """Sentences that a call must have."""
        return tuple(step.sentence for chain in self.chains for step in chain if step.wanted)

    @property
    def unwanted(self) -> tuple[int, ...]:
        return tuple(step.sentence for chain in self.chains for step in chain if not step.wanted)

    def find(self, places: Sequence[Sequence[Position]], *, last: bool = False) -> dict[int, Position] | None:
        """For each wanted sentence one that fits, or None if the call does not. `places` are those of each sentence of
        the search, in order. Of several the earliest, or the last."""
        found: dict[int, Position] = {}
        for chain in self.chains:
            if (own := _find(chain, places, last=last)) is None:
                return None
            found |= own
        return found


def _find(chain: tuple[Step, ...], places: Sequence[Sequence[Position]], *, last: bool) -> dict[int, Position] | None:
    """From sentence to sentence, those that can be reached, each with the nearest before it: if anything unwanted is
    between these two, it is between any."""
    reached: list[tuple[Position, dict[int, Position]]] | None = None
    between: list[Position] = []
    for step in chain:
        if not step.wanted:
            between += places[step.sentence]
            continue
        between.sort()
        now: list[tuple[Position, dict[int, Position]]] = []
        for place in places[step.sentence]:
            if reached is None:
                if not between or place <= between[0]:
                    now.append((place, {step.sentence: place}))
                continue
            before = bisect_left(reached, place, key=_place) - 1
            if before >= 0 and not _any_between(between, reached[before][0], place):
                now.append((place, {**reached[before][1], step.sentence: place}))
        if not now:
            return None
        reached, between = now, []
    if reached is None:  # nothing is wanted
        return None if between else {}
    between.sort()
    reached = [one for one in reached if not between or between[-1] <= one[0]]
    return reached[-1 if last else 0][1] if reached else None


def _place(one: tuple[Position, dict[int, Position]]) -> Position:
    return one[0]


def _any_between(places: Sequence[Position], after: Position, before: Position) -> bool:
    at = bisect_left(places, (after[0], after[1] + "\0"))
    return at < len(places) and places[at] < before


def read(text: str, known: Known | None = None) -> CallSearch:
    """The search in brackets; BadInput tells everything that is wrong with it."""
    faults = SearchFaults()
    made = parse(text, faults, known or {})
    faults.raise_if_any("like this: (role:caller cancel*) then (role:agent sorry)")
    return made


def parse(text: str, faults: SearchFaults, known: Known, elsewhere: str = "a condition of its own") -> CallSearch:
    """As `read`, for one who tells the faults otherwise. `elsewhere`: where the fields of the call belong."""
    parts = split(text, faults)
    if len(text) > LONGEST:
        faults.add(LONGEST + 1, f"longer than {LONGEST} characters")
    for field in parts.fields:
        if field.name in (*OF_CALL, *TIMES):
            faults.add(field.column, f"{field.name!r} is about the call and not a sentence: {elsewhere}")
        elif field.name in OF_SENTENCE:
            faults.add(field.column, f"{field.name!r} is about a sentence: it belongs in brackets")
        else:
            check_fields([field], (*OF_SENTENCE, *OF_CALL, *TIMES), faults, known)
    if not parts.brackets:
        faults.add(1, "no sentence in brackets is here")
    return of_brackets(parts.brackets, faults, known)


def of_brackets(brackets: Sequence[Bracket], faults: SearchFaults, known: Known) -> CallSearch:
    sentences: list[SaidSentence] = []
    chains: list[list[Step]] = []
    for number, bracket in enumerate(brackets):
        for field in bracket.fields:
            if field.name in (*OF_CALL, *TIMES):
                faults.add(field.column, f"{field.name!r} is about the call: it belongs outside the brackets")
            else:
                check_fields([field], OF_SENTENCE, faults, known)
        step = Step(number, "not" not in bracket.joined)
        if "then" in bracket.joined and chains:
            if bracket.joined == ("then",) and number > 1 and brackets[number - 1].joined == ("not",):
                column = brackets[number - 1].column
                faults.add(column, "is that not said before the next? write `and not`; or between two? `then not`")
            chains[-1].append(step)
        else:
            chains.append([step])
        fields: Mapping[str, tuple[str, ...]] = {}
        for field in bracket.fields:
            fields = {**fields, field.name: (*fields.get(field.name, ()), *field.values)}
        sentences.append(SaidSentence(bracket.words, terms.read(bracket.words), tuple(fields.items())))
    if len(brackets) > MOST:
        faults.add(brackets[MOST].column, f"more than {MOST} sentences")
    text = " ".join(" ".join((*bracket.joined, bracket.text)) for bracket in brackets)
    return CallSearch(tuple(sentences), tuple(tuple(chain) for chain in chains), text)
