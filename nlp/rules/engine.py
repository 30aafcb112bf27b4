"""The rules on one call: what happens in it goes in, alerts come out.

The same events in the same order give the same alerts, with the same ids: there is no clock here, and nothing is
asked of anybody. A rule fires when its condition comes to hold; one that may fire again needs new evidence, its
pause after the last.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from nlp.rules.conditions import Evidence, SilenceCondition, leaves, matchers_of
from nlp.rules.history import CallHistory, SentenceMatcher
from tenor.events import Alert, Call, CallMetrics, Sentence

if TYPE_CHECKING:
    from nlp.rules.rule import Rule


class RuleEngine:
    def __init__(
        self, rules: Sequence[Rule], call: Call | None, call_id: str, further: Iterable[SentenceMatcher] = ()
    ) -> None:
        """`further` are looked for in the history by others, who ask when the call is over."""
        self._call, self._call_id = call, call_id
        wanted = [matcher for rule in rules for matcher in matchers_of(rule.when)]
        self.history = CallHistory([*wanted, *further])
        self._silences = {
            leaf.length_ms for rule in rules for leaf in leaves(rule.when) if isinstance(leaf, SilenceCondition)
        }
        self._fired: dict[str, int] = {}
        self.history.written = call is not None and call.medium != "voice"
        self._watching = [rule for rule in rules if call in rule.only_for]

    def sentence(self, sentence: Sentence) -> list[Alert]:
        """A sentence, or a revision, which takes the place of what was there."""
        return self._look() if self.history.add(sentence) else []

    def metrics(self, metrics: CallMetrics) -> list[Alert]:
        self.history.metrics = metrics
        self.history.now_ms = max(self.history.now_ms, metrics.at_ms)
        if metrics.final:  # what has not been said by now will not be
            self.history.ended_ms = self.history.now_ms
        return self._look()

    def silence(self, now_ms: int) -> list[Alert]:
        """Everything up to `now_ms` has been heard, on every side, and all that was said in it is known."""
        history = self.history
        alerts: list[Alert] = []
        # One look at each moment that a silence is long enough, so that it does not matter how often we are asked.
        for since_ms, until_ms in history.silences(now_ms):
            for length in self._silences:
                if history.heard_ms < since_ms + length <= until_ms:
                    with history.as_of(since_ms + length, since_ms):
                        alerts += self._look()
        history.heard_ms = max(history.heard_ms, now_ms)
        history.now_ms = max(history.now_ms, now_ms)
        return alerts + self._look()

    def _look(self) -> list[Alert]:
        return [
            self._alert(rule, evidence)
            for rule in self._watching
            if (rule.again_after_ms is not None or rule.name not in self._fired)
            and (evidence := rule.when.holds(self.history)) is not None
            and self._fires(rule, evidence)
        ]

    def _fires(self, rule: Rule, evidence: Evidence) -> bool:
        last = self._fired.get(rule.name)
        if last is not None and evidence.at_ms < last + (rule.again_after_ms or 0):
            return False
        self._fired[rule.name] = evidence.at_ms
        self.history.fired.setdefault(rule.name, evidence)
        return True

    def _alert(self, rule: Rule, evidence: Evidence) -> Alert:
        started_at = self._call.started_at if self._call else 0.0
        return Alert(
            call=self._call_id,
            alert=f"{self._call_id}/{rule.name}/{evidence.at_ms}",
            rule=rule.name,
            severity=rule.severity,
            text=rule.words(evidence),
            at_ms=evidence.at_ms,
            at=started_at + evidence.at_ms / 1000,
            escalation=rule.escalation,
            sentence=evidence.sentence,
        )
