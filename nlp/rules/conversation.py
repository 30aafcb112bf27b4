"""A call as far as it has come: what conditions look at."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from nlp.rules.phrases import words
from tenor.events import CallMetrics, Sentence


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
        self.quiet_until_ms = 0
        """Everything before this has been heard, and nothing was said in it but the sentences known."""
        self.ended_ms: int | None = None
        self.written = False
        """A chat or an e-mail, where time passes between sentences without being a silence."""
        self.figures: CallMetrics | None = None
        self.last_end_ms = 0
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
        self.last_end_ms = max(self.last_end_ms, sentence.end_ms)
        self.now_ms = max(self.now_ms, sentence.end_ms)
        return True

    def said_by(self, role: str) -> Sequence[Said]:
        """Sentences of one side, or of all for an empty role."""
        return self._sides.get(role, ())

    def hits(self, finder: Finder) -> Sequence[Hit]:
        return self._hits[finder]

    def _forget(self, said: Said) -> None:
        for side in (said.event.role, ""):
            self._sides[side].remove(said)
        for hits in self._hits.values():
            hits[:] = [hit for hit in hits if hit.said.id != said.id]
