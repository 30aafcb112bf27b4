"""Times as people write them."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from storage.search.text import query_from_text
from tenor.errors import BadInput
from tenor.times import parse_since, parse_time


@pytest.mark.parametrize(
    ("text", "seconds"), [("12h", 43_200), ("30d", 2_592_000), ("8w", 4_838_400), ("1.5 d", 129_600)]
)
def test_an_age_counts_from_now(text: str, seconds: float) -> None:
    assert parse_time(text) == pytest.approx(time.time() - seconds, abs=5)


def test_a_day_or_minute_is_ours_unless_it_names_a_zone() -> None:
    assert parse_time("2026-11-01") == datetime(2026, 11, 1).astimezone().timestamp()
    assert parse_time("2026-11-01T09:30") == datetime(2026, 11, 1, 9, 30).astimezone().timestamp()
    assert parse_time("2026-11-01T09:30Z") == datetime(2026, 11, 1, 9, 30, tzinfo=UTC).timestamp()


def test_without_a_time_it_is_the_beginning() -> None:
    assert parse_since("") == 0.0


@pytest.mark.parametrize(
    "text", ["", "soon", "1 month", "-3d", "0d", "8", "8x", "2026-13-01", "999999999999w", "0001-01-01"]
)
def test_what_is_no_time_is_said(text: str) -> None:
    with pytest.raises(BadInput, match="is no time"):
        parse_time(text)


def test_a_search_reads_the_same_form() -> None:
    assert query_from_text("since:8w refund").since == pytest.approx(time.time() - 4_838_400, abs=5)
