"""What can be asked about a text, and in what form the answers come. Who answers is behind `Understanding`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class Task(StrEnum):
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
    task: Task
    language: str = "en-US"
    domain: str = ""
    """Of an intent model: Riva looks it up by this, and calls the model `riva_intent_<domain>`."""


@dataclass(frozen=True, slots=True)
class Label:
    name: str
    score: float


@dataclass(frozen=True, slots=True)
class Entity:
    """Characters start..end of the text, end not included; consecutive tokens are one entity."""

    text: str
    label: Label
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Intent:
    domain: Label
    intent: Label
    """Named `<domain>.<intent>`."""
    slots: tuple[Entity, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    text: str
    score: float


class Understanding(Protocol):
    """The language models of one process. A method is only called for a model that `models` lists."""

    @property
    def models(self) -> Sequence[ModelInfo]:
        """For each task the first is its default."""
        ...

    async def classify(self, model: str, texts: Sequence[str]) -> list[Label]: ...

    async def tag(self, model: str, texts: Sequence[str]) -> list[list[Entity]]:
        """Slots or named entities, as the model was trained; only what was found."""
        ...

    async def intent(self, model: str, text: str) -> Intent: ...

    async def domain(self, text: str) -> str | None:
        """Which intent model's domain a text belongs to; None when to none of them."""
        ...

    async def rewrite(self, model: str, texts: Sequence[str]) -> list[str]:
        """Punctuation and case restored, or another transformation of the text."""
        ...

    async def answer(self, model: str, query: str, context: str, limit: int) -> list[Answer]: ...
