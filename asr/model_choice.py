"""Which model a call asks the recogniser for: the one that was in force when it began, by its name at the server.

nothing was ever promoted    the server chooses, as ever
words of it are published    the model that they name, also after a reconnection or a kill
else                         what the log of promotions gives it; where the server lacks that, the one before it
"""

from __future__ import annotations

import os
import socket
import time

import structlog

from asr.position import CallPosition
from asr.riva.client import RivaClient
from tenor.bus import Bus
from tenor.events import MODELS, ModelLoaded
from tenor.model_store import metrics
from tenor.model_store.card import Kind
from tenor.model_store.promotion_log import Promotion, began
from tenor.model_store.shipped import SHIPPED
from tenor.model_store.store import ModelStore, store_of
from tenor.settings import Settings

log = structlog.get_logger(__name__)

KIND: Kind = "speech"
TOLD_S = 60.0
"""How often it is said that the server lacks a model."""


def speech_models(settings: Settings) -> ModelStore:
    """The promotions that count: none where a setting names the model."""
    return ModelStore(None) if settings.speech.model else store_of(settings, KIND)


class ModelChoice:
    def __init__(self, store: ModelStore, riva: RivaClient, bus: Bus) -> None:
        self._store, self._riva, self._bus = store, riva, bus
        self._told: dict[str, float] = {}

    async def of(self, position: CallPosition, language: str) -> str:
        """The name to ask for; empty lets the server choose."""
        self._store.refresh()
        if not self._store.log.of(KIND):
            return ""
        used = next((channel.model for channel in position.channels.values() if channel.model), "")
        if used and (name := await self._riva.find_model(used, language)):
            return name
        promotion = self._store.log.in_force(KIND, began(position.info.started_at, time.time()))
        while promotion is not None and promotion.sha256:
            if name := await self._riva.find_model(promotion.model, language):
                return name
            await self._say_missing(promotion)
            promotion = self._store.log.before(promotion)
        return await self._riva.find_model(SHIPPED[KIND].name, language)

    async def _say_missing(self, promotion: Promotion) -> None:
        """The model before it stays in place, and Operations says why."""
        now = time.monotonic()
        if now - self._told.get(promotion.model, -TOLD_S) < TOLD_S:
            return
        self._told[promotion.model] = now
        reason = f"the recogniser has no model {promotion.model}"
        metrics.FAILURES.labels(KIND).inc()
        log.error("a promoted model is not at the recogniser", model=promotion.model)
        process = f"{socket.gethostname()}:{os.getpid()}"
        event = ModelLoaded(
            call="", kind=KIND, model=promotion.model, stage="asr", process=process, at=time.time(), reason=reason
        )
        await self._bus.publish(MODELS, event)
