"""Sentences, analyzed by the model that ships."""

from __future__ import annotations

import asyncio
import time

import pytest

from finetune.corpus import datasets
from finetune.evaluate.report import intent_scores, sentiment_scores
from nlp.inference.local import LocalBackend
from nlp.inference.types import LanguageModels, ModelTask, SentenceAnalysis


@pytest.fixture(scope="module")
def backend() -> LocalBackend:
    return LocalBackend()


def one(backend: LocalBackend, text: str) -> SentenceAnalysis:
    [analysis] = backend.analyze([text])
    return analysis


@pytest.mark.parametrize(
    ("text", "sentiment"),
    [
        ("this is the worst company i have ever called", "negative"),
        ("i am not happy with the repair", "negative"),
        ("you have been so helpful i really appreciate it", "positive"),
        ("the technician was very friendly and fixed everything", "positive"),
        ("i would like to check my balance", "neutral"),
        ("thank you for calling have a great day", "neutral"),
    ],
)
def test_how_it_feels(backend: LocalBackend, text: str, sentiment: str) -> None:
    assert one(backend, text).sentiment == sentiment


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("hi there i need to know how much money is in my savings account", "balance"),
        ("i lost my credit card yesterday", "card_replacement"),
        ("can i please talk to a real person", "agent_request"),
        ("i want to return these shoes", "refund"),
        ("what time do you open on saturday", "opening_hours"),
        ("goodbye", "closing"),
    ],
)
def test_what_it_wants(backend: LocalBackend, text: str, intent: str) -> None:
    assert one(backend, text).intent == intent


def test_values_are_found_where_they_stand(backend: LocalBackend) -> None:
    text = "Please transfer sixty five dollars to Mary Brown on Friday"
    found = one(backend, text)
    assert found.slots == {"amount": "sixty five dollars", "person": "Mary Brown", "date": "Friday"}
    assert all(text[entity.start : entity.end] == entity.text for entity in found.entities)


def test_scores_add_up_and_the_best_is_named(backend: LocalBackend) -> None:
    found = one(backend, "where is my package")
    assert sum(found.sentiment_scores.values()) == pytest.approx(1, abs=1e-3)
    assert sum(found.intent_scores.values()) == pytest.approx(1, abs=1e-3)
    assert found.sentiment == max(found.sentiment_scores, key=found.sentiment_scores.__getitem__)


def test_a_sentence_is_understood_the_same_alone_and_in_company(backend: LocalBackend) -> None:
    texts = [row["text"] for row in datasets.evaluation("sentiment")][:60]
    together = backend.analyze(texts)
    assert [found.text for found in together] == texts
    for text, found in zip(texts, together, strict=True):
        alone = one(backend, text)
        assert (alone.sentiment, alone.intent, alone.slots) == (found.sentiment, found.intent, found.slots)
        assert alone.sentiment_scores == pytest.approx(found.sentiment_scores, abs=1e-4)


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_nothing_said_feels_and_wants_nothing(backend: LocalBackend, text: str) -> None:
    found = one(backend, text)
    assert (found.sentiment, found.intent, found.intent_score, found.slots) == ("neutral", "unknown", 0.0, {})


def test_no_texts_no_answers(backend: LocalBackend) -> None:
    assert backend.analyze([]) == []


def test_another_language_is_said_not_guessed(backend: LocalBackend) -> None:
    found = one(backend, "ich bin sehr wütend und möchte mein geld zurück und das sofort")
    assert (found.language, found.intent, found.sentiment) == ("other", "unknown", "neutral")


@pytest.mark.parametrize(
    "text",
    ["😡😡😡 why", "أريد المساعدة", "<b>hello</b> <script>alert(1)</script>", "'; DROP TABLE calls; --", "\x00\x07"],
)
def test_strange_text_is_only_text(backend: LocalBackend, text: str) -> None:
    assert one(backend, text).text == text


def test_five_megabytes_without_a_full_stop_cost_no_more_than_a_sentence(backend: LocalBackend) -> None:
    began = time.monotonic()
    found = one(backend, "this is terrible and " * 250_000)
    assert time.monotonic() - began < 2
    assert found.sentiment == "negative"


def test_frozen_sentences_reach_what_the_issue_asks(backend: LocalBackend) -> None:
    def feel(texts: list[str]) -> list[str]:
        return [found.sentiment for found in backend.analyze(texts)]

    assert sentiment_scores(lambda texts: feel(list(texts)), None)["own macro-F1"] >= 0.75
    assert intent_scores(backend)["own intents accuracy"] >= 0.75


def test_rivas_questions_are_answered(backend: LocalBackend) -> None:
    asked: LanguageModels = backend
    by_task = {model.task: model.name for model in reversed(asked.models)}

    async def ask() -> None:
        [label] = await asked.classify(by_task[ModelTask.TEXT], ["that is a disgrace"])
        assert label.name == "negative"
        [entities] = await asked.tag(by_task[ModelTask.TOKENS], ["my name is john smith"])
        assert [(entity.text, entity.label.name) for entity in entities] == [("john smith", "person")]
        found = await asked.intent(by_task[ModelTask.INTENT], "i would like to pay a bill")
        assert (found.domain.name, found.intent.name) == ("callcenter", "callcenter.payment")
        assert await asked.domain("i would like to pay a bill") == "callcenter"
        assert await asked.domain("the seventh moon of saturn is made of ice") is None

    asyncio.run(ask())
