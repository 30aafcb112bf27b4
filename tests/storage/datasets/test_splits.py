"""Whatever calls there are, nothing that is measured with is trained with, in this version and in any other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.datasets.splits import SplitRow, assign, group_of, is_held_out, is_long, plain_words

WORDS = ("yes", "thank you", "i want my money back", "where is my card", "my name is ann and i am cross")


@st.composite
def rows(draw: st.DrawFn) -> list[SplitRow]:
    """Calls of a few customers, some known and some not; sentences that come again."""
    made = []
    for number in range(draw(st.integers(0, 40))):
        customer = draw(st.sampled_from(["", *(f"c{one}" for one in range(12))]))
        at = draw(st.integers(0, 30)) * 3600.0
        for _ in range(draw(st.integers(1, 4))):
            words = draw(st.sampled_from(WORDS))
            made.append(SplitRow(f"call{number}", group_of(customer, f"call{number}"), at, words, draw(st.booleans())))
    return made


@given(rows(), st.sets(st.sampled_from(WORDS)))
def test_nothing_leaks(given_rows: list[SplitRow], frozen: set[str]) -> None:
    result = assign(given_rows, frozen)
    split = list(zip(given_rows, result.splits, strict=True))
    trained = [row for row, name in split if name in ("train", "val")]
    measured = [row for row, name in split if name in ("test", "holdout")]
    assert not {row.group for row in trained} & {row.group for row in measured}
    assert not {row.call for row in trained} & {row.call for row in measured}
    assert not any(row.words in frozen for row in trained if is_long(row.words))
    assert not {row.words for row in trained if is_long(row.words)} & {row.words for row in measured}
    newest = min((row.at for row, name in split if name == "test"), default=float("inf"))
    times = {row.at for row, name in split if name in ("train", "val", "test")}
    assert len(times) == 1 or all(row.at < newest for row in trained)
    assert all(row.trusted for row, name in split if name == "holdout")
    assert sum(not name for _, name in split) == sum(result.left_out.values())
    for group in {row.group for row in given_rows}:
        assert len({name for row, name in split if row.group == group and name in ("train", "val")}) <= 1


@pytest.mark.slow
@given(rows(), rows())
def test_what_is_held_out_stays_so_in_every_version(first: list[SplitRow], second: list[SplitRow]) -> None:
    together = [*first, *second]
    held = {row.group for row, name in zip(first, assign(first).splits, strict=True) if name == "holdout"}
    later = zip(together, assign(together).splits, strict=True)
    assert not {row.group for row, name in later if name in ("train", "val", "test")} & held


def test_a_tenth_is_held_out_and_a_fifth_is_for_the_test() -> None:
    many = [SplitRow(f"c{n}", group_of(f"customer {n}", ""), float(n), f"w{n}", True) for n in range(5000)]
    splits = assign(many).splits
    shares = {name: splits.count(name) / len(many) for name in ("holdout", "test", "val", "train")}
    assert abs(shares["holdout"] - 0.1) < 0.015
    assert abs(shares["test"] - 0.2 * 0.9) < 0.02
    assert abs(shares["val"] - 0.1 * 0.72) < 0.02
    assert is_held_out(many[0].group) == is_held_out(group_of("customer 0", "another call"))


def test_without_times_a_fifth_of_the_customers_is_for_the_test() -> None:
    """As a manifest of recordings has none. One customer alone is trained with."""
    many = [SplitRow(f"c{n}", group_of(f"customer {n // 3}", ""), 0.0, f"w{n}", True) for n in range(3000)]
    splits = assign(many).splits
    assert 0.13 < splits.count("test") / len(many) < 0.2
    assert splits.count("train") > 0.5 * len(many)
    one = [SplitRow("c", group_of("customer 0", ""), 0.0, f"w{n}", True) for n in range(8)]
    assert assign(one).splits == ["train"] * 8


def test_case_and_marks_do_not_make_another_sentence() -> None:
    assert plain_words("Where is my card?!") == plain_words("where is  MY card") == "where is my card"
