"""From tags of tokens to values of a sentence."""

from __future__ import annotations

import numpy as np

from nlp.inference.heads.slots import find_slots
from nlp.inference.models.onnx_model import Prediction
from nlp.inference.types import Entity, ScoredLabel, slots_by_name

TAGS = ("O", "B-date", "I-date", "B-amount", "I-amount")


def prediction(tags: list[str], offsets: list[tuple[int, int]], words: list[int | None]) -> Prediction:
    rows = np.full((len(tags), len(TAGS)), 0.02, np.float32)
    for row, tag in enumerate(tags):
        rows[row, TAGS.index(tag)] = 0.92
    return Prediction({}, {"slots": rows}, offsets, words, np.zeros(1, np.float32))


def found(text: str, tags: list[str], words: list[int | None] | None = None) -> list[tuple[str, str]]:
    offsets, position = [], 0
    for word in text.split():
        offsets.append((position, position + len(word)))
        position += len(word) + 1
    numbers: list[int | None] = list(range(len(tags))) if words is None else words
    return [(entity.label.name, entity.text) for entity in find_slots(text, prediction(tags, offsets, numbers), TAGS)]


def test_tokens_of_one_value_are_joined() -> None:
    assert found("pay ten dollars on monday", ["O", "B-amount", "I-amount", "O", "B-date"]) == [
        ("amount", "ten dollars"),
        ("date", "monday"),
    ]


def test_the_full_stop_is_the_sentences() -> None:
    assert found("due on monday.", ["O", "O", "B-date"]) == [("date", "monday")]
    assert found("how, ?", ["O", "B-date"]) == []
    assert found("at nine a.m.", ["O", "B-date", "I-date"]) == [("date", "nine a.m.")]
    assert found("at nine a.m.?", ["O", "B-date", "I-date"]) == [("date", "nine a.m.")]


def test_two_values_side_by_side_stay_two() -> None:
    assert found("monday tuesday", ["B-date", "B-date"]) == [("date", "monday"), ("date", "tuesday")]


def test_a_value_goes_on_after_a_hyphen() -> None:
    text = "the thirty-first of May"
    pieces = prediction(
        ["O", "B-date", "O", "B-date", "I-date", "I-date"],
        [(0, 3), (4, 10), (10, 11), (11, 16), (17, 19), (20, 23)],
        [0, 1, 2, 3, 4, 5],
    )
    assert [entity.text for entity in find_slots(text, pieces, TAGS)] == ["thirty-first of May"]


def test_a_value_may_begin_with_an_inside_tag() -> None:
    assert found("ten dollars", ["I-amount", "I-amount"]) == [("amount", "ten dollars")]


def test_the_first_piece_of_a_word_decides() -> None:
    text = "pay wednesday"
    pieces = prediction(["O", "B-date", "O"], [(0, 3), (4, 9), (9, 13)], [0, 1, 1])
    [entity] = find_slots(text, pieces, TAGS)
    assert (entity.text, entity.start, entity.end) == ("wednesday", 4, 13)


def test_marks_at_the_ends_are_no_values() -> None:
    pieces = prediction(["B-date", "O", "B-date"], [(0, 0), (0, 3), (0, 0)], [None, 0, None])
    assert find_slots("pay", pieces, TAGS) == ()


def test_a_second_value_of_a_kind_keeps_its_place_in_the_event() -> None:
    entities = [Entity(text, ScoredLabel("date", 1.0), 0, 1) for text in ("monday", "tuesday", "friday")]
    assert slots_by_name(entities) == {"date": "monday", "date_2": "tuesday", "date_3": "friday"}
