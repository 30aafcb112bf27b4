"""Which token speaks for a word."""

from __future__ import annotations

from nlp.inference.assistant.words import deciding_tokens, word_offsets


def test_words_are_what_stands_between_blanks() -> None:
    text = "  where's the  pasta? 🍝"
    assert [text[start:end] for start, end in word_offsets(text)] == ["where's", "the", "pasta?", "🍝"]


def test_the_first_token_with_a_letter_or_digit_decides() -> None:
    text = '"pasta" (55"'
    tokens = [(0, 0), (0, 1), (1, 6), (6, 7), (8, 9), (9, 11), (11, 12), (0, 0)]
    assert deciding_tokens(text, word_offsets(text), tokens) == [2, 5]


def test_a_word_of_signs_has_its_first_and_an_unread_word_none() -> None:
    text = "hi !! there"
    tokens = [(0, 0), (0, 2), (3, 4), (4, 5), (0, 0)]  # cut off before the last word
    assert deciding_tokens(text, word_offsets(text), tokens) == [1, 2, None]
