"""Redacted sentences are understood as if nothing had been taken out, and tell nothing of it."""

from __future__ import annotations

import pytest

from nlp.inference.local import LocalBackend
from nlp.inference.mask_filling import fill_masks, original_entities
from nlp.inference.types import Entity, ScoredLabel

BACKEND = LocalBackend()


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        ("My name is [person].", "My name is Anna Brown."),
        ("My phone number is [phone].", "My phone number is two one two five five five."),
        ("my address is [address]", "my address is forty two oak avenue"),
        ("Hi, [person]. My name is [person].", "Hi, James. My name is Patricia Miller."),
        ("[number].", "nine four six."),
        ("I lost my card [card] and I want a new one", "I lost my card 4111 1111 1111 1111 and I want a new one"),
    ],
)
def test_it_means_what_was_said(kept: str, said: str) -> None:
    redacted, whole = BACKEND.analyze([kept, said])
    assert (redacted.intent, redacted.sentiment) == (whole.intent, whole.sentiment)
    assert redacted.slots == {}


def test_other_values_are_found_where_they_stand() -> None:
    text = "[person] paid fifty dollars to [person] on monday"
    [found] = BACKEND.analyze([text])
    assert {"fifty dollars", "monday"} <= {entity.text for entity in found.entities}
    for entity in found.entities:
        assert text[entity.start : entity.end] == entity.text
        assert "[" not in entity.text


def test_what_overlaps_a_stand_in_is_thrown_away() -> None:
    read, placeholders = fill_masks("call [person] today")
    assert read == "call John Smith today"
    label = ScoredLabel("x", 1.0)
    found = original_entities([Entity("Smith today", label, 10, 21), Entity("today", label, 16, 21)], placeholders)
    assert found == (Entity("today", label, 14, 19),)


def test_brackets_that_are_no_masks_stay() -> None:
    assert fill_masks("it said [error] and [2]") == ("it said [error] and [2]", ())
