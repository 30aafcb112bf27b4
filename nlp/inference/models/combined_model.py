"""A model with fewer heads than sentences need, as `finetune intents` makes them; the one that ships has the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from nlp.inference.models.language_model import LanguageModel, open_model
from nlp.inference.models.onnx_model import Prediction
from nlp.inference.types import SentenceContext

NEEDED = ("sentiment", "intent", "slots")


def with_all_heads(model: LanguageModel) -> LanguageModel:
    if all(head in model.card.heads for head in NEEDED):
        return model
    return CombinedModel(model, open_model(threads=model.threads))


class CombinedModel:
    """Every text is read twice. Examples are compared by the model's own vectors."""

    def __init__(self, model: LanguageModel, rest: LanguageModel) -> None:
        self._model, self._rest = model, rest
        self.threads = model.threads
        heads = {**rest.card.heads, **model.card.heads}
        self.card = msgspec.structs.replace(model.card, heads=heads)

    @property
    def id(self) -> str:
        return self._model.id

    def model_of(self, head: str) -> str:
        return self._model.id if head in self._model.card.heads else self._rest.id

    def predict(self, texts: Sequence[str], contexts: Sequence[SentenceContext] = ()) -> list[Prediction]:
        pairs = zip(self._model.predict(texts, contexts), self._rest.predict(texts, contexts), strict=True)
        return [_combine(own, other) for own, other in pairs]


def _combine(own: Prediction, other: Prediction) -> Prediction:
    tokens = own if own.tokens else other
    return replace(tokens, sentence={**other.sentence, **own.sentence}, embedding=own.embedding)
