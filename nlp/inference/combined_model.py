"""A model with fewer heads than sentences need, as `finetune intents` makes them; the one that ships tells the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from nlp.model import Model, Reading

NEEDED = ("sentiment", "intent", "slots")


def completed(model: Model) -> Model:
    return model if all(head in model.card.heads for head in NEEDED) else Completed(model, Model(threads=model.threads))


class Completed(Model):
    """Every text is read twice. Examples are compared by the model's own vectors."""

    def __init__(self, model: Model, rest: Model) -> None:
        self._model, self._rest = model, rest
        heads = {**rest.card.heads, **model.card.heads}
        self.card = msgspec.structs.replace(model.card, heads=heads)

    def maker(self, head: str) -> str:
        return self._model.id if head in self._model.card.heads else self._rest.id

    def read(self, texts: Sequence[str]) -> list[Reading]:
        pairs = zip(self._model.read(texts), self._rest.read(texts), strict=True)
        return [_together(own, other) for own, other in pairs]


def _together(own: Reading, other: Reading) -> Reading:
    tokens = own if own.tokens else other
    return replace(tokens, sentence={**other.sentence, **own.sentence}, embedding=own.embedding)
