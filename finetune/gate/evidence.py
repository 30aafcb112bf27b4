"""What the gate judges by: what people said of the hold-out, and what both models say of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import msgspec


class HeldOutSentence(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence that no version was trained on, with a label that counts."""

    id: str
    call: str
    human: str
    """What people say it is."""
    champion: str
    """What the model in force says of the recognised text,"""
    candidate: str
    """and what the new one says."""
    champion_on_transcript: str = ""
    """The same of what people wrote down; empty where nobody did."""
    candidate_on_transcript: str = ""
    groups: dict[str, str] = {}
    """Queue, site, role, codec: by what fairness is told."""


class CallErrors(msgspec.Struct, frozen=True, kw_only=True):
    """The word errors of one call."""

    call: str
    words: int
    champion: int
    candidate: int
    terms: int = 0
    """How often business terms were said, and missed by each."""
    champion_terms: int = 0
    candidate_terms: int = 0


class FrozenAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence whose answer is settled for good."""

    text: str
    wanted: str
    champion: str
    candidate: str
    must: bool = False
    """A candidate that fails on it, where the champion does not, is not promoted."""


class ModelCost(msgspec.Struct, frozen=True, kw_only=True):
    """What an answer costs."""

    p95_ms: float
    megabytes: float
    kept: float | None = None
    """Share of the full precision's score that the form that ships keeps; None where nobody measured it."""


@dataclass(frozen=True)
class Evidence:
    """All that is known about two models."""

    kind: str
    """`sentiment`, `intent` or `speech`."""
    champion: str
    """Names of both,"""
    candidate: str
    sentences: Sequence[HeldOutSentence] = ()
    worth: Mapping[str, float] = field(default_factory=dict)
    """What each label stands for on the scale from -1 to 1; empty where labels have no order."""
    speech: Sequence[CallErrors] = ()
    frozen: Sequence[FrozenAnswer] = ()
    costs: tuple[ModelCost, ModelCost] | None = None
    """Of the champion and of the candidate."""
    attempt: int = 1
    """How often this hold-out has been asked, with this time."""
    kinds: int = 1
    """How many kinds of answers are judged beside each other: a gain in any of them is enough, so each must be as
    certain as all together."""
    new_labels: tuple[str, ...] = ()
    """Labels that only the candidate knows: told, not judged."""
    unjudged: Sequence[HeldOutSentence] = ()
    """The sentences that people gave these labels. They count only for how often each model is right."""
    people_kappa: float | None = None
    """How far people agree with each other about such sentences; None where too few were asked twice."""

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Every label that somebody gave, in the order of their worth."""
        there = {label for one in self.sentences for label in (one.human, one.champion, one.candidate)}
        return tuple(sorted(there, key=lambda label: (self.worth.get(label, 0.0), label)))

    @property
    def loud(self) -> frozenset[str]:
        """Labels that are worth something."""
        return frozenset(label for label in self.labels if self.worth.get(label, 0.0))

    def accuracy(self) -> dict[str, dict[str, float]]:
        """Of both models the share of right answers, and its standard error with calls as clusters: what live accuracy
        is compared with later. Live, people give every label, so here all count."""
        everything = [*self.sentences, *self.unjudged]
        return {side: _share_right(everything, side) for side in ("champion", "candidate")}


def _share_right(sentences: Sequence[HeldOutSentence], side: str) -> dict[str, float]:
    right = [float(getattr(one, side) == one.human) for one in sentences]
    share = sum(right) / len(right)
    by_call: dict[str, float] = {}
    for one, value in zip(sentences, right, strict=True):
        by_call[one.call] = by_call.get(one.call, 0.0) + value - share
    clusters = len(by_call)
    spread = sum(value**2 for value in by_call.values()) * clusters / max(clusters - 1, 1)
    return {"share": share, "error": math.sqrt(spread) / len(right), "sentences": len(right)}
