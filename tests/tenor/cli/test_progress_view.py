"""What the bar of a batch says: files that are understood, also those of a conversation that is not through."""

from __future__ import annotations

import pytest
from rich.progress import Progress as Bars

from tenor.cli.output import progress
from tenor.cli.progress_view import LONG, BatchBars
from tenor.runtime import CallProgress, CallResult
from tenor.runtime.batch.progress import ProgressCounter


@pytest.fixture
def bars() -> Bars:
    return progress()


def shown(bars: Bars) -> tuple[float, str]:
    return bars.tasks[0].completed, bars.tasks[0].fields["detail"].partition(",")[0]


def call(name: str, ms: int = 0, *, messages: int = 0, over: bool = False) -> CallProgress:
    return CallProgress(name, name, ms, 60_000, messages, over)


def test_a_folder_counts_file_by_file(bars: Bars) -> None:
    counter = ProgressCounter(180, BatchBars(bars).show)
    counter.advance(call("one"), 30.5)
    counter.advance(call("two"), 10.0)
    assert shown(bars) == (40.5, "40 of 180")
    counter.advance(call("one"), 20.0)  # the other side of the call is not as far
    assert shown(bars) == (40.5, "40 of 180")
    counter.count(CallResult("one", call="one", files=90))
    assert shown(bars) == (100.0, "100 of 180")
    counter.count(CallResult("two", call="two", files=90, already_stored=True))
    assert shown(bars) == (180.0, "180 of 180")


def test_a_table_is_done_with_its_last_chat(bars: Bars) -> None:
    counter = ProgressCounter(2, BatchBars(bars).show)
    counter.count(CallResult("chats.csv", call="one", last_of_file=False))
    counter.count(CallResult("chats.csv", call="two"))
    assert shown(bars) == (1.0, "1 of 2")


def test_a_single_file_has_no_bar_of_all(bars: Bars) -> None:
    counter = ProgressCounter(1, BatchBars(bars).show)
    counter.advance(call("one"), 0.5)
    assert [task.description for task in bars.tasks] == ["one"]
    counter.advance(call("one", over=True), 0.5)
    counter.count(CallResult("one", call="one"))
    assert not bars.tasks


def test_what_was_done_before_makes_nothing_faster(bars: Bars, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("tenor.cli.progress_view.time.monotonic", lambda: now)
    counter = ProgressCounter(100, BatchBars(bars).show)
    now = 110.0
    counter.count(CallResult("one", call="one", files=40, already_stored=True))
    counter.count(CallResult("two", call="two", files=20))
    assert bars.tasks[0].fields["detail"] == "60 of 100, 2.0 files/s"


def test_a_recording_under_way_has_a_bar_with_its_clock(bars: Bars) -> None:
    counter = ProgressCounter(1, BatchBars(bars).show)
    counter.advance(call("one"))
    counter.advance(call("one", 15_000))
    [bar] = bars.tasks
    assert (bar.completed, bar.total, bar.fields["detail"]) == (15_000, 60_000, "0:15")


def test_only_a_long_chat_has_a_bar(bars: Bars) -> None:
    counter = ProgressCounter(1, BatchBars(bars).show)
    counter.advance(call("short", messages=LONG - 1))
    assert not bars.tasks
    counter.advance(call("long", messages=1200))
    assert [bar.fields["detail"] for bar in bars.tasks] == ["1,200 messages or pieces"]
