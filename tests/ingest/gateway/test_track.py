"""Tracks: one channel of a call as an unbroken line of samples."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from ingest.gateway.track import Track


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
