"""Engines that write no marks get them, and everything else of theirs stays."""

from __future__ import annotations

import numpy as np
import pytest

from asr.local.stt.engines.base import DecodeOptions
from asr.local.stt.engines.ctc import CtcEngine
from asr.local.stt.engines.punctuated import PunctuatedEngine
from asr.local.stt.recognizer import LocalRecognizer
from asr.local.stt.types import RecognitionOptions
from nlp.inference.punctuation import shared_punctuator
from tenor.settings import RivaSettings
from tests.asr.local.stt.conftest import recording
from tests.asr.local.stt.engines.tone_model import FOLDER, tones


def test_a_ctc_model_s_words_get_marks_and_keep_their_times() -> None:
    engine = CtcEngine(FOLDER)
    assert not engine.punctuates
    [plain] = engine.decode(tones("hello world"), DecodeOptions())
    [marked] = PunctuatedEngine(engine, shared_punctuator().words).decode(tones("hello world"), DecodeOptions())
    assert [word.text.lower().strip(".,?") for word in marked.words] == [word.text for word in plain.words]
    assert marked.words[0].text.startswith("Hello")
    assert marked.words[-1].text[-1] in ".?"
    times = [[(word.start_ms, word.end_ms, word.confidence) for word in one.words] for one in (plain, marked)]
    assert times[0] == times[1]


@pytest.mark.parametrize("punctuation", [True, False])
async def test_marks_come_only_to_who_asks_for_them(punctuation: bool) -> None:
    recognizer = LocalRecognizer(RivaSettings(threads=1, ctc_path=str(FOLDER)), None, shared_punctuator().words)
    stream = recognizer.open_stream(RecognitionOptions(rate=8000, punctuation=punctuation))
    speech = np.concatenate([recording("two_cities.wav", 20.7, 24.4), np.zeros(8000, np.int16)])
    results = [*await stream.feed(speech), *await stream.finish()]
    stream.close()
    recognizer.close()
    texts = [one.alternatives[0].text for one in results if one.final]
    assert texts  # speech in letters of tones: no words, but written like words
    assert all((text[0].isupper() and text[-1] in ".?") is punctuation for text in texts)
