"""How unlike a sentence is to what its model learned from: what is new to it is worth a person's look."""

from __future__ import annotations

import numpy as np

from nlp.inference.heads.few_shot import embeddings
from nlp.inference.models.language_model import LanguageModel
from nlp.inference.models.onnx_model import Floats
from tenor.taxonomy.intents import Taxonomy

EXAMPLES = 4
"""Per intent: they take an eighth of a second to read when the stage starts, and more of them tell hardly more."""


class NoveltyHead:
    """Compares with the examples of the intents in force, on the vector that the encoder gives anyway."""

    def __init__(self, model: LanguageModel, taxonomy: Taxonomy) -> None:
        texts = [text for intent in taxonomy.intents for text in intent.examples[:EXAMPLES]]
        self._examples = embeddings(model, texts) if texts else None

    def score(self, sentence: Floats) -> float | None:
        """0: as an example; 1: nothing in common with any. None without examples."""
        if self._examples is None:
            return None
        return float(np.clip(1.0 - (self._examples @ sentence).max(), 0.0, 1.0))
