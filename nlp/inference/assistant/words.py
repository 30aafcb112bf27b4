"""Words between blanks, and which token of the encoder speaks for each."""

from __future__ import annotations

import re

from nlp.inference.models.onnx_model import Offsets

_WORD = re.compile(r"\S+")


def word_offsets(text: str) -> list[tuple[int, int]]:
    """First character of every word and the first after it; punctuation belongs to its word."""
    return [match.span() for match in _WORD.finditer(text)]


def deciding_tokens(text: str, words: Offsets, tokens: Offsets) -> list[int | None]:
    """For every word its first token with a letter or digit, or else its first; None where the encoder read none."""
    found: list[int | None] = []
    token = 0
    for start, end in words:
        while token < len(tokens) and (tokens[token][0] == tokens[token][1] or tokens[token][1] <= start):
            token += 1
        chosen = None
        at = token
        while at < len(tokens) and tokens[at][0] < end and tokens[at][0] < tokens[at][1]:
            if chosen is None:
                chosen = at
            if any(letter.isalnum() for letter in text[tokens[at][0] : tokens[at][1]]):
                chosen = at
                break
            at += 1
        found.append(chosen)
    return found
