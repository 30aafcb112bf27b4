"""Slots as tags of words: one way and back."""

from __future__ import annotations

import pytest

from storage.labels.tags import SlotSpan, spans_of, tags_at, tags_of_values
from tenor.model_store import read_card
from tenor.settings import LanguageSettings
from tenor.taxonomy.in_force import SHIPPED_SLOTS, names_in_force

TEXT = "Send  the red shirt to New York, please"
TAGS = ["O", "O", "B-color", "B-item", "O", "B-place", "I-place", "O"]


def test_tags_and_spans_say_the_same() -> None:
    spans = spans_of(TEXT, TAGS)
    assert [(TEXT[span.start : span.end], span.slot) for span in spans] == [
        ("red", "color"),
        ("shirt", "item"),
        ("New York,", "place"),
    ]
    assert tags_at(TEXT, spans) == TAGS


def test_two_values_of_one_slot_side_by_side_stay_two() -> None:
    tags = ["B-item", "B-item", "I-item"]
    assert tags_at("milk oat milk", spans_of("milk oat milk", tags)) == tags


@pytest.mark.parametrize(
    ("slots", "tags"),
    [
        ({"place": "new york"}, ["O", "O", "O", "O", "O", "B-place", "I-place", "O"]),
        ({"color": "red", "color_2": "shirt"}, ["O", "O", "B-color", "B-color", "O", "O", "O", "O"]),
        ({"place": "Boston", "item": ""}, ["O"] * 8),
    ],
)
def test_values_of_a_sentence_are_found_in_it(slots: dict[str, str], tags: list[str]) -> None:
    assert tags_of_values(TEXT, slots) == tags


def test_a_span_within_a_word_takes_the_word() -> None:
    assert tags_at("pay $40.", [SlotSpan("amount", 5, 7)]) == ["O", "B-amount"]


def test_the_slots_that_ship_are_those_of_the_model() -> None:
    from nlp.inference.models.language_model import DEFAULT

    heads = read_card(DEFAULT).heads["slots"]
    assert tuple(sorted({tag[2:] for tag in heads if tag != "O"})) == SHIPPED_SLOTS
    assert names_in_force(LanguageSettings()).slots == SHIPPED_SLOTS
