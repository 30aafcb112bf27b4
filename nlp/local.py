"""Sentences understood in this process: sentiment, intent and values from one pass of the encoder."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from nlp.foreign import is_foreign
from nlp.intents import Intents
from nlp.masks import as_said, filled
from nlp.model import Floats, Model, Reading
from nlp.sentiments import Feeling, Sentiments
from nlp.slots import slots
from nlp.taxonomy import UNKNOWN, Taxonomy, read
from nlp.understanding import Answer, Entity, Intent, Label, ModelInfo, Task
from nlp.understood import ENGLISH, OTHER, Understood

DOMAIN = "callcenter"


class LocalUnderstanding:
    """One model, shared. `understand` is for the pipeline; the rest is what Riva's language services ask."""

    def __init__(
        self, model: Model | None = None, taxonomy: Taxonomy | None = None, feelings: tuple[Feeling, ...] = ()
    ) -> None:
        self._model = model or Model()
        self.taxonomy = taxonomy or read()
        self._intents = Intents(self._model, self.taxonomy)
        self._sentiments = Sentiments(self._model, feelings)
        self._tags = self._model.card.heads["slots"]

    @property
    def versions(self) -> dict[str, str]:
        """Which model says what, as a Sentence carries it."""
        return {
            "sentiment": self._sentiments.version,
            **{head: self._model.maker(head) for head in ("intent", "slots")},
        }

    @property
    def tasks(self) -> frozenset[str]:
        return self.taxonomy.tasks

    def understand(self, texts: Sequence[str]) -> list[Understood]:
        """Every text in its order; an empty one feels nothing and wants nothing."""
        readable = [index for index, text in enumerate(texts) if text.strip() and not is_foreign(text)]
        read = [filled(texts[index])[0] for index in readable]
        readings = dict(zip(readable, self._model.read(read), strict=True))
        return [
            self._understood(text, readings[index]) if index in readings else self._untold(text)
            for index, text in enumerate(texts)
        ]

    def embed(self, texts: Sequence[str]) -> list[Floats]:
        """Texts as vectors of length one, for classifiers that compare with examples."""
        return [reading.embedding for reading in self._model.read(texts)]

    def _understood(self, text: str, reading: Reading) -> Understood:
        feelings = self._sentiments.scores(reading)
        wishes = self._intents.scores(reading)
        intent, score = self._intents.best(wishes)
        read, stand_ins = filled(text)
        return Understood(
            text,
            max(feelings, key=feelings.__getitem__),
            feelings,
            intent,
            score,
            as_said(slots(read, reading, self._tags), stand_ins),
            wishes,
            mood=self._sentiments.mood(feelings),
            embedding=reading.embedding,
        )

    def _untold(self, text: str) -> Understood:
        neutral = self._sentiments.neutral
        scores = {label: float(label == neutral) for label in self._sentiments.valences}
        return Understood(text, neutral, scores, UNKNOWN, 0.0, language=OTHER if text.strip() else ENGLISH)

    # What Riva's services ask (nlp.understanding.Understanding).

    @property
    def models(self) -> Sequence[ModelInfo]:
        return (
            ModelInfo("riva_text_classification_sentiment", Task.TEXT),
            ModelInfo("riva_text_classification_intent", Task.TEXT),
            ModelInfo("riva_ner", Task.TOKENS),
            ModelInfo("riva_ner", Task.ENTITIES),
            ModelInfo(f"riva_intent_{DOMAIN}", Task.INTENT, domain=DOMAIN),
        )

    async def classify(self, model: str, texts: Sequence[str]) -> list[Label]:
        found = await asyncio.to_thread(self.understand, texts)
        if model.endswith("intent"):
            return [Label(one.intent, one.intent_score) for one in found]
        return [Label(one.sentiment, one.sentiment_scores[one.sentiment]) for one in found]

    async def tag(self, model: str, texts: Sequence[str]) -> list[list[Entity]]:
        return [list(one.entities) for one in await asyncio.to_thread(self.understand, texts)]

    async def intent(self, model: str, text: str) -> Intent:
        [found] = await asyncio.to_thread(self.understand, [text])
        domain = Label(DOMAIN, 1.0 - found.intent_scores.get(UNKNOWN, 1.0))
        return Intent(domain, Label(f"{DOMAIN}.{found.intent}", found.intent_score), found.entities)

    async def domain(self, text: str) -> str | None:
        [found] = await asyncio.to_thread(self.understand, [text])
        return None if found.intent == UNKNOWN else DOMAIN

    async def rewrite(self, model: str, texts: Sequence[str]) -> list[str]:
        raise NotImplementedError("no model of ours rewrites text")

    async def answer(self, model: str, query: str, context: str, limit: int) -> list[Answer]:
        raise NotImplementedError("no model of ours answers questions")
