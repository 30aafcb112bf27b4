"""Rules over calls that are over, as they would have been watched live.

Sentences come in the order in which they were published. The metrics are worked out from them again, where a rule asks
for any; a stored sentence has no word times, so they are a little coarser than live.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from itertools import accumulate

from nlp.conversation.metrics import SentenceStats, conversation_metrics
from nlp.conversation.task import TaskEvidence
from nlp.conversation.turns import Turns
from nlp.inference.types import OTHER
from nlp.rules.conditions import Condition, MetricCondition, TaskCondition, leaves, matchers_of
from nlp.rules.history import CallHistory
from nlp.rules.rule import RuleSet
from tenor.events import Alert, Call, CallMetrics, Heard, Sentence, Transcript


def replay(
    rules: RuleSet, call_id: str, call: Call, sentences: Iterable[Sentence], end_ms: int, tasks: Set[str] = frozenset()
) -> list[Alert]:
    """The alerts of a whole call. `tasks` are the intents that a call can be about."""
    return watch_again(rules, call_id, call, sentences, end_ms, tasks)[0]


def watch_again(
    rules: RuleSet,
    call_id: str,
    call: Call,
    sentences: Iterable[Sentence],
    end_ms: int,
    tasks: Set[str] = frozenset(),
    further: Sequence[Condition] = (),
) -> tuple[list[Alert], CallHistory]:
    """The same, with the history of the call at its end, in which `further` conditions can be looked for."""
    conditions = [*(rule.when for rule in rules), *further]
    engine = rules.engine_for(call, call_id, [matcher for one in further for matcher in matchers_of(one)])
    in_order = sorted(sentences, key=_published)
    end_ms = max([end_ms, *(sentence.end_ms for sentence in in_order)])
    # Before the earliest of the sentences still to come, everything is known.
    known_ms = list(accumulate((one.start_ms for one in reversed(in_order)), min, initial=end_ms))[::-1][1:]
    metrics = _GrowingMetrics(call_id, call, tasks) if _asks_for_metrics(conditions) else None
    written = call.medium != "voice"
    alerts: list[Alert] = []
    for sentence, settled_ms in zip(in_order, known_ms, strict=True):
        alerts += engine.sentence(sentence)
        if not written:
            alerts += engine.silence(settled_ms)
        if metrics is not None:
            alerts += engine.metrics(metrics.after(sentence, settled_ms))
    if not written:
        alerts += engine.silence(end_ms)
    nothing = CallMetrics(call=call_id, at_ms=end_ms, values={}, final=True)
    alerts += engine.metrics(metrics.last(end_ms) if metrics is not None else nothing)
    return alerts, engine.history


def _published(sentence: Sentence) -> tuple[float, int, str]:
    """A sentence is published when its utterance has ended; text and older rows have no times."""
    return sentence.times.get("sentence_published", 0.0), sentence.end_ms, sentence.sentence


def _asks_for_metrics(conditions: Iterable[Condition]) -> bool:
    return any(isinstance(leaf, MetricCondition | TaskCondition) for one in conditions for leaf in leaves(one))


class _GrowingMetrics:
    """The metrics of a call as it grows."""

    def __init__(self, call_id: str, call: Call, tasks: Set[str]) -> None:
        self._call_id = call_id
        self._written = call.medium != "voice"
        self._turns = Turns(len(call.roles))
        self._channels = range(len(call.roles))
        self._sentences: list[SentenceStats] = []
        self._task = TaskEvidence(tasks)

    def after(self, sentence: Sentence, settled_ms: int) -> CallMetrics:
        final = Transcript(
            call=sentence.call,
            channel=sentence.channel,
            role=sentence.role,
            utterance=sentence.sentence,
            start_ms=sentence.start_ms,
            end_ms=sentence.end_ms,
            text=sentence.text,
            final=True,
        )
        self._turns.hear(final)
        mood = None if sentence.language == OTHER else sentence.mood
        self._sentences.append(SentenceStats(sentence.role, sentence.start_ms, len(sentence.text.split()), mood))
        self._task.add(sentence.role, {sentence.intent: sentence.intent_score})
        return self._now(settled_ms, final=False)

    def last(self, end_ms: int) -> CallMetrics:
        return self._now(end_ms, final=True)

    def _now(self, settled_ms: int, *, final: bool) -> CallMetrics:
        for channel in self._channels:
            self._turns.hear(Heard(call=self._call_id, channel=channel, heard_ms=settled_ms))
        task, score = self._task.best()
        return CallMetrics(
            call=self._call_id,
            at_ms=self._turns.position_ms,
            values=conversation_metrics(self._turns, self._sentences, written=self._written, over=final),
            task=task,
            task_score=round(score, 4),
            final=final,
        )


@dataclass(slots=True)
class AlertDifference:
    """What other rules would have made of a call, beside what was raised."""

    same: list[Alert] = field(default_factory=list)
    new: list[Alert] = field(default_factory=list)
    gone: list[Alert] = field(default_factory=list)


def compare(before: Sequence[Alert], now: Sequence[Alert]) -> AlertDifference:
    """Alerts are the same by their id, or else by their number among those of their rule: a metric that was
    worked out again passes its limit a moment earlier or later."""
    ids = {alert.alert for alert in before} & {alert.alert for alert in now}
    left = Counter(alert.rule for alert in before if alert.alert not in ids)
    matched = Counter[str]()
    result = AlertDifference()
    for alert in now:
        if alert.alert in ids:
            result.same.append(alert)
        elif matched[alert.rule] < left[alert.rule]:
            matched[alert.rule] += 1
            result.same.append(alert)
        else:
            result.new.append(alert)
    for alert in before:
        if alert.alert not in ids:
            if matched[alert.rule]:
                matched[alert.rule] -= 1
            else:
                result.gone.append(alert)
    return result
