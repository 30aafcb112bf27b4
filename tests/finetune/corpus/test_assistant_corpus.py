"""The assistant's sentences: the format of a line, and what the files hold."""

from __future__ import annotations

from random import Random

import pytest

from finetune.corpus import augmentation
from finetune.corpus.assistant_corpus import Utterance, frozen, hands, utterance, without
from nlp.inference.assistant.bio import spans_of
from tenor.taxonomy.assistant import SLOT_LABELS, SPOKEN_INTENTS


def test_a_line_gives_words_with_their_tags() -> None:
    found = utterance(
        "find_the_store\t[where](interrogative.location) can i [get](verb) [the](article) [best](rating.high) "
        "[thai food](item.type)?",
        "me",
    )
    assert found.words == ("where", "can", "i", "get", "the", "best", "thai", "food?")
    assert found.tags == (
        "B-interrogative.location", "O", "O", "B-verb", "B-article", "B-rating.high", "B-item.type", "I-item.type",
    )  # fmt: skip
    assert found.intent == "store_location"


def test_punctuation_before_a_slot_stays_on_its_word() -> None:
    found = utterance('price_check\tcost of "[milk](item.type)" now', "me")
    assert found.words == ("cost", "of", '"milk"', "now")
    assert found.tags == ("O", "O", "B-item.type", "O")


@pytest.mark.parametrize(
    "line", ["no_such_intent\thello", "price_check", "price_check\t[milk](item.kind)", "price_check\t[milk(item.type)"]
)
def test_a_line_that_breaks_the_rules_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        utterance(line, "me")


def test_every_file_can_be_read_and_the_frozen_hand_is_none_of_those_that_teach() -> None:
    read = hands()
    assert len(read) >= 5
    assert "frozen" not in read
    for rows in [*read.values(), frozen()]:
        for row in rows:
            assert row.intent in SPOKEN_INTENTS
            assert row.tags is not None
            assert len(row.tags) == len(row.words)
            assert set(row.tags) <= set(SLOT_LABELS)


def test_patterns_give_valid_sentences() -> None:
    made = augmentation.from_patterns(Random(1), each=3)
    assert {row.intent for row in made} == set(SPOKEN_INTENTS)
    for row in made:
        assert not set("<>{}()|") & set(row.text)
        assert row.tags is None or (len(row.tags) == len(row.words) and set(row.tags) <= set(SLOT_LABELS))


def test_a_changed_sentence_keeps_its_intent_and_its_slots() -> None:
    row = utterance("price_check\t[how much](interrogative.manner) [is](verb) [the](article) [milk](item.type)?", "me")
    random = Random(3)
    for _ in range(50):
        changed = augmentation.changed(row, random)
        assert changed.intent == row.intent
        assert changed.tags is not None
        assert len(changed.words) == len(changed.tags)
        names = [name for _, _, name in spans_of(changed.tags) if name != "article"]
        assert names == ["interrogative.manner", "verb", "item.type"]


def test_sentences_that_are_measured_are_not_taught() -> None:
    rows = [
        Utterance(("Hello!",), None, "smalltalk.greeting", "a"),
        Utterance(("hi",), None, "smalltalk.greeting", "a"),
    ]
    assert without(rows, [Utterance(("hello",), None, "smalltalk.greeting", "b")]) == rows[1:]
