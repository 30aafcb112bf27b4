"""What passes for a misspelt product, and what is a word of its own."""

from __future__ import annotations

import pytest

from dialog.values.misspelling import is_misspelt


@pytest.mark.parametrize(
    ("word", "right"),
    [
        ("sneekers", "sneakers"),
        ("umbrela", "umbrella"),
        ("hedphones", "headphones"),
        ("labtop", "laptop"),
        ("tredmil", "treadmill"),
        ("jenas", "jeans"),
        ("refridgerator", "refrigerator"),
        ("farmacy", "pharmacy"),
    ],
)
def test_misspelt(word: str, right: str) -> None:
    assert is_misspelt(word, right)


@pytest.mark.parametrize(
    ("word", "other"), [("margarine", "magazine"), ("bike", "nike"), ("canoe", "candle"), ("violin", "vitamin")]
)
def test_another_word(word: str, other: str) -> None:
    assert not is_misspelt(word, other)
