"""Which model analyzes a call: the one that was in force when it began, while promotions come and go.

Each model has its own classifiers, for these are made with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from nlp.call import CallAnalysis
from nlp.inference.analyzer import Analyzer
from nlp.inference.backend import local_models, open_backend
from nlp.inference.plugins import load_classifiers
from nlp.inference.types import Backend
from nlp.partition import PendingEvent
from tenor.model_store.pool import ModelPool
from tenor.model_store.store import store_of
from tenor.settings import Settings


class ModelVersions(Protocol):
    @property
    def pools(self) -> Sequence[ModelPool[Analyzer]]:
        """What is to be watched."""
        ...

    def check(self) -> None:
        """Raises what keeps us from asking, before anybody waits for an answer."""
        ...

    def refresh(self) -> None:
        """See whether there are new promotions."""
        ...

    def analyzer_of(self, pending: PendingEvent) -> Analyzer:
        """What understands this event; may take as long as loading it does."""
        ...

    def release(self, calls: Iterable[CallAnalysis]) -> None:
        """Only these calls are open."""
        ...


def open_versions(settings: Settings, backend: Backend | None = None) -> ModelVersions:
    """Promoted models for the pipeline that has its own; one for all calls where it is given, or is a server's."""

    def make(one: Backend) -> Analyzer:
        return Analyzer(one, load_classifiers(settings.language.classifiers, one))

    if backend is None and settings.language.backend == "local":
        versions = PromotedModels(local_models(settings.language, make, store_of(settings, "language")))
        versions.current()  # a wrong setting is told at the start
        return versions
    return OneModel(make(backend or open_backend(settings)))


class OneModel:
    pools: tuple[ModelPool[Analyzer], ...] = ()

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer

    def check(self) -> None:
        self._analyzer.check()

    def refresh(self) -> None:
        """Nobody promotes it."""

    def analyzer_of(self, pending: PendingEvent) -> Analyzer:
        return self._analyzer

    def release(self, calls: Iterable[CallAnalysis]) -> None:
        """It stays."""


class PromotedModels:
    def __init__(self, pool: ModelPool[Analyzer]) -> None:
        self.pools = (pool,)
        self._pool = pool

    def current(self) -> Analyzer:
        return self._pool.current()

    def check(self) -> None:
        self.current().check()

    def refresh(self) -> None:
        self._pool.refresh()

    def analyzer_of(self, pending: PendingEvent) -> Analyzer:
        call = pending.call
        call.model = self._pool.choose(call.began, pending.record.at, call.model)
        return self._pool.get(call.model)

    def release(self, calls: Iterable[CallAnalysis]) -> None:
        self._pool.release(call.model for call in calls if call.model is not None)
