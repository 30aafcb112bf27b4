"""Windows are made as the server makes them, and the same seed makes the same ones."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from finetune.train.whisper.segments import SpeechSegment
from finetune.train.whisper.windows import JOINT_S, LIVE_S, WindowMix, WindowPlanner


def segment(start_ms: int, ms: int, text: str = "hello", audio: str = "a.wav", channel: int = 0) -> SpeechSegment:
    return SpeechSegment(Path(audio), channel, start_ms, start_ms + ms, text, "train")


@pytest.fixture
def segments() -> list[SpeechSegment]:
    found = []
    for file in range(4):
        for channel in (0, 1):
            found += [
                segment(at * 4000 + channel * 900, 3000, "" if at % 5 == 4 else f"said {at}", f"{file}.wav", channel)
                for at in range(12)
            ]
    return found


def test_every_segment_with_words_is_in_exactly_one_window(segments: list[SpeechSegment]) -> None:
    plans = WindowPlanner(segments, WindowMix(live=0.0, noise_only=0.0)).once()
    heard = sorted(number for plan in plans for number in plan.segments)
    assert heard == [number for number, one in enumerate(segments) if one.text]
    for plan in plans:
        assert len({(segments[number].audio, segments[number].channel) for number in plan.segments}) == 1
        used = sum(piece.end_ms - piece.start_ms + piece.pause_ms for piece in plan.pieces)
        assert used <= JOINT_S * 1000
        assert [*plan.segments] == sorted(plan.segments, key=lambda number: segments[number].start_ms)


def test_what_is_measured_with_is_in_no_window_with_what_is_trained_on(segments: list[SpeechSegment]) -> None:
    mixed = [replace(one, split="val") if number % 3 == 0 else one for number, one in enumerate(segments)]
    plans = WindowPlanner(mixed, WindowMix(live=0.0, noise_only=0.0)).once()
    assert sorted(number for plan in plans for number in plan.segments) == [
        number for number, one in enumerate(mixed) if one.text
    ]
    assert all(len({mixed[number].split for number in plan.segments}) == 1 for plan in plans)


def test_margins_never_reach_into_what_was_said_before_or_after() -> None:
    close = [segment(1000, 1000), segment(2050, 1000), segment(3050, 1000), segment(9000, 500)]
    planner = WindowPlanner(close, WindowMix(live=0.5, noise_only=0.0))
    for plan in [plan for batch in islice(planner.batches(Random(1), 2), 200) for plan in batch]:
        for piece in plan.pieces:
            first, last = close[piece.segments[0]], close[piece.segments[-1]]
            others = [one for number, one in enumerate(close) if number not in piece.segments]
            assert piece.start_ms <= first.start_ms <= last.end_ms <= piece.end_ms
            assert all(one.end_ms <= piece.start_ms or one.start_ms >= piece.end_ms for one in others)
            assert first.start_ms - piece.start_ms <= 320
            assert piece.end_ms - last.end_ms <= 250


def test_a_third_is_heard_as_live_speech_is(segments: list[SpeechSegment]) -> None:
    planner = WindowPlanner(segments, WindowMix(live=1 / 3, noise_only=0.5))
    batches = list(islice(planner.batches(Random(1), 4), 300))
    live = [batch for batch in batches if not batch[0].joint]
    assert 70 < len(live) < 130
    assert {plan.seconds for batch in live for plan in batch} == set(LIVE_S)
    assert all(len({plan.seconds for plan in batch}) == 1 for batch in batches)
    assert max(len(plan.segments) for batch in live for plan in batch) <= 3


def test_the_share_of_segments_without_words_is_what_was_asked(segments: list[SpeechSegment]) -> None:
    def silent(share: float) -> int:
        planner = WindowPlanner(segments, WindowMix(live=0.0, noise_only=share))
        batches = islice(planner.batches(Random(1), 4), 50)
        return sum(not segments[number].text for batch in batches for plan in batch for number in plan.segments)

    assert silent(0.0) == 0
    assert 0.3 < silent(0.5) / silent(1.0) < 0.7


def test_the_same_seed_gives_the_same_windows_and_another_seed_others(segments: list[SpeechSegment]) -> None:
    def batches(seed: int) -> list[object]:
        planner = WindowPlanner(segments, WindowMix(live=0.3, noise_only=0.5))
        return list(islice(planner.batches(Random(seed), 4), 20))

    assert batches(7) == batches(7)
    assert batches(7) != batches(8)
