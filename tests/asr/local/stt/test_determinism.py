"""The same audio gives the same results: however it is cut into messages, and wherever a client resumes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from asr.local.stt.recognizer import LocalRecognizer
from asr.local.stt.types import Hypothesis, RecognitionResult, Samples
from tests.asr.local.stt.stream_driver import finals, pieces, ragged, recognize, texts

OPTIONS = {"word_times": True, "clean_points": True}


@pytest.fixture(scope="module")
async def undisturbed(recognizer: LocalRecognizer, conversation: Samples) -> list[RecognitionResult]:
    return await recognize(recognizer, pieces(conversation, 800), **OPTIONS)


async def test_the_conversation_is_heard(undisturbed: list[RecognitionResult]) -> None:
    said = " ".join(texts(undisturbed)).lower()
    assert "everything before us" in said
    assert "ever tried" in said
    assert len(finals(undisturbed)) >= 3
    assert any(not one.final for one in undisturbed), "a clean point in the long silence"


@pytest.mark.parametrize("seed", [1, 2])
async def test_the_size_of_messages_changes_nothing(
    recognizer: LocalRecognizer, conversation: Samples, undisturbed: list[RecognitionResult], seed: int
) -> None:
    assert await recognize(recognizer, ragged(conversation, seed), **OPTIONS) == undisturbed


async def test_resuming_at_any_clean_point_changes_nothing(
    recognizer: LocalRecognizer, conversation: Samples, undisturbed: list[RecognitionResult]
) -> None:
    for number, point in enumerate(undisturbed):
        rest = conversation[point.processed_ms * 8 :]
        resumed = await recognize(recognizer, pieces(rest, 1111), **OPTIONS)
        assert [shifted(one, point.processed_ms) for one in resumed] == undisturbed[number + 1 :]


async def test_resuming_at_44_khz(recognizer: LocalRecognizer) -> None:
    from tests.asr.local.stt.conftest import recording

    samples = recording("two_cities.wav", 20.7, 28.6, 44_100)
    whole = await recognize(recognizer, pieces(samples, 4410), rate=44_100, **OPTIONS)
    first = finals(whole)[0]
    rest = samples[first.processed_ms * 44_100 // 1000 :]
    resumed = await recognize(recognizer, pieces(rest, 10_000), rate=44_100, **OPTIONS)
    assert [shifted(one, first.processed_ms) for one in resumed] == whole[whole.index(first) + 1 :]


def shifted(results: RecognitionResult, by_ms: int) -> RecognitionResult:
    def later(hypothesis: Hypothesis) -> Hypothesis:
        words = tuple(
            replace(word, start_ms=word.start_ms + by_ms, end_ms=word.end_ms + by_ms) for word in hypothesis.words
        )
        return replace(hypothesis, words=words)

    return replace(
        results,
        processed_ms=results.processed_ms + by_ms,
        speech_ms=(results.speech_ms[0] + by_ms, results.speech_ms[1] + by_ms) if results.final else results.speech_ms,
        alternatives=tuple(later(hypothesis) for hypothesis in results.alternatives),
    )
