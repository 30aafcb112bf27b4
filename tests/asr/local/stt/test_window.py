"""Utterances decoded together: each gets its own words back, and none gets lost."""

from __future__ import annotations

import numpy as np
import pytest

from asr.local.stt.engines.base import RATE, Audio, DecodeOptions, EngineHypothesis
from asr.local.stt.recognizer import LocalRecognizer
from asr.local.stt.types import RecognitionOptions, RecognitionResult, RecognizedWord, Samples
from asr.local.stt.vad import FRAME_MS
from asr.local.stt.window import FinishedUtterance, decode_together, fit
from tests.asr.local.stt.stream_driver import finals, pieces, ragged, recognize, texts
from tests.asr.local.stt.test_determinism import shifted

PATIENT = {"word_times": True, "clean_points": True, "patient": True}


class Scripted:
    """Hears a word wherever the sound is not silence; its name is how long it is. Skips what it is told to."""

    name, language, joint_window_s, punctuates = "scripted", "en-US", 28.0, True

    def __init__(self, *, deaf_to: str = "", unsure_of: str = "") -> None:
        self.deaf_to, self.unsure_of = deaf_to, unsure_of
        self.asked: list[float] = []
        self.told: list[tuple[str, ...]] = []

    def decode(self, samples: Audio, options: DecodeOptions) -> list[EngineHypothesis]:
        alone = len(self.asked) > 0
        self.asked.append(len(samples) / RATE)
        self.told.append(options.context)
        edges = np.flatnonzero(np.diff((samples != 0).astype(int), prepend=0, append=0)).reshape(-1, 2)
        words = []
        for start, end in (edges * 1000 // RATE).tolist():
            text = str(end - start)
            if alone or text != self.deaf_to:
                words.append(RecognizedWord(text, start, end, 0.1 if text == self.unsure_of and not alone else 0.9))
        return [EngineHypothesis(tuple(words), 0.9)] if words else []

    def close(self) -> None: ...


def utterance(ms: int, context: tuple[str, ...] = ()) -> FinishedUtterance:
    """A word of so many milliseconds, 100 of silence around it."""
    samples = np.zeros((ms + 200) * RATE // 1000, np.float32)
    samples[RATE // 10 : -RATE // 10] = 0.1
    return FinishedUtterance(
        samples,
        DecodeOptions(word_times=True, speech_ms=(100, ms + 100), context=context),
        0,
        (100, ms + 100),
        ms + 200,
        ms + 200,
    )


def test_each_utterance_gets_its_own_words_with_its_own_times() -> None:
    engine = Scripted()
    found = decode_together(engine, [utterance(ms) for ms in (300, 1200, 400)])
    assert [[(word.text, word.start_ms, word.end_ms) for word in one[0].words] for one in found] == [
        [("300", 100, 400)],
        [("1200", 100, 1300)],
        [("400", 100, 500)],
    ]
    assert len(engine.asked) == 1, "decoded once"


@pytest.mark.parametrize("fault", ["deaf_to", "unsure_of"])
def test_an_utterance_that_was_skipped_or_doubtful_is_decoded_on_its_own(fault: str) -> None:
    engine = Scripted(**{fault: "1200"})
    found = decode_together(engine, [utterance(ms) for ms in (300, 1200, 400)])
    assert [one[0].words[0].text for one in found] == ["300", "1200", "400"]
    assert engine.asked[1:] == [1.4], "only that one"


def test_a_window_has_room_for_pauses_too() -> None:
    assert fit([utterance(9_100)] * 2, 20.0)
    assert not fit([utterance(9_400)] * 2, 20.0)


@pytest.fixture(scope="module")
async def undisturbed(recognizer: LocalRecognizer, conversation: Samples) -> list[RecognitionResult]:
    return await recognize(recognizer, pieces(conversation, 800), **PATIENT)


async def test_a_patient_stream_hears_the_same_utterances(
    recognizer: LocalRecognizer, conversation: Samples, undisturbed: list[RecognitionResult]
) -> None:
    at_once = finals(await recognize(recognizer, pieces(conversation, 800), word_times=True))
    together = finals(undisturbed)
    edges = [[edge for one in heard for edge in one.speech_ms] for heard in (together, at_once)]
    assert edges[0] == pytest.approx(edges[1], abs=FRAME_MS)  # at once, the detector starts a little earlier
    said = " ".join(texts(together)).lower()
    for part in ("everything before us", "direct to heaven", "ever tried"):
        assert part in said
    for one in together:
        words = one.alternatives[0].words
        assert one.speech_ms[0] - 64 <= words[0].start_ms <= words[-1].end_ms <= one.speech_ms[1] + 64


async def test_the_size_of_messages_changes_nothing(
    recognizer: LocalRecognizer, conversation: Samples, undisturbed: list[RecognitionResult]
) -> None:
    assert await recognize(recognizer, ragged(conversation, 3), **PATIENT) == undisturbed


async def test_resuming_in_a_window_gives_all_of_it_again(
    recognizer: LocalRecognizer, conversation: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who resumes where any of these results says gets every utterance behind that place, in the same words."""
    monkeypatch.setattr(recognizer._engines["whisper-telephone"], "joint_window_s", 9.0)
    whole = await recognize(recognizer, pieces(conversation, 800), **PATIENT)
    places = sorted({one.processed_ms for one in whole})
    assert len({one.processed_ms for one in finals(whole)}) > 1, "more than one window"
    for place in places:
        rest = await recognize(recognizer, pieces(conversation[place * 8 :], 1111), **PATIENT)
        resumed = [shifted(one, place) for one in finals(rest)]
        assert [(one.speech_ms, one.alternatives) for one in resumed] == [
            (one.speech_ms, one.alternatives) for one in finals(whole) if one.speech_ms[0] >= place
        ]


def test_what_is_expected_is_told_for_a_shared_window_and_for_an_utterance_on_its_own() -> None:
    engine = Scripted(deaf_to="300")
    decode_together(engine, [utterance(ms, context=("Harper Valley.",)) for ms in (300, 1200)])
    assert engine.told == [("Harper Valley.",)] * 2


async def test_it_does_not_wait_for_ever(
    recognizer: LocalRecognizer, conversation: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("asr.local.stt.stream._PATIENCE_MS", 10_000)
    stream = recognizer.open_stream(RecognitionOptions(rate=8000, patient=True))
    results = await stream.feed(conversation[: 8000 * 17])
    stream.close()
    assert "everything before us" in " ".join(texts(results)).lower(), "during the long silence, not after it"
