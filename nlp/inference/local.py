"""Sentences analyzed in this process: sentiment, intent and values from one pass of the encoder."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from nlp.inference.heads.intents import IntentHead
from nlp.inference.heads.novelty import NoveltyHead
from nlp.inference.heads.sentiments import SentimentHead
from nlp.inference.heads.slots import find_slots
from nlp.inference.language_id import is_foreign
from nlp.inference.mask_filling import fill_masks, original_entities
from nlp.inference.models.language_model import LanguageModel, open_model
from nlp.inference.models.onnx_model import Floats, Prediction
from nlp.inference.punctuation import shared_punctuator
from nlp.inference.types import (
    ENGLISH,
    OTHER,
    Answer,
    Entity,
    IntentResult,
    ModelInfo,
    ModelTask,
    ScoredLabel,
    SentenceAnalysis,
    SentenceContext,
)
from tenor.taxonomy.intents import UNKNOWN, Taxonomy, read
from tenor.taxonomy.sentiments import SentimentDefinition

DOMAIN = "callcenter"
NER = "riva_ner"
_COMMON_NAMES = {"person": "PER", "place": "LOC", "company": "ORG"}
"""What named entities are called by NVIDIA's model and most others."""
RIVA_MODELS = (
    ModelInfo("riva_text_classification_sentiment", ModelTask.TEXT),
    ModelInfo("riva_text_classification_intent", ModelTask.TEXT),
    ModelInfo("riva_slots", ModelTask.TOKENS),
    ModelInfo(NER, ModelTask.TOKENS),
    ModelInfo(NER, ModelTask.ENTITIES),
    ModelInfo(f"riva_intent_{DOMAIN}", ModelTask.INTENT, domain=DOMAIN),
    ModelInfo("riva_punctuation", ModelTask.PUNCTUATION),
)
"""What every version of our model is for clients of Riva."""


class LocalBackend:
    """One model, shared. `analyze` is for the pipeline; the rest is what Riva's language services ask."""

    def __init__(
        self,
        model: LanguageModel | None = None,
        taxonomy: Taxonomy | None = None,
        feelings: tuple[SentimentDefinition, ...] = (),
    ) -> None:
        self._model = model or open_model()
        self.taxonomy = taxonomy or read()
        self._intents = IntentHead(self._model, self.taxonomy)
        self._sentiments = SentimentHead(self._model, feelings)
        self._novelty = NoveltyHead(self._model, self.taxonomy)
        self._tags = self._model.card.heads["slots"]
        self.versions = {
            "sentiment": self._sentiments.version,
            **{head: self._model.model_of(head) for head in ("intent", "slots")},
        }
        """Which model says what, as a Sentence carries it."""

    @property
    def tasks(self) -> frozenset[str]:
        return self.taxonomy.tasks

    @property
    def sentiments(self) -> frozenset[str]:
        return frozenset(self._sentiments.valences)

    def valence(self, sentiment: str) -> float:
        return self._sentiments.valences[sentiment]

    def analyze(self, texts: Sequence[str], contexts: Sequence[SentenceContext] = ()) -> list[SentenceAnalysis]:
        """Every text in its order; an empty one is neutral and has no intent. `contexts`: one for each, or none."""
        readable = [index for index, text in enumerate(texts) if text.strip() and not is_foreign(text)]
        without_masks = [fill_masks(texts[index])[0] for index in readable]
        known = [_without_masks(contexts[index]) for index in readable] if contexts else ()
        predictions = dict(zip(readable, self._model.predict(without_masks, known), strict=True))
        return [
            self._analysis(text, predictions[index]) if index in predictions else self._no_analysis(text)
            for index, text in enumerate(texts)
        ]

    def embed(self, texts: Sequence[str]) -> list[Floats]:
        """Texts as vectors of length one, for classifiers that compare with examples."""
        return [prediction.embedding for prediction in self._model.predict(texts)]

    def _analysis(self, text: str, prediction: Prediction) -> SentenceAnalysis:
        sentiment_scores = self._sentiments.scores(prediction)
        intent_scores = self._intents.scores(prediction)
        intent, score = self._intents.best(intent_scores)
        without_masks, placeholders = fill_masks(text)
        return SentenceAnalysis(
            text,
            max(sentiment_scores, key=sentiment_scores.__getitem__),
            sentiment_scores,
            intent,
            score,
            original_entities(find_slots(without_masks, prediction, self._tags), placeholders),
            intent_scores,
            mood=self._sentiments.mood(sentiment_scores),
            embedding=prediction.embedding,
            models=self.versions,
            novelty=self._novelty.score(prediction.embedding),
        )

    def _no_analysis(self, text: str) -> SentenceAnalysis:
        neutral = self._sentiments.neutral
        scores = {label: float(label == neutral) for label in self._sentiments.valences}
        language = OTHER if text.strip() else ENGLISH
        return SentenceAnalysis(text, neutral, scores, UNKNOWN, 0.0, language=language, models=self.versions)

    # -- what Riva's services ask (nlp.inference.types.LanguageModels)

    @property
    def models(self) -> Sequence[ModelInfo]:
        return RIVA_MODELS

    async def classify(self, model: str, texts: Sequence[str]) -> list[ScoredLabel]:
        found = await asyncio.to_thread(self.analyze, texts)
        if model.endswith("intent"):
            return [ScoredLabel(one.intent, one.intent_score) for one in found]
        return [ScoredLabel(one.sentiment, one.sentiment_scores[one.sentiment]) for one in found]

    async def tag(self, model: str, texts: Sequence[str]) -> list[list[Entity]]:
        found = [one.entities for one in await asyncio.to_thread(self.analyze, texts)]
        return [_named_entities(entities) if model == NER else list(entities) for entities in found]

    async def intent(self, model: str, text: str) -> IntentResult:
        [found] = await asyncio.to_thread(self.analyze, [text])
        domain = ScoredLabel(DOMAIN, 1.0 - found.intent_scores.get(UNKNOWN, 1.0))
        return IntentResult(domain, ScoredLabel(f"{DOMAIN}.{found.intent}", found.intent_score), found.entities)

    async def domain(self, text: str) -> str | None:
        [found] = await asyncio.to_thread(self.analyze, [text])
        return None if found.intent == UNKNOWN else DOMAIN

    async def rewrite(self, model: str, texts: Sequence[str]) -> list[str]:
        return await asyncio.to_thread(lambda: [shared_punctuator().text(text) for text in texts])

    async def answer(self, model: str, query: str, context: str, limit: int) -> list[Answer]:
        raise NotImplementedError("no model of ours answers questions")


def _named_entities(entities: Sequence[Entity]) -> list[Entity]:
    """People, places and companies by their common names; dates and amounts have none."""
    return [
        replace(entity, label=ScoredLabel(_COMMON_NAMES[entity.label.name], entity.label.score))
        for entity in entities
        if entity.label.name in _COMMON_NAMES
    ]


def _without_masks(context: SentenceContext) -> SentenceContext:
    before = (context.before or "").strip()
    return SentenceContext(context.role, fill_masks(before)[0] or None)
