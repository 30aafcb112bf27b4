"""A classifier to plug in: what the customer talks about, the product, the service, the support, the brand, ...

    [language.classifiers]
    aspect = "nlp.inference.heads.aspects:Aspects"

Few-shot on the embedding that the stage has made of the sentence anyway, so it costs next to nothing. For other aspects
write a class of your own with another file, and name that:

    class Ours(Aspects):
        file = Path("aspects.yaml")
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from nlp.inference.heads.few_shot import probabilities, similarity
from nlp.inference.local import LocalBackend
from nlp.inference.types import Backend, SentenceAnalysis
from tenor.errors import BadInput
from tenor.yaml import fields
from tenor.yaml.nodes import Faults, read

NONE = "none"
FEWEST = 3
SLOPE, LEAST = 20.0, 0.45
"""How sharply similarity decides, and the least probability worth an answer."""


class Aspects:
    file = Path(__file__).parents[2] / "aspects.yaml"

    def __init__(self, backend: Backend) -> None:
        if not isinstance(backend, LocalBackend):
            raise BadInput("aspects are told on our own encoder: language.backend must be local")
        self._examples = {name: np.stack(backend.embed(texts)) for name, texts in examples(self.file).items()}

    def classify(self, sentences: Sequence[SentenceAnalysis]) -> list[tuple[str, float] | None]:
        return [self._aspect(sentence) for sentence in sentences]

    def _aspect(self, sentence: SentenceAnalysis) -> tuple[str, float] | None:
        if sentence.embedding is None:  # empty, or another language
            return None
        weights = {name: SLOPE * similarity(few, sentence.embedding) for name, few in self._examples.items()}
        best, score = max(probabilities(weights).items(), key=lambda item: item[1])
        return None if best == NONE or score < LEAST else (best, score)


def examples(path: Path) -> dict[str, list[str]]:
    """Sentences by aspect; Faulty tells everything that is wrong with the file."""
    faults = Faults()
    found: dict[str, list[str]] = {}
    for key, node in read(path, faults):
        found[key.value] = [one.value for one in fields.texts(node, faults, "an example")]
        if len(set(found[key.value])) < FEWEST:
            faults.add(key, f"aspect {key.value!r} has fewer than {FEWEST} different examples")
    faults.raise_if_any(path)
    return found
