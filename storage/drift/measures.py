"""What is measured of every call, and what of it is data drift and what concept drift.

data      other things are said than before: other shares of labels, words that the model does not know, answers of
          which it is less sure, speech that is harder to recognise
concept   what is said means something else than the model thinks: people's labels of random sentences say that it is
          right less often than when the gate let it pass
"""

from __future__ import annotations

from typing import Literal, get_args

from storage.drift.ratios import Side

DriftKind = Literal["data", "concept"]
Scope = Literal["house", "queue", "site"]
Measure = Literal["sentiment", "intent", "expected", "unknown words", "novelty", "foreign", "confidence", "accuracy"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
MEASURES: tuple[Measure, ...] = get_args(Measure)
ACCURACY: Measure = "accuracy"
ANSWERS: tuple[Measure, ...] = ("sentiment", "intent")
"""Kinds of answers: the shares of their labels are measures, and so is how often they are right, or expected to be."""
MEANING: dict[Measure, str] = {
    "sentiment": "share of sentences with this sentiment",
    "intent": "share of sentences with this intent",
    "expected": "accuracy that the model expects of itself: the mean probability of its answers",
    "unknown words": "share of words that the model does not know as a whole",
    "novelty": "mean distance of sentences from what the model has learned",
    "foreign": "share of sentences in another language",
    "confidence": "mean confidence of the recogniser",
    "accuracy": "share of random sentences that the model answers as people do",
}
"""For people to read."""
SIDES: dict[Measure, Side] = {"expected": "lower", "confidence": "lower", "accuracy": "lower"}
"""Of the others any difference is drift."""


def kind_of(measure: str) -> DriftKind:
    return "concept" if measure == ACCURACY else "data"


def side_of(measure: str) -> Side:
    return next((side for name, side in SIDES.items() if name == measure), "both")
