"""Rules over calls that are over, as they would have been watched live.

Sentences come in the order in which they were published. The figures are worked out from them again, where a rule asks
for any; a stored sentence has no word times, so they are a little coarser than live.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from itertools import accumulate

from nlp.metrics import Felt, figures
from nlp.rules.conditions import Figure, Task, leaves
from nlp.rules.rule import RuleSet
from nlp.talk import Talk
from nlp.task import Evidence
from nlp.understood import OTHER
from tenor.events import Alert, Call, CallMetrics, Heard, Sentence, Transcript


def replay(
    rules: RuleSet, call_id: str, call: Call, sentences: Iterable[Sentence], end_ms: int, tasks: Set[str] = frozenset()
) -> list[Alert]:
    """The alerts of a whole call. `tasks` are the intents that a call can be about."""
    watcher = rules.watch(call, call_id)
    in_order = sorted(sentences, key=_published)
    end_ms = max([end_ms, *(sentence.end_ms for sentence in in_order)])
    # Before the earliest of the sentences still to come, everything is known.
    known_ms = list(accumulate((one.start_ms for one in reversed(in_order)), min, initial=end_ms))[::-1][1:]
    metrics = _Metrics(call_id, call, tasks) if _asks_for_figures(rules) else None
    written = call.medium != "voice"
    alerts: list[Alert] = []
    for sentence, settled_ms in zip(in_order, known_ms, strict=True):
        alerts += watcher.sentence(sentence)
        if not written:
            alerts += watcher.silence(settled_ms)
        if metrics is not None:
            alerts += watcher.metrics(metrics.after(sentence, settled_ms))
    if not written:
        alerts += watcher.silence(end_ms)
    nothing = CallMetrics(call=call_id, at_ms=end_ms, values={}, final=True)
    return alerts + watcher.metrics(metrics.last(end_ms) if metrics is not None else nothing)


def _published(sentence: Sentence) -> tuple[float, int, str]:
    """A sentence is published when its utterance has ended; text and older rows have no times."""
    return sentence.times.get("sentence_published", 0.0), sentence.end_ms, sentence.sentence


def _asks_for_figures(rules: RuleSet) -> bool:
    return any(isinstance(leaf, Figure | Task) for rule in rules for leaf in leaves(rule.when))


class _Metrics:
    """The figures of a call as it grows."""

    def __init__(self, call_id: str, call: Call, tasks: Set[str]) -> None:
        self._call_id = call_id
        self._written = call.medium != "voice"
        self._talk = Talk(len(call.roles))
        self._channels = range(len(call.roles))
        self._felt: list[Felt] = []
        self._evidence = Evidence(tasks)

    def after(self, sentence: Sentence, settled_ms: int) -> CallMetrics:
        said = Transcript(
            call=sentence.call,
            channel=sentence.channel,
            role=sentence.role,
            utterance=sentence.sentence,
            start_ms=sentence.start_ms,
            end_ms=sentence.end_ms,
            text=sentence.text,
            final=True,
        )
        self._talk.hear(said)
        mood = None if sentence.language == OTHER else sentence.mood
        self._felt.append(Felt(sentence.role, sentence.start_ms, len(sentence.text.split()), mood))
        self._evidence.add(sentence.role, {sentence.intent: sentence.intent_score})
        return self._told(settled_ms, final=False)

    def last(self, end_ms: int) -> CallMetrics:
        return self._told(end_ms, final=True)

    def _told(self, settled_ms: int, *, final: bool) -> CallMetrics:
        for channel in self._channels:
            self._talk.hear(Heard(call=self._call_id, channel=channel, heard_ms=settled_ms))
        task, score = self._evidence.best()
        return CallMetrics(
            call=self._call_id,
            at_ms=self._talk.position_ms,
            values=figures(self._talk, self._felt, written=self._written, over=final),
            task=task,
            task_score=round(score, 4),
            final=final,
        )


@dataclass(slots=True)
class Difference:
    """What other rules would have made of a call, beside what was raised."""

    same: list[Alert] = field(default_factory=list)
    new: list[Alert] = field(default_factory=list)
    gone: list[Alert] = field(default_factory=list)


def compare(before: Sequence[Alert], now: Sequence[Alert]) -> Difference:
    """Alerts are the same by their id, or else by their number among those of their rule: a figure that was
    worked out again passes its limit a moment earlier or later."""
    ids = {alert.alert for alert in before} & {alert.alert for alert in now}
    left = Counter(alert.rule for alert in before if alert.alert not in ids)
    matched = Counter[str]()
    result = Difference()
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
