"""Whatever came of all calls since the stage last looked, analyzed in one pass."""

from __future__ import annotations

import time
from collections.abc import Sequence

from nlp.inference.analyzer import Analyzer
from nlp.inference.types import SentenceContext
from nlp.output import DeadRecord, StageOutput
from nlp.partition import PendingEvent
from nlp.sentences import Draft


class TranscriptBatch:
    def __init__(self, pending: Sequence[PendingEvent]) -> None:
        self._pending = pending
        self._drafts: list[list[Draft]] | None = None

    def analyze(self, analyzer: Analyzer) -> StageOutput:
        """The sentences of all calls at once; then each call hears, in its own order, what they mean. If it raises
        Unavailable, nothing has happened, and it can be asked again."""
        if self._drafts is None:
            self._drafts = [one.call.draft(one.event) for one in self._pending]
        every = [draft for drafts in self._drafts for draft in drafts]
        known = [SentenceContext(draft.role, draft.before) for draft in every]
        analyses = iter(analyzer.analyze([draft.text for draft in every], known))
        now, versions = time.time(), analyzer.versions
        output = StageOutput()
        for one, drafts in zip(self._pending, self._drafts, strict=True):
            sentences = [(draft, analysis) for draft in drafts if (analysis := next(analyses)) is not None]
            heard = one.call.hear(one.event, sentences, versions)
            for sentence in heard.sentences:
                sentence.times["understood"] = now
            if one.silent:
                continue
            if len(sentences) < len(drafts):
                output.dead.append(DeadRecord(one.record, "a sentence of it cannot be understood"))
            output.add(heard)
        return output
