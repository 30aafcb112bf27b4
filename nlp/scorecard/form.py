"""The form: its points, and how they are filled from the history of a call that is over."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from nlp.rules.conditions import AllOf, AnyOf, Condition, Evidence, Not, SentenceCondition, combine, matchers_of
from nlp.rules.history import CallHistory, SentenceMatcher, start_of
from nlp.rules.rule import OnlyFor
from tenor.events import Call, ScorePoint

AGENT = "agent"
"""Whose call it is: where this side said nothing, there is nothing to fill in."""


@dataclass(frozen=True, slots=True)
class FormPoint:
    """One line of the form."""

    name: str
    asks: str
    met: Condition
    only_for: OnlyFor
    due: Condition | None = None
    """None: on every call."""
    afterwards: bool = False
    """Only what comes after that which made it due meets it."""

    def fill(self, history: CallHistory) -> ScorePoint:
        asked = Evidence(0) if self.due is None else earliest(self.due, history)
        if asked is None:
            return ScorePoint(point=self.name, asks=self.asks, value="not_due")
        found = earliest(self.met, history, asked.at_ms if self.afterwards else 0)
        if found is None:  # the place is where it would have been due
            return ScorePoint(point=self.name, asks=self.asks, value="no", sentence=asked.sentence, at_ms=asked.at_ms)
        return ScorePoint(point=self.name, asks=self.asks, value="yes", sentence=found.sentence, at_ms=found.at_ms)


@dataclass(frozen=True, slots=True)
class ScoreForm:
    """No points: nobody wants scorecards."""

    points: tuple[FormPoint, ...] = ()

    def __len__(self) -> int:
        return len(self.points)

    def conditions(self) -> Iterator[Condition]:
        for point in self.points:
            yield point.met
            if point.due is not None:
                yield point.due

    def matchers(self) -> Iterator[SentenceMatcher]:
        return (matcher for condition in self.conditions() for matcher in matchers_of(condition))

    def fill(self, history: CallHistory, call: Call | None) -> tuple[ScorePoint, ...]:
        """Of a call that is over. Empty where the agent said nothing."""
        if not history.sentences_of(AGENT):
            return ()
        return tuple(point.fill(history) for point in self.points if call in point.only_for)


def earliest(condition: Condition, history: CallHistory, from_ms: int = 0) -> Evidence | None:
    """What proves that the condition holds at the end of a call: of several sentences the first."""
    match condition:
        case AllOf():
            found = [earliest(part, history, from_ms) for part in condition.parts]
            known = [evidence for evidence in found if evidence is not None]
            return combine(known) if len(known) == len(found) else None
        case AnyOf():
            parts = (earliest(part, history, from_ms) for part in condition.parts)
            return min((one for one in parts if one is not None), key=lambda one: one.at_ms, default=None)
        case Not():
            return condition.holds(history)
        case SentenceCondition() if condition.in_a_row == 1 and condition.within_ms is None:
            hits = history.hits(condition)
            place = bisect_left(hits, from_ms, key=start_of) + condition.times - 1
            return Evidence(hits[place].sentence.start_ms, hits[place].sentence.id) if place < len(hits) else None
    evidence = condition.holds(history)
    return evidence if evidence is not None and evidence.at_ms >= from_ms else None
