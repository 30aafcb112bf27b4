"""Several models, one sentiment: what most of them say. Everything else is what the model in force says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from nlp.inference.local import LocalBackend
from nlp.inference.models.language_model import LanguageModel
from nlp.inference.types import OTHER, SentenceAnalysis, SentenceContext
from tenor.errors import BadInput
from tenor.taxonomy.intents import Taxonomy
from tenor.taxonomy.sentiments import SentimentDefinition


class VotingBackend(LocalBackend):
    """The model in force and its voters. Where as many say one thing as another, the model in force decides."""

    def __init__(
        self, model: LanguageModel, taxonomy: Taxonomy, feelings: tuple[SentimentDefinition, ...],
        voters: Sequence[LocalBackend],
    ) -> None:  # fmt: skip
        super().__init__(model, taxonomy, feelings)
        for voter in voters:
            if voter.sentiments != self.sentiments:
                raise BadInput(
                    f"language.voters: {voter.versions['sentiment']} says {', '.join(sorted(voter.sentiments))}, "
                    f"and {self.versions['sentiment']} {', '.join(sorted(self.sentiments))}",
                    "models that vote have the same sentiments",
                )
        self._voters = tuple(voters)
        self.versions["sentiment"] = "+".join(one.versions["sentiment"] for one in (self, *voters))

    def analyze(self, texts: Sequence[str], contexts: Sequence[SentenceContext] = ()) -> list[SentenceAnalysis]:
        own = super().analyze(texts, contexts)
        others = [voter.analyze(texts, contexts) for voter in self._voters]
        return [one if one.language == OTHER else voted(one, rest) for one, *rest in zip(own, *others, strict=True)]


def voted(own: SentenceAnalysis, others: Sequence[SentenceAnalysis]) -> SentenceAnalysis:
    """With the sentiment of the majority; scores and mood are means over all."""
    everybody = (own, *others)
    votes = Counter(one.sentiment for one in everybody)
    most = {label for label, count in votes.items() if count == max(votes.values())}
    scores = {label: fmean(one.sentiment_scores[label] for one in everybody) for label in own.sentiment_scores}
    best = own.sentiment if own.sentiment in most else max(most, key=lambda label: (scores[label], label))
    return replace(own, sentiment=best, sentiment_scores=scores, mood=fmean(one.mood for one in everybody))
