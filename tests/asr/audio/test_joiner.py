"""However chunks come, the signal is the same from any place it is resumed at."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asr.audio.joiner import FILL_MS, ChunkJoiner
from tenor.events import AudioChunk


def _chunk(seq: int, start_ms: int, pcm: bytes, rate: int = 8000) -> AudioChunk:
    return AudioChunk(call="c", channel=0, seq=seq, start_ms=start_ms, rate=rate, pcm=pcm, captured_at=0.0)


def _signal(ms: int, rate: int = 8000) -> bytes:
    return np.arange(ms * rate // 1000, dtype=np.int16).tobytes()


def _chunks(pcm: bytes, cuts: list[int]) -> list[AudioChunk]:
    """The signal cut at some milliseconds."""
    edges = [0, *sorted(set(cuts)), len(pcm) // 16]
    return [
        _chunk(seq, start, pcm[16 * start : 16 * end])
        for seq, (start, end) in enumerate(pairwise(edges))
        if end > start
    ]


@given(
    cuts=st.lists(st.integers(1, 1999), max_size=20),
    twice=st.lists(st.integers(0, 20), max_size=5),
    resume=st.integers(0, 1999),
)
def test_the_same_signal_from_any_place(cuts: list[int], twice: list[int], resume: int) -> None:
    pcm = _signal(2000)
    chunks = _chunks(pcm, cuts)
    for place in twice:
        if place < len(chunks):
            chunks.insert(place, chunks[place])
    joiner = ChunkJoiner(resume)
    segments = [segment for chunk in chunks if (segment := joiner.join(chunk))]
    assert b"".join(segment.pcm for segment in segments) == pcm[16 * resume :]
    assert segments[0].start_ms == resume
    assert joiner.position_ms == 2000


@given(hole=st.integers(1, FILL_MS), rate=st.sampled_from([8000, 16000, 48000]))
def test_a_hole_is_filled_with_silence(hole: int, rate: int) -> None:
    joiner = ChunkJoiner()
    first = joiner.join(_chunk(0, 0, _signal(100, rate), rate))
    second = joiner.join(_chunk(2, 100 + hole, _signal(100, rate), rate))
    assert first is not None
    assert second is not None
    assert second.start_ms == 100
    assert second.pcm == bytes(2 * (hole * rate // 1000)) + _signal(100, rate)


def test_after_a_long_hole_a_stream_of_its_own_is_needed() -> None:
    joiner = ChunkJoiner()
    joiner.join(_chunk(0, 0, _signal(100)))
    segment = joiner.join(_chunk(1, 101 + FILL_MS, _signal(100)))
    assert segment is not None
    assert segment.fresh
    assert segment.start_ms == 101 + FILL_MS


@pytest.mark.parametrize("drift", [-5, 5])
def test_clocks_that_are_not_exact_do_not_tear_the_signal(drift: int) -> None:
    joiner = ChunkJoiner()
    joiner.join(_chunk(0, 0, _signal(100)))
    segment = joiner.join(_chunk(1, 100 + drift, _signal(100)))
    assert segment is not None
    assert segment.pcm == _signal(100)
