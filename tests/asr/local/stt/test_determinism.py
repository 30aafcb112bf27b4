"""The same audio gives the same results: however it is cut into messages, and wherever a client resumes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from asr.local.ears import LocalEars
from asr.local.hearing import Heard, Hypothesis, Samples
from tests.asr.local.hearing.listening import finals, listen, pieces, ragged, texts

WISHES = {"word_times": True, "clean_points": True}


@pytest.fixture(scope="module")
async def undisturbed(ears: LocalEars, conversation: Samples) -> list[Heard]:
    return await listen(ears, pieces(conversation, 800), **WISHES)


async def test_the_conversation_is_heard(undisturbed: list[Heard]) -> None:
    said = " ".join(texts(undisturbed)).lower()
    assert "everything before us" in said
    assert "ever tried" in said
    assert len(finals(undisturbed)) >= 3
    assert any(not one.final for one in undisturbed), "a clean point in the long silence"


@pytest.mark.parametrize("seed", [1, 2])
async def test_the_size_of_messages_changes_nothing(
    ears: LocalEars, conversation: Samples, undisturbed: list[Heard], seed: int
) -> None:
    assert await listen(ears, ragged(conversation, seed), **WISHES) == undisturbed


async def test_resuming_at_any_clean_point_changes_nothing(
    ears: LocalEars, conversation: Samples, undisturbed: list[Heard]
) -> None:
    for number, point in enumerate(undisturbed):
        rest = conversation[point.processed_ms * 8 :]
        resumed = await listen(ears, pieces(rest, 1111), **WISHES)
        assert [shifted(one, point.processed_ms) for one in resumed] == undisturbed[number + 1 :]


async def test_resuming_at_44_khz(ears: LocalEars) -> None:
    from tests.asr.local.hearing.conftest import recording

    samples = recording("two_cities.wav", 20.7, 28.6, 44_100)
    whole = await listen(ears, pieces(samples, 4410), rate=44_100, **WISHES)
    first = finals(whole)[0]
    rest = samples[first.processed_ms * 44_100 // 1000 :]
    resumed = await listen(ears, pieces(rest, 10_000), rate=44_100, **WISHES)
    assert [shifted(one, first.processed_ms) for one in resumed] == whole[whole.index(first) + 1 :]


def shifted(heard: Heard, by_ms: int) -> Heard:
    def later(hypothesis: Hypothesis) -> Hypothesis:
        words = tuple(
            replace(word, start_ms=word.start_ms + by_ms, end_ms=word.end_ms + by_ms) for word in hypothesis.words
        )
        return replace(hypothesis, words=words)

    return replace(
        heard,
        processed_ms=heard.processed_ms + by_ms,
        speech_ms=(heard.speech_ms[0] + by_ms, heard.speech_ms[1] + by_ms) if heard.final else heard.speech_ms,
        alternatives=tuple(later(hypothesis) for hypothesis in heard.alternatives),
    )
