"""Examples as batches."""

from __future__ import annotations

from random import Random

import numpy as np

from finetune.corpus.examples import LabelledText, TaggedText
from finetune.train.batches import IGNORED, HeadCorpus, batches, bio, load_tokenizer, token_targets
from nlp.inference.models.token_encoder import DEFAULT

TAGS = bio(["date", "amount"])
NUMBERS = {tag: number for number, tag in enumerate(TAGS)}


def test_tags_follow_the_characters() -> None:
    offsets = [(0, 0), (0, 3), (4, 7), (8, 15), (16, 22), (0, 0)]  # [CLS] pay ten dollars monday [SEP]
    targets = token_targets(offsets, [(4, 15, "amount"), (16, 22, "date")], NUMBERS)
    named = [TAGS[target] if target != IGNORED else "-" for target in targets]
    assert named == ["-", "O", "B-amount", "I-amount", "B-date", "-"]


def test_every_example_comes_once_and_padding_says_nothing() -> None:
    tokenizer = load_tokenizer(DEFAULT / "tokenizer.json")
    feelings = HeadCorpus(
        "sentiment", [LabelledText("very good " * n, "positive") for n in range(1, 12)], ["negative", "positive"]
    )
    values = HeadCorpus("slots", [TaggedText("on monday", ((3, 9, "date"),)), TaggedText("hi")], TAGS)
    made = list(batches([feelings, values], tokenizer, Random(1), size=4))
    assert sum(len(batch.input_ids) for batch in made if batch.head == "sentiment") == 11
    assert all((batch.targets == 1).all() for batch in made if batch.head == "sentiment")
    [slots] = [batch for batch in made if batch.head == "slots"]
    assert ((slots.targets == IGNORED) | (slots.attention_mask == 1)).all()
    assert NUMBERS["B-date"] in slots.targets


def test_the_same_seed_makes_the_same_batches() -> None:
    tokenizer = load_tokenizer(DEFAULT / "tokenizer.json")
    corpus = HeadCorpus("sentiment", [LabelledText(f"well, number {n}!", "a") for n in range(20)], ["a"])
    first, second = (list(batches([corpus], tokenizer, Random(5), size=8, unpunctuated=0.5)) for _ in range(2))
    assert all(np.array_equal(a.input_ids, b.input_ids) for a, b in zip(first, second, strict=True))
