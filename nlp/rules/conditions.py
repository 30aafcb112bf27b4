"""What a rule waits for. A condition looks at the history of a call and answers with its evidence, or with None.

Conditions never look at a clock: the same history always gives the same answer.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Protocol

from nlp.rules import metric_names
from nlp.rules.expression import Expression
from nlp.rules.history import CallHistory, PastSentence, SentenceMatch, SentenceMatcher, start_of
from tenor.events import Sentence
from tenor.phrases import Phrase
from tenor.search.calls import CallSearch, SaidSentence
from tenor.taxonomy import aspects

MANY = 1000
"""Sentences in a row that are counted."""
UTTERANCE_MS = 25_000
"""A sentence that began by now is known after this: an utterance is cut at 20 s, and recognised soon after."""


@dataclass(frozen=True, slots=True)
class Evidence:
    at_ms: int
    """The position of what made the condition hold, last of all; of a sentence, where it begins, so that it stays
    the same when the sentence is revised."""
    sentence: str = ""
    values: dict[str, str] = field(default_factory=dict)
    """For the braces in what the rule says."""


class Condition(Protocol):
    def holds(self, history: CallHistory) -> Evidence | None: ...

    @property
    def values(self) -> frozenset[str]:
        """Names that its evidence always has values for."""
        ...

    @property
    def happens(self) -> bool:
        """Whether it needs something to happen; without, a rule would fire as a call begins."""
        ...

    @property
    def parts(self) -> Sequence[Condition]: ...


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """The part of a call that a condition is about."""

    first_ms: int = 0
    last_ms: int | None = None

    def __contains__(self, at_ms: int) -> bool:
        return at_ms >= self.first_ms and (self.last_ms is None or at_ms <= self.last_ms)


class LeafCondition:
    """A condition without parts."""

    happens = True
    parts: Sequence[Condition] = ()


@dataclass(frozen=True, eq=False)
class SentenceCondition(LeafCondition):
    """Sentences of a kind have been said: one, or several, or several in a row."""

    who: str = ""
    """Empty: anyone."""
    phrases: tuple[Phrase, ...] = ()
    expressions: tuple[Expression, ...] = ()
    intents: frozenset[str] = frozenset()
    sentiments: frozenset[str] = frozenset()
    labels: tuple[tuple[str, frozenset[str]], ...] = ()
    sure: float = 0.0
    """Least score of the intent, or of the sentiments together."""
    in_a_row: int = 1
    times: int = 1
    within_ms: int | None = None
    span: TimeSpan = TimeSpan()

    @property
    def values(self) -> frozenset[str]:
        about_words = {"phrase"} if self.phrases and not self.expressions else set()
        return frozenset({"who", "count", "intent", "sentiment"} | about_words)

    def match(self, sentence: PastSentence) -> SentenceMatch | None:
        event = sentence.event
        if (
            (self.who and event.role != self.who)
            or sentence.start_ms not in self.span
            or (self.intents and (event.intent not in self.intents or event.intent_score < self.sure))
            or (
                self.sentiments
                and (event.sentiment not in self.sentiments or _sureness(event, self.sentiments) < self.sure)
            )
            or not all(_answered(name, event.labels.get(name), wanted) for name, wanted in self.labels)
        ):
            return None
        if not self.phrases and not self.expressions:
            return SentenceMatch(sentence)
        for phrase in self.phrases:
            if phrase.found_in(sentence.words):
                return SentenceMatch(sentence, phrase.text)
        return (
            SentenceMatch(sentence) if any(expression.found_in(event.text) for expression in self.expressions) else None
        )

    def holds(self, history: CallHistory) -> Evidence | None:
        hits = history.hits(self)
        if not hits:
            return None
        last = hits[-1]
        if self.within_ms is not None:
            if history.now_ms - last.sentence.event.end_ms > self.within_ms:
                return None
            hits = hits[bisect_left(hits, last.sentence.start_ms - self.within_ms, key=start_of) :]
        count = self._run(history, hits) if self.in_a_row > 1 else len(hits)
        if count < max(self.in_a_row, self.times):
            return None
        event = last.sentence.event
        values = {
            "who": event.role,
            "count": str(count),
            "intent": event.intent.replace("_", " "),
            "sentiment": event.sentiment,
            "phrase": last.phrase,
        }
        return Evidence(last.sentence.start_ms, last.sentence.id, values)

    def _run(self, history: CallHistory, hits: Sequence[SentenceMatch]) -> int:
        """How many of the side's last sentences are hits, without one between that is not."""
        last = zip(reversed(history.sentences_of(self.who)), reversed(hits), range(MANY), strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1].sentence, last))


@dataclass(frozen=True, eq=False)
class NotSaidCondition(LeafCondition):
    """Something that must be said has not been said in time: by a position, or in a side's first sentences."""

    who: str
    phrases: tuple[Phrase, ...]
    by_ms: int | None = None
    by_sentences: int | None = None

    values = frozenset({"who", "phrase"})

    def match(self, sentence: PastSentence) -> SentenceMatch | None:
        if self.who and sentence.event.role != self.who:
            return None
        return next(
            (SentenceMatch(sentence, phrase.text) for phrase in self.phrases if phrase.found_in(sentence.words)), None
        )

    def holds(self, history: CallHistory) -> Evidence | None:
        own = history.sentences_of(self.who)
        values = {"who": self.who or "anyone", "phrase": self.phrases[0].text}
        hits = history.hits(self)
        if self.by_sentences is not None:
            # The last of them may still be revised, until another follows or the call is over.
            enough = len(own) > self.by_sentences or (history.ended_ms is not None and len(own) == self.by_sentences)
            if not enough or (hits and hits[0].sentence <= own[self.by_sentences - 1]):
                return None
            last = own[self.by_sentences - 1]
            return Evidence(last.start_ms, last.id, values)
        assert self.by_ms is not None
        if history.written or (hits and hits[0].sentence.start_ms <= self.by_ms):
            return None
        late = (
            (own and own[-1].start_ms > self.by_ms)
            or history.now_ms >= self.by_ms + UTTERANCE_MS
            or (history.ended_ms is not None and history.ended_ms >= self.by_ms)
        )
        return Evidence(self.by_ms, "", values) if late else None


@dataclass(frozen=True, eq=False)
class SearchedSentence:
    """One sentence of a search for calls."""

    wanted: SaidSentence

    def match(self, sentence: PastSentence) -> SentenceMatch | None:
        said = sentence.event
        told = {name: _field(said, name) for name, _ in self.wanted.fields}
        return SentenceMatch(sentence) if self.wanted.matches(said.text, **told) else None


@dataclass(frozen=True, eq=False)
class SearchCondition(LeafCondition):
    """The call is one that a search for calls finds. What must not be said is known when the call is over."""

    search: CallSearch
    sentences: tuple[SearchedSentence, ...]

    @property
    def values(self) -> frozenset[str]:
        return frozenset({"who", "intent", "sentiment"} if self.search.wanted else ())

    @property
    def at_the_end(self) -> bool:
        return bool(self.search.unwanted)

    def holds(self, history: CallHistory) -> Evidence | None:
        own = history.sentences_of("")
        if not own or (self.at_the_end and history.ended_ms is None):
            return None
        hits = [history.hits(sentence) for sentence in self.sentences]
        if not all(hits[number] for number in self.search.wanted):
            return None
        places = [[(hit.sentence.start_ms, hit.sentence.id) for hit in some] for some in hits]
        found = self.search.find(places, last=True)
        if found is None:
            return None
        if not found:  # nothing had to be said
            return Evidence(own[-1].start_ms)
        at_ms, sentence = max(found.values())
        event = next(one.event for one in reversed(own) if one.id == sentence)
        values = {"who": event.role, "intent": event.intent.replace("_", " "), "sentiment": event.sentiment}
        return Evidence(at_ms, sentence, values)


@dataclass(frozen=True, eq=False)
class SilenceCondition(LeafCondition):
    """Nobody has said anything for a while."""

    length_ms: int
    span: TimeSpan = TimeSpan()

    values = frozenset({"seconds"})

    def holds(self, history: CallHistory) -> Evidence | None:
        at_ms = history.silent_since_ms + self.length_ms
        if history.written or history.heard_ms < at_ms or at_ms not in self.span:
            return None
        return Evidence(at_ms, "", {"seconds": f"{self.length_ms / 1000:g}"})


@dataclass(frozen=True, eq=False)
class MetricCondition(LeafCondition):
    """One of the call's metrics is above or below a limit."""

    name: str
    above: float | None = None
    below: float | None = None
    span: TimeSpan = TimeSpan()

    values = frozenset({"value", "limit", "figure"})

    def holds(self, history: CallHistory) -> Evidence | None:
        metrics = history.metrics
        if metrics is None or self.name not in metrics.values or metrics.at_ms not in self.span:
            return None
        value = metrics.values[self.name]
        if (self.above is not None and value <= self.above) or (self.below is not None and value >= self.below):
            return None
        limit = self.above if self.above is not None else self.below
        assert limit is not None
        texts = {"value": metric_names.display(self.name, value), "limit": metric_names.display(self.name, limit)}
        return Evidence(metrics.at_ms, "", {**texts, "figure": self.name})


@dataclass(frozen=True, eq=False)
class TaskCondition(LeafCondition):
    """What the whole call is about."""

    tasks: frozenset[str]
    sure: float = 0.0

    values = frozenset({"task"})

    def holds(self, history: CallHistory) -> Evidence | None:
        metrics = history.metrics
        if metrics is None or metrics.task not in self.tasks or metrics.task_score < self.sure:
            return None
        return Evidence(metrics.at_ms, "", {"task": metrics.task.replace("_", " ")})


@dataclass(frozen=True, eq=False)
class RuleCondition(LeafCondition):
    """One of these rules fired on the call: for what looks at it afterwards, as a scorecard does."""

    rules: frozenset[str]
    values: frozenset[str] = frozenset()

    def holds(self, history: CallHistory) -> Evidence | None:
        fired = [history.fired[name] for name in self.rules if name in history.fired]
        return min(fired, key=lambda evidence: evidence.at_ms, default=None)


@dataclass(frozen=True, eq=False)
class AllOf:
    """Every one of them holds."""

    parts: tuple[Condition, ...]

    @property
    def values(self) -> frozenset[str]:
        return frozenset().union(*(part.values for part in self.parts))

    @property
    def happens(self) -> bool:
        return any(part.happens for part in self.parts)

    def holds(self, history: CallHistory) -> Evidence | None:
        found = []
        for part in self.parts:
            if (evidence := part.holds(history)) is None:
                return None
            found.append(evidence)
        return combine(found)


@dataclass(frozen=True, eq=False)
class AnyOf:
    """At least one of them holds."""

    parts: tuple[Condition, ...]

    @property
    def values(self) -> frozenset[str]:
        return frozenset.intersection(*(part.values for part in self.parts))

    @property
    def happens(self) -> bool:
        return all(part.happens for part in self.parts)

    def holds(self, history: CallHistory) -> Evidence | None:
        found = [evidence for part in self.parts if (evidence := part.holds(history)) is not None]
        return combine(found) if found else None


@dataclass(frozen=True, eq=False)
class Not:
    """It does not hold."""

    part: Condition
    values: frozenset[str] = frozenset()
    happens = False

    @property
    def parts(self) -> Sequence[Condition]:
        return (self.part,)

    def holds(self, history: CallHistory) -> Evidence | None:
        return Evidence(0) if self.part.holds(history) is None else None


def _field(event: Sentence, name: str) -> str:
    """What a search asks of a sentence."""
    return event.labels.get(name, "") if name == aspects.CLASSIFIER else str(getattr(event, name))


def _answered(classifier: str, answer: str | None, wanted: frozenset[str]) -> bool:
    """Whether a further classifier says one of these; of aspects, a sentence may have more than are asked for."""
    if classifier == aspects.CLASSIFIER:
        return any(aspects.named(one) <= aspects.named(answer or "") for one in wanted)
    return answer in wanted


def _sureness(event: Sentence, sentiments: Iterable[str]) -> float:
    """How likely one of the sentiments is; certain where no scores were given."""
    scores = event.sentiment_scores
    return sum(scores.get(name, 0.0) for name in sentiments) if scores else 1.0


def leaves(condition: Condition) -> Iterator[Condition]:
    """The conditions without parts that it is made of."""
    if not condition.parts:
        yield condition
    for part in condition.parts:
        yield from leaves(part)


def matchers_of(condition: Condition) -> Iterator[SentenceMatcher]:
    """What a history must look for, so that the condition finds it there."""
    for leaf in leaves(condition):
        if isinstance(leaf, SearchCondition):
            yield from leaf.sentences
        elif isinstance(leaf, SentenceCondition | NotSaidCondition):
            yield leaf


def combine(found: Sequence[Evidence]) -> Evidence:
    """The evidence of several: where the last of them is, with everybody's values, the first's before others'."""
    last = max(found, key=lambda evidence: (evidence.at_ms, evidence.sentence))
    values: dict[str, str] = {}
    for evidence in found:
        values = {**evidence.values, **values}
    return Evidence(last.at_ms, last.sentence, values)
