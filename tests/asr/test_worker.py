"""A call in, its transcripts out."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tenor.bus import Partition, lag
from tenor.events import AUDIO, DEAD, TRANSCRIPTS, AudioChunk, Heard, Transcript
from tenor.stage import READS
from tests.asr.rig import Rig
from tests.asr.scripted_riva import ScriptedRiva, chunks, silence, speak

CALLER = (
    silence(700) + speak("hello i would like to cancel my order") + silence(900) + speak("thanks bye") + silence(1200)
)
AGENT = speak("hello") + silence(3000) + speak("okay sure") + silence(100)


async def test_both_sides_of_a_call_are_written_down(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        await rig.call("c1", CALLER, AGENT)
        ended = await rig.over("c1")
        assert (ended.state, ended.reason) == ("ended", "hangup")
        assert [state.state for state in await rig.states("c1")] == ["live", "ended"]
        assert await rig.texts("c1", 0) == ["hello i would like to cancel my order", "thanks bye"]
        assert await rig.texts("c1", 1) == ["hello", "okay sure"]
        first = (await rig.transcripts("c1", 0))[0]
        assert first.role == "caller"
        assert first.utterance == "c1/0/700"
        assert first.model == "scripted-en-US-asr-online"
        assert (first.start_ms, first.end_ms) == (700, 700 + 8 * 240 - 40)
        assert first.heard_ms == first.end_ms + 500
        assert [word.text for word in first.words][:2] == ["hello", "i"]
        times = first.times
        assert times["captured"] <= times["recognised"] <= times["published"]
        assert times["ended"] <= times["recognised"]


@pytest.mark.parametrize("lead_ms", [0, 300])
async def test_the_wait_for_the_end_lasts_until_the_recogniser_knew_of_it(tmp_path: Path, lead_ms: int) -> None:
    """Where it could go on lies a little earlier, so that the next utterance is whole."""
    async with Rig(tmp_path, ScriptedRiva(clean_lead_ms=lead_ms)) as rig:
        await rig.begin("c1")
        for chunk in chunks("c1", 0, CALLER):
            spoken = 1000 + (chunk.start_ms + 100) / 1000
            await rig.bus.publish(AUDIO, msgspec.structs.replace(chunk, captured_at=spoken))
        await rig.end("c1")
        await rig.over("c1")
        [first, *_] = await rig.transcripts("c1", 0)
        assert first.times["arrived"] - first.times["captured"] == pytest.approx((500 + lead_ms) / 1000, abs=0.11)


async def test_what_nobody_waits_for_is_in_no_latency(tmp_path: Path) -> None:
    """A recording that is put on the bus as fast as it is taken lies there for as long as the recogniser needs."""
    async with Rig(tmp_path) as rig:
        await rig.begin("c1")
        for chunk in chunks("c1", 0, CALLER):
            await rig.bus.publish(AUDIO, msgspec.structs.replace(chunk, captured_at=0.0))
        await rig.end("c1")
        await rig.over("c1")
        for one in await rig.transcripts("c1", 0):
            assert set(one.times) == {"ended", "recognised", "published"}


async def test_text_is_shown_while_it_is_said_under_an_id_of_its_own(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        await rig.call("c1", CALLER)
        await rig.over("c1")
        interims = await rig.transcripts("c1", final=False)
        assert [one.text for one in interims][:3] == ["hello", "hello i", "hello i would"]
        first, second = sorted({one.utterance for one in interims}, key=len)
        assert first.startswith("c1/0/~")
        assert second.startswith("c1/0/~")
        assert all(one.start_ms <= one.end_ms and 0 < one.stability <= 1 for one in interims)


async def test_what_is_being_said_is_held_and_has_been_heard(tmp_path: Path) -> None:
    async with Rig(tmp_path, force_final_s=60.0) as rig:
        await rig.begin("c1")
        await rig.play("c1", speak("hello i would like to"))

        async def heard() -> bool:
            progress = (await rig.bus.progress(READS["asr"], "asr")).values()
            return not sum(at.unread for at in progress) and sum(at.lag for at in progress) >= 5

        await rig.until(heard)
        await rig.end("c1")
        await rig.over("c1")


async def test_without_interims_only_finals_are_published(tmp_path: Path) -> None:
    async with Rig(tmp_path, interim=False) as rig:
        await rig.call("c1", CALLER)
        await rig.over("c1")
        assert await rig.transcripts("c1", final=False) == []
        assert await rig.texts("c1") == ["hello i would like to cancel my order", "thanks bye"]


async def test_the_recogniser_is_asked_for_what_the_settings_say(tmp_path: Path) -> None:
    speech: dict[str, Any] = {
        "model": "scripted",
        "boosted": ["Tenor"],
        "boost": 5.0,
        "diarization": True,
        "stop_history_ms": 400,
        "punctuation": False,
        "verbatim": True,
        "max_utterance_s": 15.0,
        "metadata": {"function-id": "f1"},
    }
    async with Rig(tmp_path, **speech) as rig:
        await rig.call("c1", AGENT)
        await rig.over("c1")
        asked = rig.riva.configs[0]
        config = asked.config
        assert asked.interim_results
        assert (config.sample_rate_hertz, config.language_code, config.model) == (8000, "en-US", "scripted")
        assert config.enable_word_time_offsets
        assert config.verbatim_transcripts
        assert not config.enable_automatic_punctuation
        assert config.diarization_config.enable_speaker_diarization
        assert config.endpointing_config.stop_history == 400
        assert not config.endpointing_config.HasField("stop_history_eou")
        assert [*config.speech_contexts[0].phrases] == ["Tenor"]
        assert config.custom_configuration["max_utterance_ms"] == "15000"
        assert rig.riva.metadata[0]["function-id"] == "f1"


async def test_the_recogniser_is_told_the_words_of_the_call_s_queue(tmp_path: Path) -> None:
    vocabulary = {"cards": ["Harper Valley"], "loans": ["mortgage"]}
    async with Rig(tmp_path, vocabulary=vocabulary) as rig:
        await rig.call("c1", AGENT, queue="cards")
        await rig.over("c1")
        assert [*rig.riva.configs[0].config.speech_contexts[0].phrases] == ["Harper Valley"]


async def test_a_channel_without_a_role_has_its_number(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        await rig.call("c1", AGENT, roles=())
        await rig.over("c1")
        assert (await rig.transcripts("c1"))[0].role == "channel 0"


async def test_a_call_whose_source_broke_ends_as_failed(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        await rig.begin("c1")
        await rig.play("c1", AGENT)
        await rig.end("c1", "connection lost", failed=True)
        state = await rig.over("c1")
        assert (state.state, state.reason) == ("failed", "connection lost")
        assert await rig.texts("c1") == ["hello", "okay sure"]


async def test_a_rate_riva_does_not_take_is_resampled_and_told(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        await rig.call("c1", speak("hello thanks", 192_000) + silence(900, 192_000), rate=192_000)
        ended = await rig.over("c1")
        assert rig.riva.configs[0].config.sample_rate_hertz == 16_000
        assert ended.info is not None
        assert ended.info.attributes["resampled"].endswith("to 16000 Hz")
        assert len(await rig.transcripts("c1")) == 1


async def test_silence_is_noted_so_that_commits_advance(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        await rig.begin("c1")
        await rig.play("c1", silence(30_000))

        async def heard_most() -> bool:
            events = await rig.events(TRANSCRIPTS, "c1")
            return bool(events) and isinstance(events[-1], Heard) and events[-1].heard_ms >= 28_000

        await rig.until(heard_most)
        assert len(await rig.events(TRANSCRIPTS, "c1")) <= 15

        async def committed() -> bool:
            return await lag(rig.bus, [AUDIO], "asr") <= 25

        await rig.until(committed)


async def test_what_comes_twice_late_or_with_holes_keeps_the_clock_right(tmp_path: Path) -> None:
    pcm = silence(1000) + speak("hello") + silence(2760) + speak("thanks") + silence(1000)
    pieces = list(chunks("c1", 0, pcm))
    del pieces[20:30]  # a second of silence is lost
    pieces.insert(15, pieces[14])
    pieces.append(pieces[3])
    async with Rig(tmp_path) as rig:
        await rig.begin("c1")
        await rig.bus.publish_many(AUDIO, pieces)
        await rig.end("c1")
        await rig.over("c1")
        finals = await rig.transcripts("c1")
        assert [(final.text, final.start_ms) for final in finals] == [("hello", 1000), ("thanks", 4000)]


async def test_after_a_long_hole_the_clock_is_right(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        await rig.begin("c1")
        await rig.play("c1", speak("hello"))
        await rig.play("c1", speak("thanks"), first=600)
        await rig.end("c1")
        await rig.over("c1")
        finals = await rig.transcripts("c1")
        assert [(final.text, final.start_ms) for final in finals] == [("hello", 0), ("thanks", 60_000)]
        assert rig.riva.audio_s < 2


async def test_the_rate_may_change_within_a_call(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        await rig.begin("c1")
        await rig.play("c1", speak("hello") + silence(760))
        await rig.play("c1", speak("thanks", 16_000) + silence(760, 16_000), rate=16_000, first=10)
        await rig.end("c1")
        await rig.over("c1")
        finals = await rig.transcripts("c1")
        assert [(final.text, final.start_ms) for final in finals] == [("hello", 0), ("thanks", 1000)]


async def test_what_cannot_be_heard_goes_to_the_dead_and_the_call_goes_on(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        await rig.begin("c1")
        await rig.play("c1", AGENT[: 2 * 8 * 1000])
        bad = {"call": "c1", "channel": 0, "seq": 10, "start_ms": 1000, "rate": 8000, "captured_at": 0.0}
        for fields in (
            {"pcm": b"odd"},
            {"pcm": b"", "channel": 99},
            {"pcm": b"", "rate": 0},
            {"pcm": b"", "start_ms": -1},
        ):
            await rig.bus.publish(AUDIO, AudioChunk(**{**bad, **fields}))  # type: ignore[arg-type]
        await rig.play("c1", AGENT[2 * 8 * 1000 :], first=10)
        await rig.end("c1")
        await rig.over("c1")
        letters = await rig.events(DEAD)
        assert [letter.stage for letter in letters] == ["asr"] * 4
        assert "odd number of bytes" in letters[0].reason
        assert await rig.texts("c1") == ["hello", "okay sure"]


async def test_audio_without_a_beginning_is_still_written_down(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        await rig.play("c1", AGENT)
        await rig.end("c1")
        await rig.over("c1")
        assert await rig.texts("c1") == ["hello", "okay sure"]


async def test_a_call_whose_audio_stops_is_ended_and_goes_on_if_more_comes(tmp_path: Path) -> None:
    async with Rig(tmp_path, watchdog_s=1.0) as rig:
        await rig.begin("c1")
        await rig.play("c1", speak("hello"))
        state = await rig.over("c1")
        assert (state.state, state.reason, state.audio_stopped) == ("ended", "audio stopped", True)
        assert await rig.texts("c1") == ["hello"]
        await rig.play("c1", speak("thanks"), first=3)
        await rig.end("c1")

        async def hung_up() -> bool:
            return (await rig.states("c1"))[-1].reason == "hangup"

        await rig.until(hung_up)
        assert [state.state for state in await rig.states("c1")] == ["live", "ended", "live", "ended"]
        assert await rig.texts("c1") == ["hello", "thanks"]


async def test_two_workers_share_the_calls(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        rig.start()
        await asyncio.sleep(0.5)
        for number in range(8):
            await rig.call(f"c{number}", CALLER, AGENT)
        for number in range(8):
            await rig.over(f"c{number}")
            assert await rig.texts(f"c{number}", 0) == ["hello i would like to cancel my order", "thanks bye"]


@pytest.mark.parametrize("redact", ["off", "text"])
async def test_what_is_to_be_redacted_never_reaches_the_bus(tmp_path: Path, redact: str) -> None:
    number = "four one one one one one one one one one one one one one one one"
    async with Rig(tmp_path, riva=ScriptedRiva()) as rig:
        await rig.call("c1", speak(f"my card number is {number} thanks") + silence(800), redact=redact)
        await rig.over("c1")
        texts = [event.text for event in await rig.events(TRANSCRIPTS, "c1") if not isinstance(event, Heard)]
        shown = any("four one one one" in text for text in texts)
        assert shown == (redact == "off")
        words = " ".join(word.text for word in (await rig.transcripts("c1"))[0].words)
        assert ("one" in words.split()) == (redact == "off")
        if redact == "text":
            assert texts[-1] == "my card number is [card] thanks"


async def test_partitions_of_both_topics_hold_the_same_calls(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        place = await rig.bus.publish(AUDIO, next(iter(chunks("c1", 0, AGENT))))
        await rig.play("c1", AGENT)
        await rig.end("c1")
        await rig.over("c1")
        records = await rig.bus.fetch(Partition(TRANSCRIPTS.name, place.partition), 0)
        assert any(record.key == "c1" for record in records)


async def test_the_patient_say_at_once_which_sides_there_are(tmp_path: Path) -> None:
    """Its words may come minutes after the other side's; without this it would be taken for a side without sound."""
    riva = ScriptedRiva(together=100)
    async with Rig(tmp_path, riva=riva, interim=False, patient=True) as rig:
        await rig.call("c1", CALLER, AGENT)
        await rig.over("c1")
        events = await rig.events(TRANSCRIPTS, "c1")
        assert riva.configs[0].config.custom_configuration["patient"] == "true"
        assert await rig.texts("c1", 1) == ["hello", "okay sure"]
    for channel in (0, 1):
        first = next(event for event in events if event.channel == channel)
        assert isinstance(first, Heard)
        assert first.heard_ms == 0


async def test_what_the_assistant_says_is_not_recognised(tmp_path: Path) -> None:
    """What plays it publishes its transcripts, and a worker that takes over is not misled by them."""
    roles = ("caller", "assistant")
    played = Transcript(
        call="c1", channel=1, role="assistant", utterance="c1/1/0", start_ms=0, end_ms=900, text="Hello there.",
        final=True, heard_ms=900,
    )  # fmt: skip
    async with Rig(tmp_path) as rig:
        await rig.begin("c1", roles=roles)
        await rig.play("c1", CALLER[:16_000], 0)
        await rig.play("c1", AGENT, 1)
        await rig.bus.publish(TRANSCRIPTS, played)
        await rig.until(lambda: rig.riva.opened)
        await rig.stop()
        rig.start()
        await rig.play("c1", CALLER[16_000:], 0, first=10)
        await rig.end("c1")
        assert (await rig.over("c1")).state == "ended"
        assert await rig.texts("c1", 0) == ["hello i would like to cancel my order", "thanks bye"]
        assert await rig.transcripts("c1", 1) == [played]
        assert rig.riva.open == 0


async def test_a_worker_that_ends_in_the_middle_of_calls_leaves_no_task_behind(tmp_path: Path) -> None:
    async with Rig(tmp_path) as rig:
        await rig.begin("c1")
        await rig.until(lambda: rig.states("c1"))
        await rig.stop()
        await asyncio.sleep(0)
        waiting = [task for task in asyncio.all_tasks() if "Event.wait" in repr(task)]
    assert waiting == []
