"""What an agent's sentence counts in their mood, by the rules of labelling (finetune/data/calls/README.md).

It is negative only by its own words: a model that knows the sentence before hears the caller's anger in an agent's
"Okay." An apology is never negative, however much it takes up of what the caller feels. And a sentence that is neutral
counts nothing: an agent mostly tells what is so and what will be done, and the traces of doubt that a model leaves in
each of such sentences would add up over a call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from nlp.inference.types import OTHER, SentenceAnalysis

AGENT = "agent"
APOLOGY = "apology"
NEUTRAL = "neutral"


def by_the_rules(
    analysis: SentenceAnalysis, alone: SentenceAnalysis | None, valence: Callable[[str], float]
) -> SentenceAnalysis:
    """The analysis of what an agent said. `alone`: of its words without the sentence before, if that was asked.
    `valence`: what a label is worth."""
    if analysis.language == OTHER:
        return analysis
    felt = analysis if alone is None or valence(alone.sentiment) < 0 else alone
    scores, sentiment = dict(felt.sentiment_scores), felt.sentiment
    neutral = min((label for label in scores if valence(label) >= 0), key=valence, default=NEUTRAL)
    if analysis.intent == APOLOGY:
        for label in [label for label in scores if valence(label) < 0]:
            scores[neutral] = scores.get(neutral, 0.0) + scores[label]
            scores[label] = 0.0
        sentiment = max(scores, key=scores.__getitem__)
    mood = 0.0 if sentiment == neutral else sum(valence(label) * score for label, score in scores.items())
    return replace(analysis, sentiment=sentiment, sentiment_scores=scores, mood=mood)
