"""Which engine hears a stream whose client names no model."""

from __future__ import annotations

import pytest

from asr.local.stt.engines.whisper_folder import packaged_folder
from asr.local.stt.recognizer import LocalRecognizer
from asr.local.stt.types import RecognitionOptions
from tenor.settings import RivaSettings


def engines(recognizer: LocalRecognizer, *rates: int) -> list[str]:
    names = []
    for rate in rates:
        stream = recognizer.open_stream(RecognitionOptions(rate=rate))
        names.append(stream._engine.name)
        stream.close()
    recognizer.close()
    return names


@pytest.mark.slow
def test_telephone_audio_is_heard_by_the_telephone_model() -> None:
    recognizer = LocalRecognizer(RivaSettings(threads=1))
    assert {engine.name: engine.rate for engine in recognizer.engines}["whisper-telephone"] == 8000
    assert engines(recognizer, 8000, 16_000, 48_000) == ["whisper-telephone", "whisper-tiny", "whisper-tiny"]


@pytest.mark.slow
def test_with_a_recogniser_of_ones_own_there_is_one_for_all() -> None:
    own = RivaSettings(threads=1, whisper_path=str(packaged_folder()))
    assert engines(LocalRecognizer(own), 8000) == ["whisper-tiny"]
