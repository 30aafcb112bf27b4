"""Everything that is said about sentences: what the back end finds, then what further classifiers add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import structlog

from nlp import metrics
from nlp.inference.language_id import identifier
from nlp.inference.plugins import Classifiers
from nlp.inference.types import Backend, SentenceAnalysis, SentenceContext
from tenor.errors import TenorError

log = structlog.get_logger(__name__)


class Analyzer:
    def __init__(self, backend: Backend, classifiers: Classifiers) -> None:
        self._backend = backend
        self._classifiers = classifiers

    @property
    def tasks(self) -> frozenset[str]:
        """Intents that a whole call can be about."""
        return self._backend.tasks

    def check(self) -> None:
        """Raises what keeps us from asking, before anybody waits for an answer."""
        identifier()
        self._backend.analyze([])

    def analyze(self, texts: Sequence[str], contexts: Sequence[SentenceContext] = ()) -> list[SentenceAnalysis | None]:
        """Every text in its order, in one go; None for one that the back end fails on."""
        if not texts:
            return []
        metrics.BATCH.observe(len(texts))
        found = self._ask(list(texts), list(contexts))
        labels = iter(self._classifiers.labels([analysis for analysis in found if analysis is not None]))
        return [None if analysis is None else replace(analysis, labels=next(labels)) for analysis in found]

    def _ask(self, texts: list[str], contexts: list[SentenceContext]) -> list[SentenceAnalysis | None]:
        try:
            return list(self._backend.analyze(texts, contexts))
        except TenorError:
            raise
        except Exception as error:
            if len(texts) == 1:
                log.error("a sentence cannot be understood", error=type(error).__name__)
                return [None]
        return [  # only one of them is to blame
            analysis for at, text in enumerate(texts) for analysis in self._ask([text], contexts[at : at + 1])
        ]
