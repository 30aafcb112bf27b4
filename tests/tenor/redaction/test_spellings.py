"""However a number is written and wherever it stands: no card stays readable, and hardly anything else."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.language.spelling_corpus import BY_FORM, KEYS, PER_KIND, ordinary, spellings
from benchmarks.language.spellings import readable
from tenor.redaction import KINDS
from tenor.redaction.patterns import USUAL, PatternRedactor

MADE = list(spellings())
FEW = {"phone": 2, "email": 4, "birth date": 4}
"""How many may stay readable. Nothing of the other kinds does."""


def test_the_corpus_is_what_it_says() -> None:
    assert len(MADE) == PER_KIND * len(KEYS) >= 5000
    assert len({one.text for one in MADE}) > 0.95 * len(MADE)
    assert list(spellings()) == MADE
    for one in MADE:
        assert one.secrets
        assert all(one.text[start:end] for start, end in one.secrets)
    assert {one.kind for one in MADE} >= BY_FORM


@pytest.mark.parametrize("kinds", [USUAL, KINDS, ("card",)], ids=["usual", "all", "card"])
def test_no_card_stays_readable(kinds: tuple[str, ...]) -> None:
    redactor = PatternRedactor(kinds)
    cards = [one for one in MADE if one.kind == "card"]
    assert [one.text for one in cards if readable(one, redactor.redact(one.text, ()).spans)] == []


@pytest.mark.parametrize("kinds", [USUAL, KINDS], ids=["usual", "all"])
def test_hardly_anything_else_stays_readable(kinds: tuple[str, ...]) -> None:
    redactor = PatternRedactor(kinds)
    left: Counter[str] = Counter()
    for one in MADE:
        if one.kind != "address":
            left[one.kind] += readable(one, redactor.redact(one.text, ()).spans)
    assert {kind: count for kind, count in left.items() if count > FEW.get(kind, 0)} == {}


def test_ordinary_figures_stay() -> None:
    redactor = PatternRedactor()
    masked = [text for text in ordinary() if redactor.redact(text, ()).spans]
    assert len(masked) <= 70
