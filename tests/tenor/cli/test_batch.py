"""What the bar of a batch says: files that are understood, also those of a conversation that is not through."""

from __future__ import annotations

import pytest
from rich.progress import Progress

from tenor.cli.batch import Outcome, Total
from tenor.cli.output import progress


@pytest.fixture
def bars() -> Progress:
    return progress()


def shown(bars: Progress) -> tuple[float, str]:
    return bars.tasks[0].completed, bars.tasks[0].fields["detail"].partition(",")[0]


def test_a_folder_counts_file_by_file(bars: Progress) -> None:
    total = Total(bars, 180)
    total.advance("one", 30.5)
    total.advance("two", 10.0)
    assert shown(bars) == (40.5, "40 of 180")
    total.advance("one", 20.0)  # the other side of the call is not as far
    assert shown(bars) == (40.5, "40 of 180")
    total.count(Outcome("one", call="one", files=90))
    assert shown(bars) == (100.0, "100 of 180")
    total.count(Outcome("two", call="two", files=90, kept=True))
    assert shown(bars) == (180.0, "180 of 180")


def test_a_table_is_done_with_its_last_chat(bars: Progress) -> None:
    total = Total(bars, 2)
    total.count(Outcome("chats.csv", call="one", last=False))
    total.count(Outcome("chats.csv", call="two"))
    assert shown(bars) == (1.0, "1 of 2")


def test_a_single_file_has_no_bar_of_all(bars: Progress) -> None:
    total = Total(bars, 1)
    total.advance("one", 0.5)
    total.count(Outcome("one", call="one"))
    assert not bars.tasks


def test_what_was_done_before_makes_nothing_faster(bars: Progress, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("tenor.cli.batch.time.monotonic", lambda: now)
    total = Total(bars, 100)
    now = 110.0
    total.count(Outcome("one", call="one", files=40, kept=True))
    total.count(Outcome("two", call="two", files=20))
    assert bars.tasks[0].fields["detail"] == "60 of 100, 2.0 files/s"
