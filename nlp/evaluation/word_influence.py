"""Which words moved an answer: each word is left out in turn, and the model is asked again.

A word's influence is by how much the answer's score falls without it; below 0 the word spoke against the answer. This
holds for every model, needs nothing of its inside, and says the same each time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nlp.inference.assistant.words import word_offsets
from nlp.inference.types import ENGLISH, Backend, SentenceAnalysis, SentenceContext

MOST_WORDS = 128
"""Of a sentence, from its beginning: no model reads more."""
AT_ONCE = 512
"""Variants that are asked in one pass."""
DIGITS = 4


@dataclass(frozen=True, slots=True)
class WordInfluence:
    word: str
    start: int
    end: int
    """Characters of the text, the end not included."""
    moved: float
    """What the score of the answer loses without the word."""


@dataclass(frozen=True, slots=True)
class AnswerReasons:
    """Words by influence, the strongest first, whichever way they moved the answer."""

    sentiment: tuple[WordInfluence, ...] = ()
    intent: tuple[WordInfluence, ...] = ()


def word_influences(
    backend: Backend, found: Sequence[SentenceAnalysis], contexts: Sequence[SentenceContext] = ()
) -> list[AnswerReasons]:
    """Of each answer that `backend` gave. `contexts`: those it was asked with, one for each, or none."""
    spans = [word_offsets(one.text)[:MOST_WORDS] if one.language == ENGLISH else [] for one in found]
    asked = [(number, at) for number, own in enumerate(spans) for at in range(len(own))]
    answers = _answers(backend, found, spans, asked, contexts)
    reasons = []
    for one, own in zip(found, spans, strict=True):
        without = [next(answers) for _ in own]
        reasons.append(
            AnswerReasons(
                _ranked(one, own, [_sentiment(one, one) - _sentiment(one, other) for other in without]),
                _ranked(one, own, [_intent(one, one) - _intent(one, other) for other in without]),
            )
        )
    return reasons


def _answers(
    backend: Backend, found: Sequence[SentenceAnalysis], spans: Sequence[Sequence[tuple[int, int]]],
    asked: Sequence[tuple[int, int]], contexts: Sequence[SentenceContext],
) -> Iterator[SentenceAnalysis]:  # fmt: skip
    for first in range(0, len(asked), AT_ONCE):
        part = asked[first : first + AT_ONCE]
        texts = [_without(found[number].text, *spans[number][at]) for number, at in part]
        yield from backend.analyze(texts, [contexts[number] for number, _ in part] if contexts else ())


def _without(text: str, start: int, end: int) -> str:
    return f"{text[:start].rstrip()} {text[end:].lstrip()}".strip()


def _sentiment(answer: SentenceAnalysis, other: SentenceAnalysis) -> float:
    return other.sentiment_scores.get(answer.sentiment, 0.0)


def _intent(answer: SentenceAnalysis, other: SentenceAnalysis) -> float:
    known = other.intent_score if other.intent == answer.intent else 0.0
    return other.intent_scores.get(answer.intent, known)


def _ranked(
    answer: SentenceAnalysis, spans: Sequence[tuple[int, int]], moved: Sequence[float]
) -> tuple[WordInfluence, ...]:
    words = [
        WordInfluence(answer.text[start:end], start, end, round(value, DIGITS))
        for (start, end), value in zip(spans, moved, strict=True)
    ]
    return tuple(sorted(words, key=lambda one: (-abs(one.moved), one.start)))
