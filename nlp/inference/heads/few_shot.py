"""Few-shot: how like a sentence is to some examples, on the encoder that reads it anyway."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from nlp.inference.models.language_model import LanguageModel
from nlp.inference.models.onnx_model import Floats

NEAREST = 3
"""Examples that a sentence is compared with; one alone may be an odd one."""


def embeddings(model: LanguageModel, texts: Sequence[str]) -> Floats:
    return np.stack([prediction.embedding for prediction in model.predict(texts)])


def similarity(examples: Floats, sentence: Floats) -> float:
    """Mean cosine with the nearest of the examples."""
    return float(np.sort(examples @ sentence)[-NEAREST:].mean())


def probabilities(weights: Mapping[str, float]) -> dict[str, float]:
    """Probabilities in proportion to the exponentials of the weights."""
    highest = max(weights.values())
    powers = {name: float(np.exp(weight - highest)) for name, weight in weights.items()}
    total = sum(powers.values())
    return {name: power / total for name, power in powers.items()}
