"""The analysis of one call: its sentences, its metrics, its task, and the rules that watch it.

Everything here follows from the call's transcripts in their order and from nothing else, no clock included: a successor
that reads them again comes to the same sentences, metrics and alerts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec

from nlp.conversation.metrics import SentenceStats, conversation_metrics
from nlp.conversation.summary import summarize
from nlp.conversation.task import TaskEvidence
from nlp.conversation.turns import Turns
from nlp.inference.types import OTHER, SentenceAnalysis
from nlp.output import StageOutput
from nlp.rules import RuleEngine
from nlp.scorecard.form import ScoreForm
from nlp.sentences import Draft, SentenceBuilder
from tenor.events import Alert, Call, CallMetrics, CallSummary, Heard, Sentence, State, Transcript
from tenor.model_store.pool import Choice

METRICS_MS = 2000
"""Metrics are published when the call has come this much further,"""
WRITTEN_SHARE = 10
"""or, of a written one, when it has become a tenth longer: a book is not summed up anew for every line."""


@dataclass(slots=True)
class CallEnd:
    state: State
    transcripts: int
    """Offset after its last transcript."""
    audio_stopped: bool = False
    """Nobody ended it: it goes on if more audio comes."""


class CallAnalysis:
    def __init__(
        self,
        call: str,
        info: Call | None,
        tasks: frozenset[str],
        rules: RuleEngine,
        form: ScoreForm | None = None,
        *,
        began: float = 0.0,
    ) -> None:
        self.id = call
        self.info = info
        self.began = began
        """When it began, for the choice of its model,"""
        self.model: Choice | None = None
        """which it keeps; None: nothing of it was analyzed yet."""
        self.end: CallEnd | None = None
        self.first_transcript: int | None = None
        """Offset of the oldest one; None when there was none yet."""
        self.first_state = 0
        """Offset on the calls topic from which a successor finds out that it is live."""
        self.touched = 0.0
        """When its newest record was published."""
        self._written = info is not None and info.medium != "voice"
        self._speakers = info.speakers if info is not None else ()
        self._names: dict[int, str] = {}
        """Of the voices that share a channel,"""
        self._said: dict[str, Draft] = {}
        """and their sentences."""
        self._rules = rules
        self._form = form or ScoreForm()
        self._builders: dict[int, SentenceBuilder] = {}
        self._utterances: set[str] = set()
        self._newest: str | None = None
        """The sentence said last, whoever said it."""
        self._turns = Turns(len(info.roles) if info is not None else 0, shared=bool(self._speakers))
        self._sentences: dict[str, SentenceStats] = {}
        self._intents: dict[str, tuple[str, Mapping[str, float]]] = {}
        """Of every sentence: who said it, and its intents' probabilities."""
        self._task = TaskEvidence(tasks)
        self._understood: dict[str, Sentence] = {}
        """Every sentence as it was published last,"""
        self._alerts: list[Alert] = []
        """and all alerts: what the summary is made of,"""
        self._summary: CallSummary | None = None
        """which was this when it was last published."""
        self._metrics_ms = 0
        self._metrics_sentences = 0
        """How far the call was, and how many sentences it had, when its metrics were last published."""

    @property
    def failed(self) -> bool:
        return self.end is not None and self.end.state == "failed"

    def draft(self, event: Transcript | Heard) -> list[Draft]:
        """The sentences of the next transcript. A transcript that comes again has none; one that gives the voices of a
        channel other names has all that were said so far."""
        if isinstance(event, Heard) or not event.final or event.utterance in self._utterances:
            return []
        self._utterances.add(event.utterance)
        renamed = self._rename(event) if self._speakers else []
        builder = self._builders.setdefault(event.channel, SentenceBuilder(written=self._written))
        drafts = builder.add(event, self._newest)
        if drafts:
            self._newest = drafts[-1].text
        if self._speakers:
            self._said |= {draft.id: draft for draft in drafts}
        return [*renamed, *drafts]

    def _rename(self, event: Transcript) -> list[Draft]:
        """The sentences so far, by those who said them after all."""
        names = {event.channel: event.role}
        names |= {1 - event.channel: next((name for name in self._speakers if name != event.role), event.role)}
        known, self._names = self._names, names
        if known in ({}, names):
            return []
        self._turns.rename(names)
        for draft in self._said.values():
            self._said[draft.id] = renamed = replace(
                draft, role=names.get(draft.channel, draft.role), revision=draft.revision + 1
            )
            self._builders[draft.channel].rename(renamed)
        return list(self._said.values())

    def consider_tasks(self, tasks: frozenset[str]) -> None:
        """What the call can be about, as the model says that analyzes it."""
        self._task.consider(tasks)

    def hear(
        self,
        event: Transcript | Heard,
        sentences: Sequence[tuple[Draft, SentenceAnalysis]],
    ) -> StageOutput:
        """What follows from `event`, now that its sentences are analyzed."""
        output = StageOutput()
        if isinstance(event, Transcript):
            output.sentences += [self._sentence(event, draft, analysis) for draft, analysis in sentences]
        if isinstance(event, Heard) or sentences:
            self._turns.hear(event)
        for sentence in output.sentences:
            self._understood[sentence.sentence] = sentence
            output.on_calls += self._rules.sentence(sentence)
        if not self._written:
            output.on_calls += self._rules.silence(self._turns.settled_ms)
        self._alerts += output.alerts
        if self._metrics_are_due():
            output.on_calls += self._measure(final=False)
        return output

    def finish(self) -> StageOutput:
        """The last metrics: the call is over and all its transcripts are heard."""
        output = StageOutput()
        if not self._written:
            output.on_calls += self._rules.silence(self._turns.position_ms)
            self._alerts += output.alerts
        output.on_calls += self._measure(final=True)
        return output

    def _metrics_are_due(self) -> bool:
        if self._written:
            return len(self._sentences) - self._metrics_sentences > self._metrics_sentences // WRITTEN_SHARE
        return self._turns.position_ms - self._metrics_ms >= METRICS_MS

    def _measure(self, *, final: bool) -> list[Alert | CallMetrics]:
        """The metrics as they are now, after the alerts that they give rise to."""
        self._metrics_ms, self._metrics_sentences = self._turns.position_ms, len(self._sentences)
        task, score = self._task.best()
        metrics = CallMetrics(
            call=self.id,
            at_ms=self._metrics_ms,
            values=conversation_metrics(self._turns, self._sentences.values(), written=self._written, over=final),
            task=task,
            task_score=round(score, 4),
            final=final,
        )
        alerts = self._rules.metrics(metrics)
        self._alerts += alerts
        if final:  # rules that fire only now count, too
            filled = self._form.fill(self._rules.history, self.info)
            metrics = msgspec.structs.replace(metrics, scorecard=filled)
        summary = summarize(self._understood.values(), task, self._task.tasks, self._alerts, over=final)
        if final or summary != self._summary:
            self._summary = summary
            metrics = msgspec.structs.replace(metrics, summary=summary)
        return [*alerts, metrics]

    def _sentence(self, event: Transcript, draft: Draft, analysis: SentenceAnalysis) -> Sentence:
        """The sentence as it is published, which from now on counts in the metrics and the task."""
        mood = round(analysis.mood, 4)
        known_mood = None if analysis.language == OTHER else mood
        self._sentences[draft.id] = SentenceStats(draft.role, draft.start_ms, len(draft.text.split()), known_mood)
        if (before := self._intents.get(draft.id)) is not None:
            self._task.add(*before, times=-1)
        self._intents[draft.id] = (draft.role, analysis.intent_scores)
        self._task.add(draft.role, analysis.intent_scores)
        return Sentence(
            call=self.id,
            channel=draft.channel,
            role=draft.role,
            sentence=draft.id,
            revision=draft.revision,
            start_ms=draft.start_ms,
            end_ms=draft.end_ms,
            text=draft.text,
            sentiment=analysis.sentiment,
            sentiment_scores={label: round(score, 4) for label, score in analysis.sentiment_scores.items()},
            mood=mood,
            intent=analysis.intent,
            intent_score=round(analysis.intent_score, 4),
            slots=analysis.slots,
            labels=dict(analysis.labels),
            language=analysis.language,
            models={**analysis.models, **({"speech": event.model} if event.model else {})},
            times=dict(draft.times),
            novelty=None if analysis.novelty is None else round(analysis.novelty, 2),
            confidence=None if draft.confidence is None else round(draft.confidence, 3),
        )
