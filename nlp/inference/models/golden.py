"""What a model's heads answer, for golden answers: before thresholds, label sets and plug-ins, which are the site's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nlp.inference.assistant.assistant_model import AssistantModel
    from nlp.inference.models.language_model import LanguageModel


def language_answers(model: LanguageModel, texts: Sequence[str]) -> list[dict[str, str]]:
    """The likeliest label of each sentence head."""
    return [
        {head: model.card.heads[head][int(scores.argmax())] for head, scores in prediction.sentence.items()}
        for prediction in model.predict(texts)
    ]


def assistant_answers(model: AssistantModel, texts: Sequence[str]) -> list[dict[str, str]]:
    """The likeliest intent, and the tag of every word."""
    return [{"intent": parsed.ranking[0][0], "slots": " ".join(parsed.tags)} for parsed in model.read(texts)]
