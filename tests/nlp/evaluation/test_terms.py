"""Business terms: which were heard, missed and invented, and lists that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlp.evaluation.terms import TermCounter, matches, read_terms
from tenor.errors import BadInput


def counted(terms: list[str], wanted: str, got: str) -> dict[str, tuple[int, int, int]]:
    counter = TermCounter(terms)
    counter.add(wanted.split(), got.split())
    return {term: (one.said, one.missed, one.invented) for term, one in counter.errors.counts.items()}


@pytest.mark.parametrize(
    ("got", "found"),
    [
        ("i lost my debit card today", {"debit card": (1, 0, 0)}),
        ("i lost my credit card today", {"debit card": (1, 1, 0)}),
        ("i lost my debit uh card today", {"debit card": (1, 1, 0)}),  # not in one piece
        ("i lost today", {"debit card": (1, 1, 0)}),
        ("debit card i lost my debit card today", {"debit card": (1, 0, 1)}),
        ("", {"debit card": (1, 1, 0)}),
    ],
)
def test_a_term_of_two_words(got: str, found: dict[str, tuple[int, int, int]]) -> None:
    assert counted(["Debit card"], "i lost my debit card today", got) == {"Debit card": found["debit card"]}


def test_the_longest_term_counts_and_what_is_never_said_is_not_counted() -> None:
    terms = ["card", "debit card", "mortgage", "  "]
    assert counted(terms, "my debit card", "my debit card") == {"debit card": (1, 0, 0)}
    assert counted(terms, "hello", "hello mortgage") == {"mortgage": (0, 0, 1)}


def test_places_of_the_same_words() -> None:
    assert matches(list("abcd"), list("axccd")) in ({0: 0, 2: 2, 3: 4}, {0: 0, 2: 3, 3: 4})
    assert matches([], ["a"]) == matches(["a"], []) == {}


def test_lists_of_terms(tmp_path: Path) -> None:
    file = tmp_path / "terms.txt"
    file.write_text("# ours\nBeehive\n\nqueen excluder\nBeehive\n")
    assert read_terms(file) == ["Beehive", "queen excluder"]
    for content in (b"", b"# nothing\n", b"\xff\xfe"):
        file.write_bytes(content)
        with pytest.raises(BadInput):
            read_terms(file)
    with pytest.raises(BadInput, match="cannot be read"):
        read_terms(tmp_path / "nowhere.txt")
