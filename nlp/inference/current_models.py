"""Riva's language service answered by the model in force, whichever that is when somebody asks (LanguageModels)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from nlp.inference.local import RIVA_MODELS, LocalBackend
from nlp.inference.types import Answer, Entity, IntentResult, ModelInfo, ScoredLabel
from tenor.model_store.pool import ModelPool


class CurrentModels:
    """A request is no call: each is answered by what is in force at its time. Nothing is loaded before the first:
    most servers are asked for speech only."""

    def __init__(self, pool: ModelPool[LocalBackend]) -> None:
        self._pool = pool
        self.models: Sequence[ModelInfo] = RIVA_MODELS

    async def _current(self) -> LocalBackend:
        return await asyncio.to_thread(self._look)

    def _look(self) -> LocalBackend:
        self._pool.prepare()
        self._pool.release(())
        self._pool.reports.clear()
        return self._pool.current()

    async def classify(self, model: str, texts: Sequence[str]) -> list[ScoredLabel]:
        return await (await self._current()).classify(model, texts)

    async def tag(self, model: str, texts: Sequence[str]) -> list[list[Entity]]:
        return await (await self._current()).tag(model, texts)

    async def intent(self, model: str, text: str) -> IntentResult:
        return await (await self._current()).intent(model, text)

    async def domain(self, text: str) -> str | None:
        return await (await self._current()).domain(text)

    async def rewrite(self, model: str, texts: Sequence[str]) -> list[str]:
        return await (await self._current()).rewrite(model, texts)

    async def answer(self, model: str, query: str, context: str, limit: int) -> list[Answer]:
        return await (await self._current()).answer(model, query, context, limit)
