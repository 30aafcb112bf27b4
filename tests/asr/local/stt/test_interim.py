"""A live stream is listened to while an interim is being made; a file waits for its interims."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from asr.local.stt.decode_pool import DecodePool
from asr.local.stt.engines.base import Audio, DecodeOptions, EngineHypothesis, estimate_word_times
from asr.local.stt.interim import InterimDecoder
from asr.local.stt.text.formatter import TextFormatter
from asr.local.stt.types import RecognitionOptions
from asr.local.stt.vad import FRAME_MS

SECOND = 1000 // FRAME_MS + 1


class Slow:
    """An engine that answers when it is let."""

    name, language, joint_window_s, punctuates = "slow", "en-US", 0.0, True

    def __init__(self) -> None:
        self.let = threading.Event()

    def decode(self, samples: Audio, options: DecodeOptions) -> list[EngineHypothesis]:
        self.let.wait(10)
        return [EngineHypothesis(estimate_word_times(["so", "far"], 0, 500, 0.5), 0.5)]

    def close(self) -> None: ...


def interim(engine: Slow) -> InterimDecoder:
    return InterimDecoder(engine, DecodePool(1), TextFormatter(RecognitionOptions(rate=8000)))


def sound() -> Audio:
    return np.zeros(16_000, np.float32)


async def test_live_speech_does_not_wait() -> None:
    engine = Slow()
    live = interim(engine)
    assert await live.update(1, sound) == []
    time.sleep(0.6)  # the speaker's time
    assert await live.update(SECOND // 2 + 1, sound) == [], "begun, and not waited for"
    engine.let.set()
    for _ in range(100):
        if told := await live.update(SECOND // 2 + 2, sound):
            break
        time.sleep(0.02)
    assert told == [(0.1, "so far")]


async def test_a_file_gets_all_its_interims(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("asr.local.stt.interim._PATIENCE_S", 10)
    engine = Slow()
    threading.Timer(0.2, engine.let.set).start()
    quick = interim(engine)
    assert await quick.update(1, sound) == []
    assert await quick.update(SECOND, sound) == [(0.1, "so far")], "a second of sound came at once"


async def test_a_call_that_catches_up_does_not_wait_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its sound comes as fast as a file's, and the machine has no time for interims."""
    monkeypatch.setattr("asr.local.stt.interim._PATIENCE_S", 0.05)
    engine = Slow()
    behind = interim(engine)
    assert await behind.update(1, sound) == []
    assert await behind.update(SECOND, sound) == [], "waited for, and not for long"
    monkeypatch.setattr("asr.local.stt.interim._PATIENCE_S", 10)
    assert await behind.update(2 * SECOND, sound) == [], "not waited for again"
    engine.let.set()
    for _ in range(100):
        if told := await behind.update(2 * SECOND + 1, sound):
            break
        time.sleep(0.02)
    assert told == [(0.1, "so far")]
