"""The small parts: order, tracks, ids, particulars."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.gateway.faults import Malformed
from ingest.gateway.ids import call_id
from ingest.gateway.particulars import particulars
from ingest.gateway.reorder import Frame, Reorder
from ingest.gateway.track import Track
from tenor.settings import Settings


def frame(number: int) -> Frame:
    return Frame(number, number * 20, b"", 20)


def through(numbers: list[int]) -> list[int]:
    reorder = Reorder()
    out = [passed.number for number in numbers for passed in reorder.push(frame(number))]
    return out + [passed.number for passed in reorder.flush()]


def test_order_is_kept_and_restored() -> None:
    assert through([1, 2, 3]) == [1, 2, 3]
    assert through([2, 1, 4, 3, 3, 1, 5]) == [1, 2, 3, 4, 5]
    assert through([0, 1, 2]) == [0, 1, 2]


def test_in_order_nothing_waits() -> None:
    reorder = Reorder()
    assert [len(reorder.push(frame(number))) for number in range(1, 6)] == [1] * 5


def test_what_is_missing_is_given_up_after_the_window() -> None:
    reorder = Reorder()
    reorder.push(frame(1))
    waits = [len(reorder.push(frame(number))) for number in range(3, 14)]
    assert waits == [0] * 9 + [10, 1]
    assert reorder.push(frame(2)) == []
    assert reorder.dropped == 1


def test_numbers_across_tracks_do_not_delay() -> None:
    reorder = Reorder()
    frames = [Frame(1 + 2 * at, at * 20, b"", 20) for at in range(20)]
    assert [len(reorder.push(each)) for each in frames] == [1] * 20


@given(st.integers(0, 2**32), st.integers(0, 8))
def test_any_small_disorder_is_undone(seed: int, distance: int) -> None:
    shuffled = sorted(range(1, 100), key=lambda number: number + random.Random(seed + number).uniform(0, distance))
    assert through(shuffled) == list(range(1, 100))


@given(st.lists(st.tuples(st.integers(0, 5000), st.integers(1, 900)), max_size=30), st.sampled_from([8000, 11025]))
def test_a_track_is_an_unbroken_line(writes: list[tuple[int, int]], rate: int) -> None:
    track = Track("c", "test", 0, rate, 100, time.time())
    chunks = [chunk for at, size in writes for chunk in track.write(at, b"\1\1" * size)]
    end = track.end
    chunks += track.flush()
    assert [chunk.seq for chunk in chunks] == list(range(len(chunks)))
    assert sum(len(chunk.pcm) for chunk in chunks) == 2 * end
    assert end == max((at + size for at, size in writes), default=0)
    position = 0
    for chunk in chunks:
        assert chunk.start_ms == chunk.seq * 100
        assert position == chunk.start_ms * rate // 1000
        position += len(chunk.pcm) // 2


def test_long_silence_is_light() -> None:
    track = Track("c", "test", 0, 8000, 100, time.time())
    chunks = track.write(8000 * 600, b"\1\1")
    assert len(chunks) == 6000
    assert len({id(chunk.pcm) for chunk in chunks}) == 1


@given(st.text(min_size=1, max_size=300))
def test_ids_are_safe_and_stay_different(theirs: str) -> None:
    name = call_id("twilio", theirs)
    assert len(name) <= 80
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
    assert call_id("twilio", theirs) == name
    assert call_id("twilio", theirs + "/") != name


def test_a_call_without_an_id_is_none() -> None:
    with pytest.raises(Malformed):
        call_id("twilio", "")


@pytest.mark.parametrize(
    ("told", "field", "value"),
    [
        ({"Agent": "kim"}, "agent", "kim"),
        ({"from": "tel:+1555"}, "customer", "+1555"),
        ({"customer": "C7", "from": "+1555"}, "customer", "C7"),
        ({"from": "+1555", "to": "+1800", "x": "y"}, "attributes", {"x": "y"}),
        ({}, "record", True),
        ({"record": "false"}, "record", False),
        ({"record": True}, "record", True),
        ({"record": "perhaps"}, "record", False),
        ({}, "redact", None),
        ({"redact": "text"}, "redact", "text"),
        ({"redact": "yes"}, "redact", "audio"),
        ({"redact": "no"}, "redact", "off"),
        ({"redact": "whatever"}, "redact", "audio"),
        ({"language": None}, "language", "en-US"),
        ({"deep": {"a": 1}, "list": [1]}, "attributes", {"deep": "", "list": ""}),
    ],
)
def test_particulars(told: dict[str, Any], field: str, value: object) -> None:
    assert getattr(particulars(Settings(), "twilio", ("caller",), told, 0.0), field) == value


def test_particulars_are_bounded() -> None:
    told = {f"{number}" * 200: "x" * 10_000 for number in range(10_000)}
    attributes = particulars(Settings(), "twilio", ("caller",), told, 0.0).attributes
    assert len(attributes) <= 50
    assert max(map(len, attributes)) <= 64
    assert max(map(len, attributes.values())) <= 256
