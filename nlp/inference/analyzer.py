"""Everything that is said about sentences: what the back end finds, then what further classifiers add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import structlog

from nlp import metrics
from nlp.inference.agents_mood import AGENT, by_the_rules
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
        if contexts:
            found = self._agents(texts, contexts, found)
        labels = iter(self._classifiers.labels([analysis for analysis in found if analysis is not None]))
        return [None if analysis is None else replace(analysis, labels=next(labels)) for analysis in found]

    def _agents(
        self, texts: Sequence[str], contexts: Sequence[SentenceContext], found: Sequence[SentenceAnalysis | None]
    ) -> list[SentenceAnalysis | None]:
        """What agents said, by the rules of labelling; what is negative is asked again without the sentence before."""
        valence = self._backend.valence
        doubtful = [
            at
            for at, (context, one) in enumerate(zip(contexts, found, strict=True))
            if one is not None and context.role == AGENT and context.before and valence(one.sentiment) < 0
        ]
        alone: dict[int, SentenceAnalysis | None] = {}
        if doubtful:
            asked = self._ask([texts[at] for at in doubtful], [SentenceContext(AGENT)] * len(doubtful))
            alone = dict(zip(doubtful, asked, strict=True))
        return [
            one if one is None or context.role != AGENT else by_the_rules(one, alone.get(at), valence)
            for at, (context, one) in enumerate(zip(contexts, found, strict=True))
        ]

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
