"""Whatever came of all calls since the stage last looked, understood in one pass."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from nlp.call import Told
from nlp.desk import Dead, Step
from nlp.panel import Panel
from nlp.sentences import Draft
from tenor.events import Alert, CallMetrics, CallState, Sentence


@dataclass
class Outcome:
    """What is to be published."""

    sentences: list[Sentence] = field(default_factory=list)
    on_calls: list[Alert | CallMetrics | CallState] = field(default_factory=list)
    dead: list[Dead] = field(default_factory=list)

    def add(self, told: Told) -> None:
        self.sentences += told.sentences
        self.on_calls += told.alerts
        if told.metrics is not None:
            self.on_calls.append(told.metrics)


class Batch:
    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        self._drafts: list[list[Draft]] | None = None

    def understand(self, panel: Panel) -> Outcome:
        """The sentences of all calls at once; then each call hears, in its own order, what they mean. If it raises
        Unavailable, nothing has happened, and it can be asked again."""
        if self._drafts is None:
            self._drafts = [step.call.draft(step.event) for step in self._steps]
        replies = iter(panel.ask([draft for drafts in self._drafts for draft in drafts]))
        understood, versions = time.time(), panel.versions
        outcome = Outcome()
        for step, drafts in zip(self._steps, self._drafts, strict=True):
            answers = [next(replies) for _ in drafts]
            known = [reply for reply in answers if reply is not None]
            if len(known) < len(answers) and not step.silent:
                outcome.dead.append(Dead(step.record, "a sentence of it cannot be understood"))
            told = step.call.hear(step.event, known, versions)
            for sentence in told.sentences:
                sentence.times["understood"] = understood
            if not step.silent:
                outcome.add(told)
        return outcome
