"""The pieces of playback by themselves: sentences, keys, sound, pace, words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from ingest.gateway.playback.clip import Clip
from ingest.gateway.playback.key_tones import HIGH_HZ, LOW_HZ, KeyTones
from ingest.gateway.playback.keypad import Keypad
from ingest.gateway.playback.pacer import Pacer
from ingest.gateway.playback.sentences import LONGEST, split_sentences
from ingest.gateway.playback.sound_detector import SoundDetector
from tenor.assistant.backchannel import is_backchannel
from tenor.g711 import Samples, decode_ulaw, encode_ulaw
from tests.ingest.gateway.simulators.tones import tone

EXAMPLES = Path(__file__).parents[4] / "examples" / "calls"


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        ("  \n ", []),
        ("Hello", ["Hello"]),
        ("It rains. Take care!  Is that all?", ["It rains.", "Take care!", "Is that all?"]),
        ("It costs $3.49 at 5.30 p.m. today.", ["It costs $3.49 at 5.30 p.m. today."]),
        ("In St. Louis it is 70 degrees. In Mt. Vernon it is not.", [
            "In St. Louis it is 70 degrees.", "In Mt. Vernon it is not.",
        ]),
        ('He said "no." Then he left.', ['He said "no."', "Then he left."]),
        ("No. In Boston it is dry.", ["No.", "In Boston it is dry."]),
        ("...", ["..."]),
    ],
)  # fmt: skip
def test_replies_are_said_sentence_by_sentence(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


@pytest.mark.parametrize("text", ["word " * 1000, "x" * 1000, "a, b; c: " * 200, "😀" * 700])
def test_no_piece_is_too_long_and_nothing_is_lost(text: str) -> None:
    pieces = split_sentences(text)
    assert max(map(len, pieces)) <= LONGEST
    assert "".join("".join(pieces).split()) == "".join(text.split())


@pytest.mark.parametrize("rate", [8000, 16_000])
@pytest.mark.parametrize("key", range(16))
def test_the_sound_of_a_key_is_taken_out_wherever_it_begins(rate: int, key: int) -> None:
    low, high = LOW_HZ[key // 4], HIGH_HZ[key % 4]
    pressed = tone(low, 0.09, rate) + tone(high, 0.09, rate) // 2
    voice, before, after = (
        tone(300, 0.2, rate),
        np.zeros(rate // 20 + 7 * key, np.int16),
        np.zeros(rate // 20, np.int16),
    )
    sound = np.concatenate([voice, before, pressed, after, voice])
    kept = _kept(KeyTones(), rate, decode_ulaw(encode_ulaw(sound)))
    assert len(kept) == len(sound)
    assert kept[: len(voice)].any()
    assert kept[-len(voice) :].any()
    assert np.abs(kept[len(voice) + rate // 50 : -len(voice) - rate // 50]).max() < 10, "nothing of the key is left"


def test_speech_is_kept_as_it_is() -> None:
    speech, rate = soundfile.read(EXAMPLES / "lost-card.ogg", dtype="int16", always_2d=True, frames=60 * 16_000)
    sound = np.ascontiguousarray(speech[:, 0])
    kept = _kept(KeyTones(), rate, sound)
    assert len(kept) == len(sound)
    assert np.mean(kept != sound) < 0.001


def _kept(key_tones: KeyTones, rate: int, sound: Samples) -> Samples:
    """In frames of 30 ms, as no platform sends them."""
    frame, kept = 3 * rate // 100, np.zeros(len(sound), np.int16)
    pieces = [
        piece
        for at in range(0, len(sound), frame)
        for piece in key_tones.take_out(rate, at, sound[at : at + frame].tobytes())
    ]
    for at, pcm in [*pieces, *key_tones.flush()]:
        kept[at : at + len(pcm) // 2] = np.frombuffer(pcm, np.int16)
    return kept


def test_the_keypad_tells_choices_and_not_numbers() -> None:
    clock = Clock()
    keypad = Keypad(clock)
    assert [keypad.tells(digit) for digit in "12345"] == [True, True, True, False, False]
    clock.now += 7
    assert keypad.tells("1")
    assert not keypad.tells("A")
    assert not keypad.tells("")
    assert not Keypad(clock).tells("12")


def test_a_long_number_is_not_told_however_slowly_it_is_typed() -> None:
    clock = Clock()
    keypad = Keypad(clock)
    told = 0
    for digit in "4111111111111111":
        told += keypad.tells(digit)
        clock.now += 1.5
    assert told == 3


def test_sound_is_what_is_louder_than_the_line() -> None:
    detector = SoundDetector()
    noise = (np.random.default_rng(1).normal(0, 100, 8000)).astype(np.int16)
    detector.add(noise.tobytes(), 8000)
    assert detector.sound_ms == 0
    detector.add(tone(440, 0.3).tobytes(), 8000)
    assert detector.sound_ms == pytest.approx(300, abs=20)
    detector.add(noise[:1600].tobytes(), 8000)
    assert detector.sound_ms == 0
    assert detector.quiet_ms == pytest.approx(200, abs=20)


def test_a_noise_that_goes_on_becomes_the_line() -> None:
    detector = SoundDetector()
    hum = tone(100, 1.0)
    for _ in range(20):
        detector.add(hum.tobytes(), 8000)
    assert detector.sound_ms == 0


@pytest.mark.parametrize("size", [1, 159, 160, 161, 5000])
def test_sound_is_found_in_frames_of_any_size(size: int) -> None:
    detector = SoundDetector()
    sound = tone(440, 0.4)
    for at in range(0, len(sound), size):
        detector.add(sound[at : at + size].tobytes(), 8000)
    assert detector.sound_ms == 400


def test_the_pacer_keeps_its_lead_and_knows_what_was_heard() -> None:
    clock = Clock()
    pacer, clip = Pacer(clock), Clip(0, "text")
    sent = 0
    while not pacer.wait_s(0.2):
        pacer.sent(clip, b"x")
        sent += 1
    assert sent == 10
    assert pacer.heard() == []
    clock.now += 0.05
    assert len(pacer.heard()) == 2
    assert len(pacer.clear()) == 1, "the frame that is being heard"
    assert pacer.rest_s == 0
    clock.now += 1
    assert pacer.heard() == []
    pacer.sent(clip, b"x")
    clock.now += 0.03
    assert [frame.follows for frame in pacer.heard()] == [False], "after silence"


@pytest.mark.parametrize("ends", [[100, 200, 300], []])
def test_words_are_heard_when_they_are_over(ends: list[int]) -> None:
    clip = Clip(0, "one two six", pcm=bytearray(16 * 300), word_ends_ms=ends, complete=True)
    clip.heard = 16 * 250
    assert clip.text_heard(8000) == "one two"
    clip.heard = 16 * 300
    assert clip.text_heard(8000) == "one two six"
    clip.again()
    assert clip.text_heard(8000) == ""


def test_words_of_a_clip_that_is_still_being_synthesised_are_estimated() -> None:
    clip = Clip(0, "one two three four", pcm=bytearray(16 * 100))
    clip.heard = 16 * 100
    assert clip.text_heard(8000) == ""


@pytest.mark.parametrize("text", ["mhm", "Okay.", "uh-huh", "Yeah, right.", "I see", "OK OK"])
def test_backchannels(text: str) -> None:
    assert is_backchannel(text)


@pytest.mark.parametrize("text", ["", "...", "no", "stop", "okay stop", "yes I want that one", "okay " * 10, "🙂"])
def test_words_that_want_a_turn(text: str) -> None:
    assert not is_backchannel(text)
