"""A call being understood: its sentences, its figures, its task, and the rules that watch it.

Everything here follows from the call's transcripts in their order and from nothing else, no clock included: a successor
that reads them again comes to the same sentences, figures and alerts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from nlp.metrics import Felt, figures
from nlp.sentences import Draft, SentenceBuilder
from nlp.talk import Talk
from nlp.task import Evidence
from nlp.understood import OTHER, Understood
from tenor.events import Alert, Call, CallMetrics, Heard, Sentence, State, Transcript

METRICS_MS = 2000
"""Figures are told when the call has come this much further,"""
WRITTEN_SHARE = 10
"""or, of a written one, when it has become a tenth longer: a book is not summed up anew for every line."""


class Watcher(Protocol):
    """The rules, on one call."""

    def sentence(self, sentence: Sentence) -> list[Alert]: ...

    def metrics(self, metrics: CallMetrics) -> list[Alert]: ...

    def silence(self, now_ms: int) -> list[Alert]:
        """Everything before `now_ms` is known."""
        ...


@dataclass(frozen=True, slots=True)
class Told:
    """What an event of a call gave rise to."""

    sentences: tuple[Sentence, ...] = ()
    alerts: tuple[Alert, ...] = ()
    metrics: CallMetrics | None = None


@dataclass(slots=True)
class End:
    state: State
    transcripts: int
    """Offset after its last transcript."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """A draft with what was understood of it."""

    draft: Draft
    found: Understood
    labels: Mapping[str, str] = field(default_factory=dict)


class UnderstoodCall:
    def __init__(self, call: str, info: Call | None, tasks: frozenset[str], watcher: Watcher | None) -> None:
        self.id = call
        self.info = info
        self.end: End | None = None
        self.first_transcript: int | None = None
        """Offset of the oldest one; None when there was none yet."""
        self.first_state = 0
        """Offset on the calls topic from which a successor finds out that it is live."""
        self.touched = 0.0
        """When its newest record was published."""
        self._written = info is not None and info.medium != "voice"
        self._watcher = watcher
        self._builders: dict[int, SentenceBuilder] = {}
        self._utterances: set[str] = set()
        self._talk = Talk(len(info.roles) if info is not None else 0)
        self._felt: dict[str, Felt] = {}
        self._wanted: dict[str, tuple[str, Mapping[str, float]]] = {}
        self._evidence = Evidence(tasks)
        self._told_ms = 0
        self._told_sentences = 0

    @property
    def failed(self) -> bool:
        return self.end is not None and self.end.state == "failed"

    def draft(self, event: Transcript | Heard) -> list[Draft]:
        """The sentences of the next transcript. A transcript that comes again has none."""
        if isinstance(event, Heard) or not event.final or event.utterance in self._utterances:
            return []
        self._utterances.add(event.utterance)
        builder = self._builders.setdefault(event.channel, SentenceBuilder(written=self._written))
        return builder.add(event)

    def hear(self, event: Transcript | Heard, replies: Sequence[Reply], models: Mapping[str, str]) -> Told:
        """What `event` means, now that its sentences are understood."""
        sentences = tuple(self._sentence(event, reply, models) for reply in replies if isinstance(event, Transcript))
        if isinstance(event, Heard) or replies:
            self._talk.hear(event)
        alerts: list[Alert] = []
        if self._watcher is not None:
            for sentence in sentences:
                alerts += self._watcher.sentence(sentence)
            if not self._written:
                alerts += self._watcher.silence(self._talk.settled_ms)
        return self._told(sentences, alerts, final=False) if self._due() else Told(sentences, tuple(alerts))

    def finish(self) -> Told:
        """The last figures: the call is over and all its transcripts are heard."""
        alerts: list[Alert] = []
        if self._watcher is not None and not self._written:
            alerts += self._watcher.silence(self._talk.position_ms)
        return self._told((), alerts, final=True)

    def _due(self) -> bool:
        if self._written:
            return len(self._felt) - self._told_sentences > self._told_sentences // WRITTEN_SHARE
        return self._talk.position_ms - self._told_ms >= METRICS_MS

    def _told(self, sentences: tuple[Sentence, ...], alerts: list[Alert], *, final: bool) -> Told:
        self._told_ms, self._told_sentences = self._talk.position_ms, len(self._felt)
        task, score = self._evidence.best()
        metrics = CallMetrics(
            call=self.id,
            at_ms=self._told_ms,
            values=figures(self._talk, self._felt.values(), written=self._written, over=final),
            task=task,
            task_score=round(score, 4),
            final=final,
        )
        if self._watcher is not None:
            alerts += self._watcher.metrics(metrics)
        return Told(sentences, tuple(alerts), metrics)

    def _sentence(self, event: Transcript, reply: Reply, models: Mapping[str, str]) -> Sentence:
        draft, found = reply.draft, reply.found
        mood = round(found.mood, 4)
        told = None if found.language == OTHER else mood
        self._felt[draft.id] = Felt(event.role, draft.start_ms, len(draft.text.split()), told)
        if (before := self._wanted.get(draft.id)) is not None:
            self._evidence.add(*before, times=-1)
        self._wanted[draft.id] = (event.role, found.intent_scores)
        self._evidence.add(event.role, found.intent_scores)
        return Sentence(
            call=self.id,
            channel=event.channel,
            role=event.role,
            sentence=draft.id,
            revision=draft.revision,
            start_ms=draft.start_ms,
            end_ms=draft.end_ms,
            text=draft.text,
            sentiment=found.sentiment,
            sentiment_scores={label: round(score, 4) for label, score in found.sentiment_scores.items()},
            mood=mood,
            intent=found.intent,
            intent_score=round(found.intent_score, 4),
            slots=found.slots,
            labels=dict(reply.labels),
            language=found.language,
            models=dict(models),
            times=dict(draft.times),
        )
