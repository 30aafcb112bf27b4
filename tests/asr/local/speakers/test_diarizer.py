"""Who speaks in a sample call of two synthetic voices, mixed to one channel."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import soundfile

from asr.local.speakers.diarizer import Diarizer, SpeakerTurn, with_speakers
from asr.local.speakers.encoder import VoiceEncoder
from asr.local.stt.engines.base import RATE, Audio
from asr.local.stt.types import RecognizedWord

CALL = Path(__file__).parents[4] / "examples" / "calls" / "lost-card.ogg"
AGENT, CALLER = 1, 2
SPOKEN = [
    ((800, 3488), AGENT),
    ((4032, 5248), AGENT),
    ((5728, 10976), CALLER),
    ((11456, 12992), AGENT),
    ((13568, 16768), AGENT),
    ((19616, 27776), CALLER),
    ((28416, 29056), AGENT),
]
"""Utterances of the call, and who speaks."""
ONE_AFTER_THE_OTHER = (44064, 49856)
"""The agent, the caller from 45.7 to 48.1 s, and the agent again, without a pause to cut at."""


@pytest.fixture(scope="module")
def encoder() -> VoiceEncoder:
    return VoiceEncoder()


@pytest.fixture(scope="module")
def mono() -> Audio:
    samples, rate = soundfile.read(CALL, dtype="float32")
    assert rate == RATE
    mixed: Audio = samples.sum(axis=1)
    return mixed


def listen(diarizer: Diarizer, mono: Audio, speech_ms: tuple[int, int]) -> None:
    start, end = speech_ms[0] - 300, speech_ms[1] + 100
    diarizer.listen(mono[start * RATE // 1000 : end * RATE // 1000], start, speech_ms)


def speakers(turns: Sequence[SpeakerTurn]) -> list[int]:
    return [turn.speaker for turn in turns]


def test_utterances_are_told_apart_as_they_come(encoder: VoiceEncoder, mono: Audio) -> None:
    diarizer = Diarizer(encoder, 2)
    for speech_ms, speaker in SPOKEN:
        listen(diarizer, mono, speech_ms)
        assert {start: speakers(turns) for start, turns in diarizer.tell().items()} == {speech_ms[0]: [speaker]}


def test_an_utterance_of_both_is_cut_where_the_voice_changes(encoder: VoiceEncoder, mono: Audio) -> None:
    diarizer = Diarizer(encoder, 2)
    for speech_ms, _ in [*SPOKEN, (ONE_AFTER_THE_OTHER, 0)]:
        listen(diarizer, mono, speech_ms)
    turns = diarizer.tell()[ONE_AFTER_THE_OTHER[0]]
    assert speakers(turns) == [AGENT, CALLER, AGENT]
    assert [turn.end_ms for turn in turns[:-1]] == pytest.approx([45_700, 48_100], abs=800)


def test_more_may_be_asked_for_than_there_are(encoder: VoiceEncoder, mono: Audio) -> None:
    diarizer = Diarizer(encoder, 8)
    for speech_ms, _ in SPOKEN:
        listen(diarizer, mono, speech_ms)
    told = diarizer.tell()
    assert [speakers(told[start]) for (start, _), _ in SPOKEN] == [[speaker] for _, speaker in SPOKEN]


def test_a_voice_alone_is_one_speaker(encoder: VoiceEncoder, mono: Audio) -> None:
    diarizer = Diarizer(encoder, 2)
    for speech_ms, speaker in SPOKEN:
        if speaker == AGENT:
            listen(diarizer, mono, speech_ms)
    assert {speaker for turns in diarizer.tell().values() for speaker in speakers(turns)} == {1}


def test_words_change_the_speaker_after_a_sentence_or_in_a_pause() -> None:
    words = [
        RecognizedWord(text, start, start + 200, 1.0)
        for text, start in [("Your", 0), ("money", 200), ("is", 400), ("safe.", 600), ("That", 1000), ("was", 1200)]
    ]
    for near_ms in (500, 900, 1300):
        told = with_speakers(words, [SpeakerTurn(near_ms, 1), SpeakerTurn(1400, 2)])
        assert [word.speaker for word in told] == [1, 1, 1, 1, 2, 2]


def test_an_hour_costs_no_more_than_minutes(encoder: VoiceEncoder) -> None:
    diarizer, rng = Diarizer(encoder, 2), np.random.default_rng(1)
    noise = rng.normal(0, 0.1, RATE // 10).astype(np.float32)
    for number in range(300):
        diarizer.listen(noise, number * 1000, (number * 1000, number * 1000 + 100))
        if number % 100 == 99:
            diarizer.tell()
    assert len(diarizer._stretches) <= 256
