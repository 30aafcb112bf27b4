"""Which model a call gets: a function of the log and of when the call began, whatever becomes of the log's end."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tenor.model_store.promotion_log import FILE, OLDEST_S, PromotionLog, began, read_log, read_log_file
from tests.model_folders import promoted, promotion

A = promotion("house-1", "a" * 64, 100.0)
B = promotion("house-2", "b" * 64, 200.0, previous="house-1")


def model(log: PromotionLog, start: float, published: float | None = None) -> str:
    found = log.in_force("language", start, published)
    return found.model if found is not None else "ships"


def test_a_call_gets_what_was_in_force_when_it_began() -> None:
    log = PromotionLog([A, B])
    assert [model(log, start) for start in (99.9, 100.0, 199.9, 200.0)] == ["ships", "house-1", "house-1", "house-2"]


def test_a_promotion_never_changes_a_call_that_began_before_it() -> None:
    before = PromotionLog([A])
    after = PromotionLog([A, B, promotion("house-3", "c" * 64, 300.0)])
    for start in (50.0, 100.0, 150.0):
        for published in (start, 250.0, 999.0):
            assert model(before, start, published) == model(after, start, published)


def test_another_kind_of_model_is_another_matter() -> None:
    log = PromotionLog([A, promotion("ears-1", "e" * 64, 110.0, kind="speech")])
    assert model(log, 150.0) == "house-1"
    found = log.in_force("speech", 150.0)
    assert found is not None
    assert found.model == "ears-1"


def test_at_once_counts_by_the_utterance() -> None:
    log = PromotionLog([A, promotion("house-2", "b" * 64, 200.0, at_once=True)])
    assert model(log, 150.0, 199.0) == "house-1"
    assert model(log, 150.0, 201.0) == "house-2"


def test_after_a_clock_was_set_back_the_later_line_counts() -> None:
    """Somebody promoted with a clock that was a day fast; whoever repairs that later wins, now and tomorrow."""
    fast = promotion("house-1", "a" * 64, 86_400.0)
    log = PromotionLog([fast, B])
    assert [model(log, start) for start in (150.0, 250.0, 90_000.0)] == ["ships", "house-2", "house-2"]


def test_a_call_of_which_nothing_is_known_began_with_its_first_record() -> None:
    assert began(None, 500.0) == 500.0
    assert began(450.0, 500.0) == 450.0
    # An old chat that is read in today is understood as today's are.
    assert began(500.0, 500.0 + 2 * OLDEST_S) == 500.0 + 2 * OLDEST_S


@pytest.mark.parametrize("cut", range(1, len(msgspec.json.encode(B)) + 1, 17))
def test_half_a_line_at_the_end_does_not_count_and_is_told(cut: int) -> None:
    whole = msgspec.json.encode(A) + b"\n"
    log = read_log(whole + msgspec.json.encode(B)[:cut])
    assert log.promotions == (A,)
    assert log.torn


def test_a_line_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path) -> None:
    promoted(tmp_path, A)
    with (tmp_path / FILE).open("ab") as file:
        file.write(b'\xff\xfe\n{"kind": "telepathy"}\n\n')
    promoted(tmp_path, B)
    log = read_log_file(tmp_path)
    assert log.promotions == (A, B)
    assert log.ignored == (2, 3)
    assert not log.torn


def test_without_a_log_everything_is_what_ships(tmp_path: Path) -> None:
    assert read_log_file(tmp_path / "nowhere").promotions == ()
