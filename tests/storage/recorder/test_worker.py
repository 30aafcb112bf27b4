"""Recordings: what was said on each side, where it was said, once; and nothing that should not be kept."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from storage.db.engine import Database
from storage.privacy import tombstones
from storage.recorder.store import RecordingStore, recording_name
from storage.recorder.worker import GROUP, RecordingWorker, open_recording
from storage.writer import replace_call
from tenor.bus import Bus, lag
from tenor.bus.opening import open_bus
from tenor.events import AUDIO, CALLS, TRANSCRIPTS, AudioChunk, CallEnded, CallStarted, Event, Redaction, Transcript
from tenor.settings import Settings
from tests.storage.events import STARTED, info, state
from tests.storage.writing import rows
from tests.watching import until
from tests.worker_rig import at_work

RATE = 8000
HOSTILE = ["../../etc/passwd", "/etc/passwd", "a\\b", "..", ".", "", "x" * 5000, "nul\x01", "com1:", "ключ", "a b?*"]
Samples = NDArray[np.int16]


def noise(seconds: float, seed: int = 1) -> Samples:
    """Never silent."""
    return np.random.default_rng(seed).integers(1, 3000, round(seconds * RATE)).astype(np.int16)


def chunks(call: str, channel: int, sound: Samples, start_ms: int = 0, seq: int = 0, **more: Any) -> Iterator[Event]:
    rate = more.get("rate", RATE)
    for number, at in enumerate(range(0, len(sound), rate // 10)):
        yield AudioChunk(
            call=call,
            channel=channel,
            seq=seq + number,
            start_ms=start_ms + at * 1000 // rate,
            pcm=sound[at : at + rate // 10].astype("<i2").tobytes(),
            captured_at=STARTED,
            **{"rate": RATE, **more},
        )


def final(call: str, channel: int, *spans: tuple[int, int]) -> Transcript:
    return Transcript(
        call=call,
        channel=channel,
        role="caller",
        utterance=f"{call}/{channel}/{spans}",
        start_ms=0,
        end_ms=1,
        text="#### ####",
        final=True,
        redacted=tuple(Redaction(kind="card", start_ms=start, end_ms=end) for start, end in spans),
    )


class Studio:
    """A bus and a database, with a recorder that can be started and stopped."""

    def __init__(self, bus: Bus, settings: Settings, database: Database) -> None:
        self.bus, self.settings, self.database = bus, settings, database

    async def call(self, call: str, *sides: Samples, reason: str = "hangup", **fields: Any) -> None:
        """A whole call, heard to its end."""
        about = info(**{"redact": "off", **fields})
        await self.bus.publish(AUDIO, CallStarted(call=call, info=about))
        await self.bus.publish(CALLS, state(call, "live", info=about))
        for channel, sound in enumerate(sides):
            await self.bus.publish_many(AUDIO, chunks(call, channel, sound))
        await self.end(call, reason)

    async def end(self, call: str, reason: str = "hangup") -> None:
        await self.bus.publish(AUDIO, CallEnded(call=call, reason=reason, at=STARTED + 9))
        await self.bus.publish(CALLS, state(call, "ended", STARTED + 9, reason=reason))

    def recording(self) -> AbstractAsyncContextManager[asyncio.Task[None]]:
        return at_work(RecordingWorker(self.bus, self.settings))

    async def recorded(self, *calls: str, task: asyncio.Task[None] | None = None) -> None:
        """Wait until the recorder is done with the calls, recording or not."""

        def all_done() -> bool:
            kept = rows(self.database, "calls")["calls"]
            return all(call in kept and kept[call]["recorded"] for call in calls)

        await until(all_done, task)

    async def record(self, *calls: str) -> None:
        async with self.recording() as task:
            await self.recorded(*calls, task=task)

    def sound(self, call: str) -> Samples:
        file = open_recording(self.database, self.settings, call)
        assert file is not None
        samples, rate = soundfile.read(io.BytesIO(file.read()), dtype="int16", always_2d=True)
        assert rate == RATE
        return samples  # type: ignore[no-any-return]

    def files(self) -> list[str]:
        folder = Path(self.settings.recordings_url)
        return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


@pytest.fixture
async def studio(database_settings: Settings, database: Database) -> AsyncIterator[Studio]:
    async with open_bus(database_settings) as bus:
        yield Studio(bus, database_settings, database)


async def test_both_sides_side_by_side(studio: Studio) -> None:
    caller, agent = noise(1.25, 1), noise(0.8, 2)
    await studio.call("one", caller, agent)
    await studio.record("one")
    sound = studio.sound("one")
    assert sound.shape == (len(caller), 2)
    assert (sound[:, 0] == caller).all()
    assert (sound[: len(agent), 1] == agent).all()
    assert not sound[len(agent) :, 1].any()
    assert studio.files() == [recording_name("one", "flac")]
    assert list((studio.settings.home / "spool").iterdir()) == []


async def test_a_call_that_is_heard_anew_is_recorded_anew(studio: Studio) -> None:
    await studio.call("one", noise(1.0), noise(1.0))
    await studio.record("one")
    await _anew(studio, redact="audio")
    assert studio.files() == [recording_name("one", "flac")]
    assert not studio.sound("one")[3200:4800, 0].any()
    await _anew(studio, record=False)
    assert studio.files() == []


async def test_killed_before_the_old_recording_is_gone_the_call_is_done_again(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    await studio.call("one", noise(1.0), noise(1.0))
    await studio.record("one")

    def killed(*_: object) -> bool:
        raise LookupError  # no trouble with a disk, so not tried again

    with monkeypatch.context() as patch:
        patch.setattr(RecordingStore, "delete", killed)
        with pytest.raises(LookupError):
            await _anew(studio, record=False)
    await studio.record("one")
    assert studio.files() == []


async def test_hearing_anew_that_fails_leaves_the_recording(studio: Studio) -> None:
    caller = noise(1.0)
    await studio.call("one", caller, noise(1.0))
    await studio.record("one")
    with studio.database.begin() as session:
        replace_call.reopen(session, "one")
    about = info(redact="audio")  # of which nothing could be silenced
    await studio.bus.publish(AUDIO, CallStarted(call="one", info=about))
    await studio.bus.publish_many(AUDIO, chunks("one", 0, caller[:4000]))
    await studio.bus.publish(CALLS, state("one", "live", info=about))
    await studio.bus.publish(CALLS, state("one", "failed", STARTED + 9, reason="no such model"))
    await studio.record("one")
    assert (studio.sound("one")[:, 0] == caller).all()


async def _anew(studio: Studio, **fields: Any) -> None:
    with studio.database.begin() as session:
        replace_call.reopen(session, "one")
    await studio.bus.publish(TRANSCRIPTS, final("one", 0, (400, 600)))
    await studio.call("one", noise(1.0), noise(1.0), **fields)
    await studio.record("one")


async def test_gaps_are_silence_and_what_comes_twice_is_kept_once(studio: Studio) -> None:
    sound = noise(1.0)
    about = info(redact="off")
    await studio.bus.publish(AUDIO, CallStarted(call="one", info=about))
    await studio.bus.publish(CALLS, state("one", "live", info=about))
    first = list(chunks("one", 0, sound[:4000]))
    late = list(chunks("one", 0, sound[4000:], start_ms=2000, seq=5))
    overlapping = AudioChunk(
        call="one", channel=0, seq=99, start_ms=450, rate=RATE, pcm=noise(0.1, 7).tobytes(), captured_at=STARTED
    )
    hostile = [
        *chunks("one", 0, noise(0.1), start_ms=10**13),
        *chunks("one", -1, noise(0.1)),
        *chunks("one", 4000, noise(0.1)),
    ]
    odd = AudioChunk(call="one", channel=0, seq=1, start_ms=0, rate=RATE, pcm=b"odd", captured_at=STARTED)
    again = CallStarted(call="one", info=about)
    await studio.bus.publish_many(AUDIO, [*first, *first[2:], again, overlapping, odd, *hostile, *late, *first, *late])
    await studio.end("one")
    await studio.record("one")
    kept = studio.sound("one")[:, 0]
    assert (kept[:4000] == sound[:4000]).all()
    assert (kept[4000:4400] == noise(0.1, 7)[400:]).all()  # only what lies beyond what was there
    assert not kept[4400:16000].any()
    assert (kept[16000:] == sound[4000:]).all()
    assert len(kept) == 20000


async def test_what_was_redacted_is_silent_before_the_file_is_there(studio: Studio) -> None:
    sound = noise(3.0)
    about = info(redact="audio")
    async with studio.recording() as task:
        await studio.bus.publish(AUDIO, CallStarted(call="one", info=info()))  # its own wish: none; the worker decides
        await studio.bus.publish(CALLS, state("one", "live", info=about))
        for channel in (0, 1):
            await studio.bus.publish_many(AUDIO, chunks("one", channel, sound))
        await studio.bus.publish(TRANSCRIPTS, final("one", 0, (500, 900)))
        await studio.bus.publish(AUDIO, CallEnded(call="one", reason="hangup", at=STARTED))
        await asyncio.sleep(0.6)
        assert studio.files() == []  # the recogniser may still find something
        await studio.bus.publish(TRANSCRIPTS, final("one", 0, (2000, 2500)))
        await studio.bus.publish(CALLS, state("one", "ended", STARTED + 9))
        await studio.recorded("one", task=task)
    kept = studio.sound("one")
    for start, end in ((500, 900), (2000, 2500)):
        assert not kept[start * 8 : end * 8, 0].any()
    assert (kept[1100 * 8 : 1800 * 8, 0] == sound[1100 * 8 : 1800 * 8]).all()
    assert (kept[:, 1] == sound).all()


async def test_text_redaction_leaves_the_recording_alone(studio: Studio) -> None:
    sound = noise(1.0)
    await studio.bus.publish(TRANSCRIPTS, final("one", 0, (100, 900)))
    await studio.call("one", sound, redact="text")
    await studio.record("one")
    assert (studio.sound("one")[:, 0] == sound).all()


async def test_what_may_not_be_kept_is_not(studio: Studio) -> None:
    await studio.call("not to be recorded", noise(0.5), record=False)
    await studio.call("silent")
    about = info(redact="audio")
    await studio.bus.publish(AUDIO, CallStarted(call="never heard", info=about))
    await studio.bus.publish(CALLS, state("never heard", "live", info=about))
    await studio.bus.publish_many(AUDIO, chunks("never heard", 0, noise(0.5)))
    await studio.bus.publish(CALLS, state("never heard", "failed", STARTED + 9, reason="no such model"))
    with studio.database.begin() as session:
        tombstones.mark(session, "erased", STARTED)
    await studio.call("erased", noise(0.5))
    await studio.call("kept", noise(0.5))
    async with studio.recording() as task:
        await studio.recorded("not to be recorded", "silent", "never heard", "kept", task=task)
        await until(lambda: _level(studio), task)
    assert studio.files() == [recording_name("kept", "flac")]
    calls = rows(studio.database, "calls")["calls"]
    assert "erased" not in calls
    assert {call: row["recording"] for call, row in calls.items() if row["recording"]} == {
        "kept": recording_name("kept", "flac")
    }


async def _level(studio: Studio) -> bool:
    return not await lag(studio.bus, [AUDIO, TRANSCRIPTS, CALLS], GROUP)


async def test_a_call_going_on_is_held_and_has_been_read(studio: Studio) -> None:
    about = info(redact="off")
    await studio.bus.publish(AUDIO, CallStarted(call="one", info=about))
    await studio.bus.publish(CALLS, state("one", "live", info=about))
    await studio.bus.publish_many(AUDIO, chunks("one", 0, noise(0.5)))

    async def read() -> bool:
        progress = (await studio.bus.progress([AUDIO, TRANSCRIPTS, CALLS], GROUP)).values()
        return not sum(at.unread for at in progress) and sum(at.lag for at in progress) > 2

    async with studio.recording() as task:
        await until(read, task)
        await studio.end("one")
        await until(lambda: _level(studio), task)


async def test_the_switch_keeps_no_recording_of_any_call(studio: Studio) -> None:
    off = studio.settings.storage.model_copy(update={"record": False})
    on, studio.settings = studio.settings, studio.settings.model_copy(update={"storage": off})
    await studio.call("one", noise(0.5))
    async with studio.recording() as task:
        await until(lambda: _level(studio), task)
    studio.settings = on  # switched on again, it does not go back
    await studio.call("two", noise(0.5))
    await studio.record("two")
    assert studio.files() == [recording_name("two", "flac")]


async def test_a_source_that_broke_is_recorded_as_far_as_it_went(studio: Studio) -> None:
    about = info(redact="audio")
    await studio.bus.publish(AUDIO, CallStarted(call="one", info=about))
    await studio.bus.publish(CALLS, state("one", "live", info=about))
    await studio.bus.publish_many(AUDIO, chunks("one", 0, noise(0.5)))
    await studio.bus.publish(AUDIO, CallEnded(call="one", reason="broken", at=STARTED, failed=True))
    await studio.bus.publish(CALLS, state("one", "failed", STARTED + 1, reason="broken"))
    await studio.record("one")
    assert len(studio.sound("one")) == 4000


async def test_a_call_that_goes_on_after_its_audio_stopped_is_one_recording(studio: Studio) -> None:
    sound = noise(1.0)
    async with studio.recording() as task:
        await studio.call("one", sound[:4000], reason="audio stopped")
        await asyncio.sleep(0.6)
        await studio.bus.publish(CALLS, state("one", "live", STARTED + 60, info=info(redact="off")))
        await studio.bus.publish_many(AUDIO, chunks("one", 0, sound[4000:], start_ms=500))
        await studio.end("one")
        await studio.recorded("one", task=task)
    assert (studio.sound("one")[:, 0] == sound).all()


async def test_opus_and_other_rates(studio: Studio) -> None:
    opus = studio.settings.storage.model_copy(update={"format": "opus"})
    studio.settings = studio.settings.model_copy(update={"storage": opus})
    about = info(redact="off")
    tone = (np.sin(np.arange(22050) / 8) * 8000).astype(np.int16)
    await studio.bus.publish(AUDIO, CallStarted(call="one", info=about))
    await studio.bus.publish(CALLS, state("one", "live", info=about))
    await studio.bus.publish_many(AUDIO, chunks("one", 0, tone[:11025], rate=11025))
    await studio.bus.publish_many(AUDIO, chunks("one", 0, tone, start_ms=1000, seq=50, rate=22050))
    await studio.end("one")
    await studio.record("one")
    file = open_recording(studio.database, studio.settings, "one")
    assert file is not None
    samples, rate = soundfile.read(io.BytesIO(file.read()), always_2d=True)
    assert (rate, samples.shape[1]) == (12000, 2)
    assert abs(len(samples) / rate - 2.0) < 0.05
    assert np.abs(samples[:, 0]).mean() > 0.05


async def test_ids_from_outside_name_no_other_file(studio: Studio) -> None:
    await asyncio.gather(*(studio.call(call, noise(0.2, number)) for number, call in enumerate(HOSTILE)))
    await studio.record(*HOSTILE)
    assert studio.files() == sorted(recording_name(call, "flac") for call in HOSTILE)
    assert len(set(studio.files())) == len(HOSTILE)
    for number, call in enumerate(HOSTILE):
        assert (studio.sound(call)[:, 0] == noise(0.2, number)).all()
    recordings = RecordingStore(studio.settings)
    for name in ("../tenor.db", "..", ""):
        with pytest.raises(FileNotFoundError):
            recordings.open(name)
        assert not recordings.delete(name)
    assert recordings.delete(recording_name("..", "flac"))
    assert open_recording(studio.database, studio.settings, "..") is None
    assert open_recording(studio.database, studio.settings, "no such call") is None


async def test_recordings_go_wherever_fsspec_goes(studio: Studio) -> None:
    memory = studio.settings.storage.model_copy(update={"recordings": "memory://recordings"})
    studio.settings = studio.settings.model_copy(update={"storage": memory})
    await studio.call("one", noise(0.5))
    await studio.record("one")
    assert len(studio.sound("one")) == 4000
    assert RecordingStore(studio.settings).size(recording_name("one", "flac")) > 1000
