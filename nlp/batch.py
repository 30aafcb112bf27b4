"""Whatever came of all calls since the stage last looked, analyzed in one pass of each model."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence

from nlp.inference.analyzer import Analyzer
from nlp.inference.types import SentenceAnalysis, SentenceContext
from nlp.output import DeadRecord, StageOutput
from nlp.partition import PendingEvent
from nlp.sentences import Draft

AnalyzerOf = Callable[[PendingEvent], Analyzer]
"""The model that an event's call has."""


class TranscriptBatch:
    def __init__(self, pending: Sequence[PendingEvent]) -> None:
        self._pending = pending
        self._drafts: list[list[Draft]] | None = None

    def analyze(self, analyzer_of: AnalyzerOf) -> StageOutput:
        """The sentences of all calls at once; then each call hears, in its own order, what they mean. If it raises
        Unavailable, nothing has happened, and it can be asked again."""
        if self._drafts is None:
            self._drafts = [one.call.draft(one.event) for one in self._pending]
        found = self._ask(self._drafts, analyzer_of)
        now = time.time()
        output = StageOutput()
        for number, (one, drafts) in enumerate(zip(self._pending, self._drafts, strict=True)):
            analyses = found[number]
            sentences = [(draft, known) for draft, known in zip(drafts, analyses, strict=True) if known is not None]
            heard = one.call.hear(one.event, sentences)
            for sentence in heard.sentences:
                sentence.times["understood"] = now
            if one.silent:
                continue
            if len(sentences) < len(drafts):
                output.dead.append(DeadRecord(one.record, "a sentence of it cannot be understood"))
            output.add(heard)
        return output

    def _ask(self, drafts: list[list[Draft]], analyzer_of: AnalyzerOf) -> list[list[SentenceAnalysis | None]]:
        """Of every event the analyses of its sentences, each by the model of its call."""
        by_model: dict[Analyzer, list[int]] = defaultdict(list)
        for number, one in enumerate(self._pending):
            if drafts[number]:
                analyzer = analyzer_of(one)
                one.call.consider_tasks(analyzer.tasks)
                by_model[analyzer].append(number)
        found: list[list[SentenceAnalysis | None]] = [[] for _ in drafts]
        for analyzer, numbers in by_model.items():
            every = [draft for number in numbers for draft in drafts[number]]
            known = [SentenceContext(draft.role, draft.before) for draft in every]
            answers = iter(analyzer.analyze([draft.text for draft in every], known))
            for number in numbers:
                found[number] = [next(answers) for _ in drafts[number]]
        return found
