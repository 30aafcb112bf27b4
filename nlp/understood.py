"""What was understood of a sentence, and who may understand one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from nlp.slots import by_name
from nlp.understanding import Entity

ENGLISH, OTHER = "en", "other"


@dataclass(frozen=True, slots=True)
class Understood:
    """One sentence, understood."""

    text: str
    sentiment: str
    sentiment_scores: Mapping[str, float]
    intent: str
    intent_score: float
    entities: tuple[Entity, ...] = ()
    intent_scores: Mapping[str, float] = field(default_factory=dict)
    """Every intent's probability, for finding the task of the whole call."""
    language: str = ENGLISH
    """`other`: not English, so nothing else was told."""
    mood: float = 0.0
    """From -1 (negative) to 1 (positive)."""
    embedding: Any = field(default=None, compare=False, repr=False)
    """The sentence as a vector of length one, for further classifiers; None when the back end has none."""

    @property
    def slots(self) -> dict[str, str]:
        return by_name(self.entities)


class Backend(Protocol):
    """Understands sentences, in this process or elsewhere. Any thread may call it, and a call may take its time."""

    @property
    def versions(self) -> dict[str, str]:
        """Which model says what, as a Sentence carries it."""
        ...

    @property
    def tasks(self) -> frozenset[str]:
        """Intents that a whole call can be about."""
        ...

    def understand(self, texts: Sequence[str]) -> list[Understood]:
        """Every text in its order; an empty one feels nothing and wants nothing."""
        ...
