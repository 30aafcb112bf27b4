"""Our expressions find what Python's do, without ever taking long."""

from __future__ import annotations

import re
import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlp.rules.expression import Expression
from nlp.rules.pattern import Unfit

ATOMS = st.sampled_from(["a", "b", "c", "ab", ".", "[ab]", "[^a]", "[a-b ]", r"\w", r"\d", r"\s", r"\b", "^", "$", " "])
REPEATS = st.sampled_from(["*", "+", "?", "{2}", "{1,}", "{0,2}", "*?"])


def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]}|{pair[1]})"),
        st.tuples(inner, REPEATS).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
    )


@settings(max_examples=600)
@given(st.recursive(ATOMS, grown, max_leaves=6), st.text("abc 1A", max_size=8))
def test_it_finds_what_python_finds(pattern: str, text: str) -> None:
    try:
        ours = Expression(pattern)
    except Unfit:
        return
    theirs = re.search(pattern, text.lower(), re.IGNORECASE)
    if "\n" not in text:
        assert ours.found_in(text) is (theirs is not None)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"\büber\b", "Ich rede über das."),
        (r"\bcaf\w\b", "un café noir"),
        ("MÜLLER", "Herr Müller"),
        (r"^\w+$", "naïve"),
    ],
)
def test_letters_of_other_languages_are_letters(pattern: str, text: str) -> None:
    assert Expression(pattern).found_in(text)


@pytest.mark.parametrize("pattern", ["(a+)+b", "(a|a)*b", "(a|aa)+b", "a*a*a*a*a*a*b", "(.*a){9}b", "((a*)*)*b"])
def test_no_pattern_takes_long(pattern: str) -> None:
    expression = Expression(pattern)
    began = time.process_time()
    assert not expression.found_in("a" * 3000)
    assert time.process_time() - began < 5, "Python's own would take longer than the universe has existed"


@pytest.mark.parametrize(
    ("pattern", "reason", "at"),
    [
        ("a" * 201, "longer than 200", 200),
        ("ab)", "a ) too many", 2),
        ("a(b", "( that is not closed", 1),
        ("[ab", "[ that is not closed", 0),
        ("*a", "nothing before it", 0),
        (r"(a)\1", r"\1, which is not known", 3),
        ("a{2", "no repetition", 1),
        ("a{5,2}", "fewer times", 1),
        ("a{900}", "more than 50 times", 1),
        ("(((a{50}){50}){50})", "too large", 0),
        ("[z-a]", "no range", 1),
        ("a\\", "ends with", 1),
        ("a*+b", "repetition of a repetition", 2),
        ("(" * 30 + "a" + ")" * 30, "deeper than 20", 20),
        ("", "matches every sentence", 0),
    ],
)
def test_what_cannot_be_used_is_told(pattern: str, reason: str, at: int) -> None:
    with pytest.raises(Unfit, match=re.escape(reason)) as told:
        Expression(pattern)
    assert told.value.at == at


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_text_is_a_pattern_or_is_refused(pattern: str, text: str) -> None:
    with suppress(Unfit):
        Expression(pattern).found_in(text)
