"""Sentences written as patterns."""

from __future__ import annotations

from random import Random

from finetune.corpus.templates import one, written

WORDS = {"thing": ["phone", "(red|blue) bike"]}


def test_choices_words_and_patterns_inside_words() -> None:
    sentences = set(written("(my|the) {thing} (is|was|) late", WORDS, Random(1), most=50))
    assert {"my phone is late", "the red bike late", "my blue bike was late"} <= sentences
    assert len(sentences) == 2 * 3 * 3


def test_the_same_seed_makes_the_same_sentences() -> None:
    assert written("(a|b|c|d) {thing}", WORDS, Random(3), most=3) == written(
        "(a|b|c|d) {thing}", WORDS, Random(3), most=3
    )


def test_a_plain_sentence_is_itself_once() -> None:
    assert written("hello there", WORDS, Random(1), most=9) == ["hello there"]


def test_choices_may_stand_inside_choices() -> None:
    assert {one("((a|b) x|y)", {}, Random(seed)) for seed in range(40)} == {"a x", "b x", "y"}
