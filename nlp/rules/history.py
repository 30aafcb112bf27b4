"""A call as far as it has come: what conditions look at."""

from __future__ import annotations

from bisect import bisect_left as bisect
from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from tenor.events import CallMetrics, Sentence
from tenor.phrases import words


@dataclass(frozen=True, slots=True, order=True)
class Said:
    """One sentence, in the order of the call."""

    start_ms: int
    id: str
    event: Sentence = field(compare=False)
    words: list[str] = field(compare=False)


@dataclass(frozen=True, slots=True, order=True)
class Hit:
    """A sentence that a condition looks for."""

    said: Said
    phrase: str = ""
    """As the rule has it; empty where the condition is not about words."""


class Finder(Protocol):
    """What tells whether a sentence is one it looks for."""

    def find(self, said: Said) -> Hit | None: ...


class Conversation:
    """Sentences in the order of the call, each in its newest revision, and what is known of time and figures."""

    def __init__(self, finders: Iterable[Finder]) -> None:
        self.now_ms = 0
        """The latest position known of."""
        self.heard_ms = 0
        """Before this nothing was said but the sentences known."""
        self.silent_since_ms = 0
        """Where the last sentence ended."""
        self.ended_ms: int | None = None
        self.written = False
        """A chat or an e-mail, where time passes between sentences without being a silence."""
        self.figures: CallMetrics | None = None
        self._until_ms: int | None = None
        self._said: dict[str, Said] = {}
        self._sides: dict[str, list[Said]] = {}
        self._hits: dict[Finder, list[Hit]] = {finder: [] for finder in finders}

    def add(self, sentence: Sentence) -> bool:
        """False when this revision, or a later one, is here already."""
        before = self._said.get(sentence.sentence)
        if before is not None:
            if before.event.revision >= sentence.revision:
                return False
            self._forget(before)
        said = Said(sentence.start_ms, sentence.sentence, sentence, words(sentence.text))
        self._said[said.id] = said
        for side in (sentence.role, ""):
            insort(self._sides.setdefault(side, []), said)
        for finder, hits in self._hits.items():
            if hit := finder.find(said):
                insort(hits, hit)
        self.silent_since_ms = max(self.silent_since_ms, sentence.end_ms)
        self.now_ms = max(self.now_ms, sentence.end_ms)
        return True

    def silences(self, until_ms: int) -> list[tuple[int, int]]:
        """From when to when nobody spoke, of what was not known to be heard yet, up to `until_ms`."""
        gaps, end_ms = [], 0
        for said in self.said_by(""):
            if said.start_ms > end_ms and said.start_ms > self.heard_ms:
                gaps.append((end_ms, min(said.start_ms, until_ms)))
            end_ms = max(end_ms, said.event.end_ms)
        gaps.append((end_ms, until_ms))
        return [(since, until) for since, until in gaps if since < until]

    @contextmanager
    def as_of(self, at_ms: int, silent_since_ms: int) -> Iterator[None]:
        """Within the block, the conversation as it was at that moment of a silence."""
        now = self.now_ms, self.heard_ms, self.silent_since_ms
        self.now_ms, self.heard_ms, self.silent_since_ms = at_ms, at_ms, silent_since_ms
        self._until_ms = at_ms
        try:
            yield
        finally:
            self._until_ms = None
            self.now_ms, self.heard_ms, self.silent_since_ms = now

    def said_by(self, role: str) -> Sequence[Said]:
        """Sentences of one side, or of all for an empty role."""
        said = self._sides.get(role, ())
        return said if self._until_ms is None else said[: bisect(said, self._until_ms, key=_start)]

    def hits(self, finder: Finder) -> Sequence[Hit]:
        hits = self._hits[finder]
        return hits if self._until_ms is None else hits[: bisect(hits, self._until_ms, key=start_of)]

    def _forget(self, said: Said) -> None:
        for side in (said.event.role, ""):
            self._sides[side].remove(said)
        for hits in self._hits.values():
            hits[:] = [hit for hit in hits if hit.said.id != said.id]


def _start(said: Said) -> int:
    return said.start_ms


def start_of(hit: Hit) -> int:
    return hit.said.start_ms
