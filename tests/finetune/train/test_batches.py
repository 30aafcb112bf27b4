"""Examples as batches."""

from __future__ import annotations

from random import Random

import numpy as np

from finetune.batches import IGNORED, Lesson, batches, bio, load_tokenizer, token_targets
from finetune.examples import Labelled, Tagged
from nlp.model import DEFAULT

TAGS = bio(["date", "amount"])
NUMBERS = {tag: number for number, tag in enumerate(TAGS)}


def test_tags_follow_the_characters() -> None:
    offsets = [(0, 0), (0, 3), (4, 7), (8, 15), (16, 22), (0, 0)]  # [CLS] pay ten dollars monday [SEP]
    targets = token_targets(offsets, [(4, 15, "amount"), (16, 22, "date")], NUMBERS)
    named = [TAGS[target] if target != IGNORED else "-" for target in targets]
    assert named == ["-", "O", "B-amount", "I-amount", "B-date", "-"]


def test_every_example_comes_once_and_padding_says_nothing() -> None:
    tokenizer = load_tokenizer(DEFAULT / "tokenizer.json")
    feelings = Lesson(
        "sentiment", [Labelled("very good " * n, "positive") for n in range(1, 12)], ["negative", "positive"]
    )
    values = Lesson("slots", [Tagged("on monday", ((3, 9, "date"),)), Tagged("hi")], TAGS)
    made = list(batches([feelings, values], tokenizer, Random(1), size=4))
    assert sum(len(batch.input_ids) for batch in made if batch.head == "sentiment") == 11
    assert all((batch.targets == 1).all() for batch in made if batch.head == "sentiment")
    [slots] = [batch for batch in made if batch.head == "slots"]
    assert ((slots.targets == IGNORED) | (slots.attention_mask == 1)).all()
    assert NUMBERS["B-date"] in slots.targets


def test_the_same_seed_makes_the_same_batches() -> None:
    tokenizer = load_tokenizer(DEFAULT / "tokenizer.json")
    lesson = Lesson("sentiment", [Labelled(f"well, number {n}!", "a") for n in range(20)], ["a"])
    first, second = (list(batches([lesson], tokenizer, Random(5), size=8, unpunctuated=0.5)) for _ in range(2))
    assert all(np.array_equal(a.input_ids, b.input_ids) for a, b in zip(first, second, strict=True))
