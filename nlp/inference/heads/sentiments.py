"""How sentences feel: by the model's own head, or by a set of labels from a file (tenor/taxonomy/sentiments.py).

For a set of one's own there is no training. A label is likely when the sentence is like its examples, and when what the
label is worth is near to the mood that the model's own head hears.
"""

from __future__ import annotations

import hashlib

from nlp.inference.heads.few_shot import embeddings, probabilities, similarity
from nlp.inference.models.language_model import LanguageModel
from nlp.inference.models.onnx_model import Prediction
from tenor.taxonomy.sentiments import SentimentDefinition, valence_of

HEAD = "sentiment"
SLOPE, WIDTH = 10.0, 0.35
"""How much similarity counts, and how far from the head's mood a label may be; chosen on our frozen sentences."""


class SentimentHead:
    """How sentences feel, by the model's head or by a set of labels that takes its place."""

    def __init__(self, model: LanguageModel, feelings: tuple[SentimentDefinition, ...] = ()) -> None:
        self._head = model.card.heads[HEAD]
        self.valences = {feeling.name: feeling.valence for feeling in feelings} or {
            label: valence_of(label) for label in self._head
        }
        """Labels, and what each is worth."""
        self.neutral = min(self.valences, key=lambda label: abs(self.valences[label]))
        """The label of a sentence that nothing can be said about."""
        self.version = model.model_of(HEAD)
        self._examples = {feeling.name: embeddings(model, feeling.examples) for feeling in feelings}
        if feelings:
            self.version += f"+{hashlib.sha256(repr(feelings).encode()).hexdigest()[:8]}"

    def scores(self, prediction: Prediction) -> dict[str, float]:
        """Every label's probability; they add up to one."""
        scores = dict(zip(self._head, map(float, prediction.sentence[HEAD]), strict=True))
        if not self._examples:
            return scores
        mood = sum(valence_of(label) * score for label, score in scores.items())
        return probabilities(
            {
                name: SLOPE * similarity(examples, prediction.embedding)
                - ((self.valences[name] - mood) / WIDTH) ** 2 / 2
                for name, examples in self._examples.items()
            }
        )

    def mood(self, scores: dict[str, float]) -> float:
        return sum(self.valences[label] * score for label, score in scores.items())
