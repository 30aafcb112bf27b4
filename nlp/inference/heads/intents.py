"""What a sentence wants: the trained head for what it learned, nearest examples for what was added since.

head         p(i), learned from thousands of sentences
few-shot     q(i), for intents with examples that the head has not seen: is the sentence nearer to them
             than to anything it has? Of those that the head can answer, too, the nearest alone says how much
             all of them take from it: several that are a little near would outvote a head that knows better.
answer       q(i) + (1 - sum of q) * p(i), and `unknown` when nothing is likely enough
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from nlp.inference.heads.few_shot import embeddings, similarity
from nlp.inference.models.language_model import LanguageModel
from nlp.inference.models.onnx_model import Floats, Prediction, fingerprint
from tenor.taxonomy.intents import UNKNOWN, Taxonomy

HEAD = "intent"


class IntentHead:
    """The intents of a taxonomy, on a model's predictions."""

    def __init__(self, model: LanguageModel, taxonomy: Taxonomy) -> None:
        card = model.card
        self.names = (*taxonomy.names, UNKNOWN)
        self._unlikely = card.thresholds.get("intent", 0.4)
        self._floor = card.thresholds.get("similarity", 0.5)
        self._slope = card.thresholds.get("similarity_slope", 20.0)
        learned = {name: number for number, name in enumerate(card.heads[HEAD])}
        self._learned = frozenset(learned)
        # Where the head has an output for each of our names; what it alone knows counts for nothing.
        self._columns = np.array([learned.get(name, -1) for name in self.names])
        new = {
            intent.name: [text for text in intent.examples if fingerprint(text) not in card.examples]
            for intent in taxonomy.intents
        }
        self._new: dict[str, Floats] = {name: embeddings(model, texts) for name, texts in new.items() if texts}
        self._known: list[Floats] = []
        if self._new:  # only then is there something to compare with what the head has seen
            seen = ([text for text in intent.examples if text not in new[intent.name]] for intent in taxonomy.intents)
            self._known = [embeddings(model, texts) for texts in seen if texts]

    @property
    def compares(self) -> bool:
        """Whether an intent has examples that the head has not learned."""
        return bool(self._new)

    def scores(self, prediction: Prediction) -> dict[str, float]:
        """Every intent's probability, `unknown` included; they add up to one."""
        head = prediction.sentence[HEAD]
        likely = np.where(self._columns >= 0, head[self._columns], 0.0)
        likely[-1] += 1.0 - likely.sum()  # what the head gives to intents that were taken out is nobody's
        added = self._few_shot(prediction.embedding)
        likely *= 1.0 - sum(added.values())
        return {name: float(p) + added.get(name, 0.0) for name, p in zip(self.names, likely, strict=True)}

    def best(self, scores: Mapping[str, float]) -> tuple[str, float]:
        """The likeliest intent; `unknown` when even that is unlikely."""
        name = max(scores, key=scores.__getitem__)
        if name != UNKNOWN and scores[name] < self._unlikely:
            return UNKNOWN, 1.0 - scores[name]
        return name, scores[name]

    def _few_shot(self, sentence: Floats) -> dict[str, float]:
        if not self._new:
            return {}
        rival = max((similarity(examples, sentence) for examples in self._known), default=0.0)
        rival = max(rival, self._floor)
        odds = {
            name: np.exp(self._slope * (similarity(examples, sentence) - rival)) for name, examples in self._new.items()
        }
        learned = {name: value for name, value in odds.items() if name in self._learned}
        shrink = max(learned.values()) / sum(learned.values()) if learned else 1.0
        weights = {name: value * (shrink if name in learned else 1.0) for name, value in odds.items()}
        total = 1.0 + sum(weights.values())
        return {name: float(value / total) for name, value in weights.items()}
