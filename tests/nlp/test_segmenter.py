"""Texts cut into sentences."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from nlp.inference.models.onnx_model import LONGEST as TOKENS
from nlp.inference.models.token_encoder import DEFAULT
from nlp.segmenter import LONGEST, MOST, sentences, spans


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("   \n ", []),
        ("yes", ["yes"]),
        ("Hello. How may I help you today?", ["Hello.", "How may I help you today?"]),
        ("It is at 9:30 a.m. on Monday. Fine!", ["It is at 9:30 a.m. on Monday.", "Fine!"]),
        ("Dr. Smith paid $3.50. OK?", ["Dr. Smith paid $3.50.", "OK?"]),
        ("no punctuation here at all", ["no punctuation here at all"]),
        ("First line\nsecond line", ["First line", "second line"]),
        ("هل وصل الطلب؟ نعم وصل.", ["هل وصل الطلب؟ نعم وصل."]),
        ("Great 😀. <b>Thanks</b> a lot!", ["Great 😀.", "<b>Thanks</b> a lot!"]),
        ("'; DROP TABLE calls; -- is my name. Really.", ["'; DROP TABLE calls; -- is my name.", "Really."]),
    ],
)
def test_where_sentences_end(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text(st.sampled_from("ab .?!…\n\t\"')(1,-😀م؟"), max_size=300))
@example("a . . b")
@example("\"Hi.\" 'No.' (Yes.) 1. 2. e.g. a.b.c.")
def test_no_character_is_lost_and_none_is_told_twice(text: str) -> None:
    found = spans(text)
    assert "".join("".join(text[start:end] for start, end in found).split()) == "".join(text.split())
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in found)
    assert all(before[1] <= after[0] for before, after in pairwise(found))


@pytest.mark.parametrize("text", ["word " * 1_000_000, "x" * 5_000_000, "Hi there. " * 500_000, "a.\n" * 300_000])
def test_megabytes_are_cut_and_take_no_time(text: str) -> None:
    began = time.process_time()
    found = sentences(text)
    assert time.process_time() - began < 10
    assert len(found) <= MOST
    assert sum(len("".join(sentence.split())) for sentence in found) == len("".join(text.split()))


def test_what_runs_on_is_cut_between_words() -> None:
    text = "and then I said " * 400
    found = sentences(text)
    assert max(map(len, found)) <= LONGEST
    assert min(map(len, found)) > LONGEST / 2  # no crumbs
    assert " ".join(found).split() == text.split()


def test_the_model_reads_all_of_a_sentence_that_runs_on() -> None:
    text = (
        "well my order is a4711 from 12 march and i was charged $39.90 twice for it, tracking 9400 1000 0000, ok " * 50
    )
    tokenizer = Tokenizer.from_file(str(DEFAULT / "tokenizer.json"))
    tokenizer.no_truncation()
    assert max(len(tokenizer.encode(sentence).ids) for sentence in sentences(text)) <= TOKENS
