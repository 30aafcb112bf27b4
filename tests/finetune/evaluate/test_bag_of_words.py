"""What counting words reaches, and by how much the model that ships is better on sentences neither has seen."""

from __future__ import annotations

from random import Random

import pytest

from finetune.corpus import datasets, mixture
from finetune.evaluate.bag_of_words import BagOfWords
from finetune.evaluate.scores import accuracy, macro_f1
from nlp.inference.local import LocalBackend
from tenor.taxonomy.intents import read

SENTIMENT_MARGIN, INTENT_MARGIN = 0.04, 0.10
"""Of macro-F1 and of accuracy. The people who wrote these sentences wrote those to learn from as well, so words carry
far here: 84.6 % of sentiment."""


def test_words_alone_tell_what_they_were_seen_with() -> None:
    baseline = BagOfWords(["good morning", "good day", "bad luck"], ["kind", "kind", "sad"])
    assert baseline.answer(["Good!", "what bad luck"]) == ["kind", "sad"]


@pytest.mark.slow
def test_the_model_that_ships_is_better_than_counting_words() -> None:
    backend = LocalBackend()
    feelings = mixture.allowed(datasets.own_sentiment(Random(7), most=16))
    words = BagOfWords([row.text for row in feelings], [row.label for row in feelings])
    rows = datasets.evaluation("sentiment")
    right, texts = [row["label"] for row in rows], [row["text"] for row in rows]
    ours = macro_f1(right, [one.sentiment for one in backend.analyze(texts)])
    assert ours >= macro_f1(right, words.answer(texts)) + SENTIMENT_MARGIN

    wishes = mixture.allowed(datasets.own_intents(Random(7), most=12))
    pairs = [(row.text, row.label) for row in wishes]
    pairs += [(text, intent.name) for intent in read().intents for text in intent.examples]
    words = BagOfWords([text for text, _ in pairs], [label for _, label in pairs])
    rows = datasets.evaluation("intents")
    right, texts = [row["label"] for row in rows], [row["text"] for row in rows]
    ours = accuracy(right, [one.intent for one in backend.analyze(texts)])
    assert ours >= accuracy(right, words.answer(texts)) + INTENT_MARGIN
