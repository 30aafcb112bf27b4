"""What a stream hears, with the real engines."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import pytest

from asr.local.stt.engines.base import Audio, DecodeOptions, EngineHypothesis
from asr.local.stt.recognizer import LocalRecognizer
from asr.local.stt.types import CLEAN_LEAD_MS, Boost, Busy, Endpointing, RecognitionOptions, Samples
from benchmarks.assistant.noise import sounds
from tenor.settings import AssistantSettings
from tests.asr.local.stt.conftest import RATE, recording
from tests.asr.local.stt.stream_driver import finals, pieces, recognize, texts
from tests.watching import until

SECONDS = np.arange(RATE * 6) / RATE
SPEECHLESS = {
    "silence": np.zeros(RATE * 6),
    "direct current": np.full(RATE * 6, 6000.0),
    "white noise": np.random.default_rng(1).normal(0, 3000, RATE * 6),
    "hum": 6000 * np.sin(2 * np.pi * 50 * SECONDS) + 2000 * np.sin(2 * np.pi * 150 * SECONDS),
    "ringing": 4000 * np.sin(2 * np.pi * 440 * SECONDS) + 4000 * np.sin(2 * np.pi * 480 * SECONDS),
}


@pytest.mark.parametrize("kind", SPEECHLESS)
async def test_no_words_where_nobody_speaks(recognizer: LocalRecognizer, kind: str) -> None:
    results = await recognize(recognizer, pieces(SPEECHLESS[kind].astype(np.int16), 800))
    assert results == []


@pytest.mark.parametrize("kind", [*SPEECHLESS, "music"])
async def test_what_shoppers_are_likely_to_ask_is_not_heard_where_nobody_speaks(
    recognizer: LocalRecognizer, kind: str
) -> None:
    settings = AssistantSettings()
    told = tuple(Boost(phrase, settings.boost) for phrase in settings.boosted)
    sound = SPEECHLESS[kind] if kind in SPEECHLESS else 12_000 * sounds()["music: a melody"][::2]
    assert texts(await recognize(recognizer, pieces(sound.astype(np.int16), 800), boosts=told)) == []


@pytest.mark.parametrize("gain", [0.03, 8.0], ids=["very quiet", "clipped"])
async def test_level_does_not_matter(recognizer: LocalRecognizer, two_sentences: Samples, gain: float) -> None:
    loud = (two_sentences * gain).clip(-32768, 32767).astype(np.int16)
    said = " ".join(texts(await recognize(recognizer, pieces(loud, 8000)))).lower()
    assert "everything before us" in said


@pytest.mark.usefixtures("every_interim")
async def test_interims_grow_and_the_final_replaces_them(recognizer: LocalRecognizer, two_sentences: Samples) -> None:
    results = await recognize(recognizer, pieces(two_sentences, 800), interim=True)
    first_final = next(at for at, one in enumerate(results) if one.final)
    interims = results[:first_final]
    assert len(interims) >= 4
    assert {one.stability for one in interims} == {0.1, 0.9}
    for at, one in enumerate(interims):
        text = one.alternatives[0].text
        assert text == text.lower()
        assert not any(mark in text for mark in ".,?!")
        if one.stability == 0.9:
            assert text.endswith(" ")
            assert interims[at + 1].stability == 0.1, "a stable prefix is followed by its volatile rest"
    assert results[first_final].stability == 0
    processed = [one.processed_ms for one in results]
    assert processed == sorted(processed)


async def test_words_have_times(recognizer: LocalRecognizer, two_sentences: Samples) -> None:
    results = finals(await recognize(recognizer, pieces(two_sentences, 800), word_times=True))
    for one in results:
        best = one.alternatives[0]
        assert " ".join(word.text for word in best.words) == best.text
        edges = [edge for word in best.words for edge in (word.start_ms, word.end_ms)]
        assert edges == sorted(edges)
        assert one.speech_ms[0] - 600 <= edges[0]
        assert one.speech_ms[1] <= edges[-1] <= one.processed_ms
        assert all(0 < word.confidence <= 1 for word in best.words)
        assert 0 < best.confidence <= 1


def side_of_call(name: str, channel: int, start_s: int, end_s: int, rate: int = RATE) -> Samples:
    """A part of one side of a sample call."""
    call = Path(__file__).parents[4] / "examples" / "calls" / f"{name}.ogg"
    with av.open(str(call)) as container:
        resampler = av.AudioResampler("s16p", "stereo", rate)
        parts = [part.to_ndarray() for frame in container.decode(audio=0) for part in resampler.resample(frame)]
    cut: Samples = np.concatenate(parts, axis=1)[channel][start_s * rate : end_s * rate]
    return cut


@pytest.mark.parametrize("patient", [False, True])
async def test_a_sentence_soon_after_another_is_heard_from_before_its_first_word(
    recognizer: LocalRecognizer, patient: bool
) -> None:
    """The agent pauses for half a second, hardly longer than an utterance takes to be over."""
    agent = side_of_call("late-delivery", 1, 69, 75, 16_000)
    results = await recognize(recognizer, pieces(agent, 1600), rate=16_000, patient=patient, clean_points=True)
    said = finals(results)
    assert [text.rstrip(".!").lower() for text in texts(results)] == [
        "i understand",
        "thank you for your patience",
        "goodbye",
    ]
    if not patient:
        for one, following in pairwise(said):
            assert following.speech_ms[0] - one.processed_ms >= CLEAN_LEAD_MS


@pytest.mark.parametrize("patient", [False, True])
async def test_the_last_word_lasts_as_long_as_the_voice(recognizer: LocalRecognizer, patient: bool) -> None:
    """Read out, a number takes longer than its digits let an engine guess: redaction silences all of it."""
    caller = side_of_call("lost-card", 0, 12, 30)
    results = finals(await recognize(recognizer, pieces(caller, 800), word_times=True, patient=patient))
    [read_out] = [one for one in results if "card number is" in one.alternatives[0].text]
    assert read_out.alternatives[0].words[-1].end_ms >= read_out.speech_ms[1]


async def test_no_word_times_unless_asked_and_alternatives(recognizer: LocalRecognizer, two_sentences: Samples) -> None:
    first = finals(await recognize(recognizer, pieces(two_sentences, 8000), alternatives=3))[0]
    assert not any(alternative.words for alternative in first.alternatives)
    spoken = [alternative.text for alternative in first.alternatives]
    assert 1 < len(spoken) <= 3
    assert len(set(spoken)) == len(spoken)
    certainty = [alternative.confidence for alternative in first.alternatives]
    assert certainty == sorted(certainty, reverse=True)


async def test_stop_history_moves_the_final(recognizer: LocalRecognizer, two_sentences: Samples) -> None:
    sentence = np.concatenate([two_sentences[: RATE * 3 + RATE // 2], np.zeros(RATE * 2, dtype=np.int16)])
    arrived = {}
    for history in (400, 1200):
        stream = recognizer.open_stream(RecognitionOptions(rate=RATE, endpointing=Endpointing(stop_history_ms=history)))
        for at, message in enumerate(pieces(sentence, 160)):
            if finals(await stream.feed(message)):
                arrived[history] = at * 20
                break
        stream.close()
    assert 740 <= arrived[1200] - arrived[400] <= 860


async def test_who_goes_on_speaking_is_not_decoded_to_the_end_of_the_pause(
    recognizer: LocalRecognizer, two_sentences: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pause too short to be an end begins a decoding; the engine is told when its words are not wanted any more."""
    engine = recognizer._engines["whisper-telephone"]
    begun: list[DecodeOptions] = []

    def decode(samples: Audio, options: DecodeOptions) -> list[EngineHypothesis]:
        begun.append(options)
        return type(engine).decode(engine, samples, options)

    monkeypatch.setattr(engine, "decode", decode)
    stream = recognizer.open_stream(RecognitionOptions(rate=RATE, endpointing=Endpointing(stop_history_ms=440)))
    await stream.feed(np.concatenate([two_sentences[: RATE * 2], np.zeros(RATE * 3 // 10, dtype=np.int16)]))
    await until(lambda: begun)
    assert begun[0].wanted()
    results = await stream.feed(two_sentences[RATE * 2 : RATE * 7 // 2])
    assert not begun[0].wanted()
    results += await stream.feed(np.zeros(RATE, dtype=np.int16))
    stream.close()
    assert len(finals(results)) == 1


async def test_first_pass_comes_before_the_final(recognizer: LocalRecognizer, two_sentences: Samples) -> None:
    sentence = np.concatenate([two_sentences[: RATE * 3 + RATE // 2], np.zeros(RATE * 2, dtype=np.int16)])
    endpointing = Endpointing(stop_history_ms=1000, stop_history_eou_ms=320)
    results = await recognize(recognizer, pieces(sentence, 800), endpointing=endpointing)
    assert [one.stability for one in results] == [1.0, 0.0]
    assert results[1].processed_ms - results[0].processed_ms == pytest.approx(680 - CLEAN_LEAD_MS, abs=64)
    assert "before us" in results[0].alternatives[0].text


async def test_a_long_utterance_is_cut_and_nothing_is_lost(recognizer: LocalRecognizer) -> None:
    speech = recording("two_cities.wav", 28.9, 38.0)
    endless = Endpointing(max_utterance_ms=6000, stop_history_ms=3000)
    results = finals(await recognize(recognizer, pieces(speech, 800), endpointing=endless))
    assert len(results) >= 2
    assert all(one.processed_ms - one.speech_ms[0] <= 6100 for one in results)
    said = " ".join(texts(results)).lower()
    for part in ("in short", "the period was so far like the present", "insisted on", "being received for good"):
        assert part in said


async def test_end_utterance_finalises_at_once(recognizer: LocalRecognizer, two_sentences: Samples) -> None:
    stream = recognizer.open_stream(RecognitionOptions(rate=RATE))
    assert await stream.end_utterance() == []
    await stream.feed(two_sentences[: RATE * 2])
    forced = await stream.end_utterance()
    assert len(texts(forced)) == 1
    assert forced[0].processed_ms <= 2000
    rest = await stream.feed(two_sentences[RATE * 2 :]) + await stream.finish()
    assert "direct to heaven" in " ".join(texts(rest))
    stream.close()


@pytest.mark.usefixtures("every_interim")
async def test_boosted_phrases_keep_their_casing(recognizer: LocalRecognizer, two_sentences: Samples) -> None:
    boosts = (Boost("Before Us", 10),)
    results = await recognize(recognizer, pieces(two_sentences, 800), boosts=boosts, punctuation=False, interim=True)
    assert "Before Us" in " ".join(texts(results))
    assert any("Before Us" in one.alternatives[0].text for one in results if not one.final)


async def test_suppressed_phrases_do_not_appear(recognizer: LocalRecognizer, two_sentences: Samples) -> None:
    plain = texts(await recognize(recognizer, pieces(two_sentences, 800)))[0]
    assert "nothing" in plain
    suppressed = texts(await recognize(recognizer, pieces(two_sentences, 800), boosts=(Boost("nothing", -10),)))[0]
    assert "nothing" not in suppressed


async def test_the_detector_tells_its_probabilities(recognizer: LocalRecognizer, two_sentences: Samples) -> None:
    results = await recognize(recognizer, pieces(two_sentences, 800), vad_probabilities=True)
    told = [probability for one in results for probability in one.vad]
    assert len(told) == pytest.approx(len(two_sentences) / 256, abs=1)
    assert max(told) > 0.8
    assert min(told) < 0.1


async def test_the_other_engine_can_be_asked_for(recognizer: LocalRecognizer, two_sentences: Samples) -> None:
    assert [engine.name for engine in recognizer.engines] == ["whisper-tiny", "whisper-telephone", "moonshine-tiny"]
    said = texts(await recognize(recognizer, pieces(two_sentences, 8000), engine="moonshine-tiny"))
    assert "before us" in " ".join(said)
    with pytest.raises(KeyError):
        recognizer.open_stream(RecognitionOptions(rate=RATE, engine="parakeet"))


async def test_streams_do_not_hear_each_other(recognizer: LocalRecognizer, two_sentences: Samples) -> None:
    alone = await recognize(recognizer, pieces(two_sentences, 800))
    together = await asyncio.gather(*(recognize(recognizer, pieces(two_sentences, 400 + 100 * at)) for at in range(2)))
    assert all(one == alone for one in together)


async def test_a_stream_too_many_is_refused_and_its_place_comes_back(recognizer: LocalRecognizer) -> None:
    places = [recognizer.open_stream(RecognitionOptions(rate=RATE)) for _ in range(recognizer.max_streams)]
    with pytest.raises(Busy):
        recognizer.open_stream(RecognitionOptions(rate=RATE))
    for place in places:
        place.close()
        place.close()
    assert recognizer.streams == 0


async def test_closing_while_decoding_frees_the_place(recognizer: LocalRecognizer, two_sentences: Samples) -> None:
    stream = recognizer.open_stream(RecognitionOptions(rate=RATE))
    hearing = asyncio.create_task(stream.feed(two_sentences))
    await asyncio.sleep(0.05)
    hearing.cancel()
    stream.close()
    with pytest.raises(asyncio.CancelledError):
        await hearing
    assert recognizer.streams == 0
