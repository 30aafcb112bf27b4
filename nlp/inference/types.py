"""What is said about a sentence, and who says it.

Backend           analyzes sentences, for the pipeline: a SentenceAnalysis of each
LanguageModels    answers what Riva's language service can be asked, of which a SentenceAnalysis is one part
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

ENGLISH, OTHER = "en", "other"


@dataclass(frozen=True, slots=True)
class ScoredLabel:
    name: str
    score: float


@dataclass(frozen=True, slots=True)
class Entity:
    """Characters start..end of the text, end not included; consecutive tokens are one entity."""

    text: str
    label: ScoredLabel
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SentenceContext:
    """What is known of a sentence beside its words."""

    role: str = ""
    """caller or agent; empty where nobody knows."""
    before: str | None = None
    """The sentence before in the call."""


@dataclass(frozen=True, slots=True)
class SentenceAnalysis:
    """What the models say about one sentence."""

    text: str
    sentiment: str
    sentiment_scores: Mapping[str, float]
    intent: str
    intent_score: float
    entities: tuple[Entity, ...] = ()
    intent_scores: Mapping[str, float] = field(default_factory=dict)
    """Every intent's probability, for finding the task of the whole call."""
    language: str = ENGLISH
    """`other`: not English, so nothing else is known."""
    mood: float = 0.0
    """From -1 (negative) to 1 (positive)."""
    embedding: Any = field(default=None, compare=False, repr=False)
    """The sentence as a vector of length one, for further classifiers; None when the back end has none."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """What further classifiers say, by their names."""
    models: Mapping[str, str] = field(default_factory=dict)
    """Which model said what, as a Sentence carries it."""
    novelty: float | None = None
    """How unlike everything the model learned from, 0 to 1; None when the back end cannot say."""

    @property
    def slots(self) -> dict[str, str]:
        return slots_by_name(self.entities)


def slots_by_name(entities: Iterable[Entity]) -> dict[str, str]:
    """As events carry them: the first date is `date`, the next `date_2`."""
    values: dict[str, str] = {}
    for entity in entities:
        name, number = entity.label.name, 2
        while name in values:
            name, number = f"{entity.label.name}_{number}", number + 1
        values[name] = entity.text
    return values


class Backend(Protocol):
    """Analyzes sentences, in this process or elsewhere. Any thread may call it, and a call may take its time."""

    @property
    def versions(self) -> dict[str, str]:
        """Which model says what. Of an answer, `SentenceAnalysis.models` says it."""
        ...

    @property
    def tasks(self) -> frozenset[str]:
        """Intents that a whole call can be about."""
        ...

    def valence(self, sentiment: str) -> float:
        """What a label is worth in a mood, from -1 to 1."""
        ...

    def analyze(self, texts: Sequence[str], contexts: Sequence[SentenceContext] = ()) -> list[SentenceAnalysis]:
        """Every text in its order; an empty one is neutral and has no intent. `contexts`: one for each, or none."""
        ...


# -- what Riva's language service can be asked


class ModelTask(StrEnum):
    TEXT = "text_classification"
    TOKENS = "token_classification"
    ENTITIES = "named_entities"
    INTENT = "intent_slot"
    PUNCTUATION = "punctuation"
    TRANSFORM = "text_transform"
    QUESTIONS = "question_answering"


@dataclass(frozen=True, slots=True)
class ModelInfo:
    name: str
    task: ModelTask
    language: str = "en-US"
    domain: str = ""
    """Of an intent model: Riva looks it up by this, and calls the model `riva_intent_<domain>`."""


@dataclass(frozen=True, slots=True)
class IntentResult:
    domain: ScoredLabel
    intent: ScoredLabel
    """Named `<domain>.<intent>`."""
    slots: tuple[Entity, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    text: str
    score: float


class LanguageModels(Protocol):
    """The language models of one process. A method is only called for a model that `models` lists."""

    @property
    def models(self) -> Sequence[ModelInfo]:
        """For each task the first is its default."""
        ...

    async def classify(self, model: str, texts: Sequence[str]) -> list[ScoredLabel]: ...

    async def tag(self, model: str, texts: Sequence[str]) -> list[list[Entity]]:
        """Slots or named entities, as the model was trained; only what was found."""
        ...

    async def intent(self, model: str, text: str) -> IntentResult: ...

    async def domain(self, text: str) -> str | None:
        """Which intent model's domain a text belongs to; None when to none of them."""
        ...

    async def rewrite(self, model: str, texts: Sequence[str]) -> list[str]:
        """Punctuation and case restored, or another transformation of the text."""
        ...

    async def answer(self, model: str, query: str, context: str, limit: int) -> list[Answer]: ...
