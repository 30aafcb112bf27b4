"""The history of a call as far as it has come: what conditions look at."""

from __future__ import annotations

from bisect import bisect_left as bisect
from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from tenor.events import CallMetrics, Sentence
from tenor.phrases import words

if TYPE_CHECKING:
    from nlp.rules.conditions import Evidence


@dataclass(frozen=True, slots=True, order=True)
class PastSentence:
    """One sentence, in the order of the call."""

    start_ms: int
    id: str
    event: Sentence = field(compare=False)
    words: list[str] = field(compare=False)


@dataclass(frozen=True, slots=True, order=True)
class SentenceMatch:
    """A sentence that a condition looks for."""

    sentence: PastSentence
    phrase: str = ""
    """As the rule has it; empty where the condition is not about words."""


class SentenceMatcher(Protocol):
    """Says whether a sentence is one it looks for."""

    def match(self, sentence: PastSentence) -> SentenceMatch | None: ...


class CallHistory:
    """Sentences in the order of the call, each in its newest revision, and what is known of time and metrics."""

    def __init__(self, matchers: Iterable[SentenceMatcher]) -> None:
        self.now_ms = 0
        """The latest position known of."""
        self.heard_ms = 0
        """Before this nothing was said but the sentences known."""
        self.silent_since_ms = 0
        """Where the last sentence ended."""
        self.ended_ms: int | None = None
        self.written = False
        """A chat or an e-mail, where time passes between sentences without being a silence."""
        self.metrics: CallMetrics | None = None
        self.fired: dict[str, Evidence] = {}
        """Of each rule that fired, what it fired for first."""
        self._until_ms: int | None = None
        self._sentences: dict[str, PastSentence] = {}
        self._sides: dict[str, list[PastSentence]] = {}
        self._hits: dict[SentenceMatcher, list[SentenceMatch]] = {matcher: [] for matcher in matchers}

    def add(self, sentence: Sentence) -> bool:
        """False when this revision, or a later one, is here already."""
        before = self._sentences.get(sentence.sentence)
        if before is not None:
            if before.event.revision >= sentence.revision:
                return False
            self._forget(before)
        newest = PastSentence(sentence.start_ms, sentence.sentence, sentence, words(sentence.text))
        self._sentences[newest.id] = newest
        for side in (sentence.role, ""):
            insort(self._sides.setdefault(side, []), newest)
        for matcher, hits in self._hits.items():
            if hit := matcher.match(newest):
                insort(hits, hit)
        self.silent_since_ms = max(self.silent_since_ms, sentence.end_ms)
        self.now_ms = max(self.now_ms, sentence.end_ms)
        return True

    def silences(self, until_ms: int) -> list[tuple[int, int]]:
        """From when to when nobody spoke, of what was not known to be heard yet, up to `until_ms`."""
        gaps, end_ms = [], 0
        for sentence in self.sentences_of(""):
            if sentence.start_ms > end_ms and sentence.start_ms > self.heard_ms:
                gaps.append((end_ms, min(sentence.start_ms, until_ms)))
            end_ms = max(end_ms, sentence.event.end_ms)
        gaps.append((end_ms, until_ms))
        return [(since, until) for since, until in gaps if since < until]

    @contextmanager
    def as_of(self, at_ms: int, silent_since_ms: int) -> Iterator[None]:
        """Within the block, the history as it was at that moment of a silence."""
        now = self.now_ms, self.heard_ms, self.silent_since_ms
        self.now_ms, self.heard_ms, self.silent_since_ms = at_ms, at_ms, silent_since_ms
        self._until_ms = at_ms
        try:
            yield
        finally:
            self._until_ms = None
            self.now_ms, self.heard_ms, self.silent_since_ms = now

    def sentences_of(self, role: str) -> Sequence[PastSentence]:
        """Sentences of one side, or of all for an empty role."""
        sentences = self._sides.get(role, ())
        return sentences if self._until_ms is None else sentences[: bisect(sentences, self._until_ms, key=_start)]

    def hits(self, matcher: SentenceMatcher) -> Sequence[SentenceMatch]:
        hits = self._hits[matcher]
        return hits if self._until_ms is None else hits[: bisect(hits, self._until_ms, key=start_of)]

    def _forget(self, sentence: PastSentence) -> None:
        for side in (sentence.event.role, ""):
            self._sides[side].remove(sentence)
        for hits in self._hits.values():
            hits[:] = [hit for hit in hits if hit.sentence.id != sentence.id]


def _start(sentence: PastSentence) -> int:
    return sentence.start_ms


def start_of(hit: SentenceMatch) -> int:
    return hit.sentence.start_ms
