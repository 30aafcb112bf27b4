"""A recording is a call on the bus: started, its audio in order, ended, whatever happens."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import soundfile

from ingest.audio.publisher import BATCH, publish_recording, publish_recordings
from ingest.audio.recording import Recording, open_recording
from ingest.options import IngestOptions
from ingest.sources import Source, expand
from tenor.bus import Bus
from tenor.errors import BadInput, Unavailable
from tenor.events import AUDIO, AudioChunk, CallEnded, CallStarted, Event, Topic
from tests.ingest.audio.listener import Listener
from tests.ingest.audio.sounds import encode, two_voices, voice


def file(path: Path, seconds: float = 3.05) -> Source:
    soundfile.write(path, two_voices(seconds), 16_000)
    return Source("file", str(path))


async def test_what_lies_on_the_bus(tmp_path: Path) -> None:
    listener = Listener()
    options = IngestOptions(
        site="Leeds",
        queue="returns",
        agent="A7",
        customer="C9",
        language="en-GB",
        record=False,
        redact="text",
        attributes={"campaign": "spring"},
    )
    source = file(tmp_path / "call.wav")
    published = await publish_recording(listener.bus, open_recording(source, options))

    info = listener.started.info
    assert (info.source, info.roles, info.rate) == ("file", ("caller", "agent"), 16_000)
    assert (info.site, info.queue, info.agent, info.customer) == ("Leeds", "returns", "A7", "C9")
    assert (info.language, info.record, info.redact) == ("en-GB", False, "text")
    assert info.attributes == {
        "file": "call.wav",
        "codec": "pcm_s16le",
        "channels": "front left, front right",
        "sha256": source.digest(),
        "campaign": "spring",
    }
    for channel in (0, 1):
        chunks = listener.chunks(channel)
        assert [chunk.seq for chunk in chunks] == list(range(31))
        assert [chunk.start_ms for chunk in chunks] == list(range(0, 3100, 100))
        assert listener.pcm(channel) == two_voices(3.05)[:, channel].tobytes()
    assert (listener.ended.reason, listener.ended.failed) == ("end of file", False)
    assert {event.call for event in listener.events} == {published.call}
    assert (published.chunks, published.heard_ms, published.reason) == (62, 3050, "end of file")


async def test_warnings_travel_with_the_call(tmp_path: Path) -> None:
    listener = Listener()
    path = encode(tmp_path / "call.mp3", two_voices(6), 16_000, "libmp3lame")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    published = await publish_recording(listener.bus, open_recording(Source("file", str(path))))
    assert listener.started.info.attributes["warnings"].startswith("mp3 is lossy")
    assert [text.split()[0] for text in published.warnings] == ["mp3", "incomplete:"]


async def test_full_speed_publishes_in_bounded_batches(tmp_path: Path) -> None:
    listener = Listener()
    await publish_recording(listener.bus, open_recording(file(tmp_path / "call.wav", 30)))
    assert listener.publications == [1, *[2 * BATCH] * 6, 1]
    assert {chunk.captured_at for chunk in listener.chunks(0)} == {0.0}  # nobody waits for it: it is in no latency


@pytest.mark.parametrize("pace", [10.0, 40.0])
async def test_paced_audio_comes_when_it_would_have_been_spoken(tmp_path: Path, pace: float) -> None:
    listener = Listener()
    await publish_recording(listener.bus, open_recording(file(tmp_path / "call.wav", 4)), pace=pace)
    started_at = listener.started.info.started_at
    for event, came_at in zip(listener.events, listener.came_at, strict=True):
        if isinstance(event, AudioChunk):
            assert event.captured_at == pytest.approx(started_at + (event.start_ms + 100) / 1000 / pace)
            assert came_at >= event.captured_at - 0.002  # never before it was spoken


@pytest.mark.parametrize("pace", [0.0, -1.0, float("nan")])
async def test_paces_that_never_end(tmp_path: Path, pace: float) -> None:
    with pytest.raises(BadInput, match="pace"):
        await publish_recording(Listener().bus, open_recording(file(tmp_path / "call.wav")), pace=pace)


async def test_a_call_that_was_erased_does_not_come_near_the_bus(tmp_path: Path) -> None:
    listener = Listener()
    erased = BadInput("it was erased")
    (outcome,) = await publish_recordings(listener.bus, [file(tmp_path / "call.wav")], known=lambda call: erased)
    assert (outcome.error, listener.events) == (erased, [])


async def test_progress(tmp_path: Path) -> None:
    told: list[int] = []

    def progress(recording: Recording, heard_ms: int) -> None:
        assert recording.duration_ms == 4000
        told.append(heard_ms)

    await publish_recording(Listener().bus, open_recording(file(tmp_path / "call.wav", 4)), pace=50, progress=progress)
    assert told == list(range(100, 4001, 100))


async def test_stopped_in_the_middle_the_call_is_ended(tmp_path: Path) -> None:
    listener = Listener()
    task = asyncio.create_task(publish_recording(listener.bus, open_recording(file(tmp_path / "call.wav", 20)), pace=1))
    await listener.heard.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (listener.ended.reason, listener.ended.failed) == ("stopped", False)
    assert 0 < len(listener.chunks()) < 200


class Failing(io.BytesIO):
    def read(self, size: int | None = -1) -> bytes:
        if self.tell() > 600_000:
            raise OSError(5, "Input/output error")
        return super().read(size)


async def test_a_source_that_breaks_ends_the_call_as_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = file(tmp_path / "call.wav", 20)
    data = Path(source.location).read_bytes()
    recordings = []
    with monkeypatch.context() as patch:
        patch.setattr(Source, "digest", lambda self: "0" * 64)
        patch.setattr(Source, "open", lambda self: Failing(data))
        recordings.append(open_recording(source))
    listener = Listener()
    published = await publish_recording(listener.bus, recordings[0])
    assert listener.ended.failed
    assert listener.ended.reason == "call.wav cannot be read on: Input/output error"
    assert 8_000 < published.heard_ms < 10_000
    assert two_voices(20)[:, 0].tobytes().startswith(listener.pcm())


class AwayBus(Listener):
    async def publish_many(self, topic: Topic, events: object) -> list[object]:  # type: ignore[override]
        raise Unavailable("the bus is away")

    async def publish(self, topic: Topic, event: Event) -> object:  # type: ignore[override]
        raise Unavailable("the bus is away")


async def test_a_bus_that_is_away_is_said_plainly(tmp_path: Path) -> None:
    sources = [file(tmp_path / "a.wav", 1), file(tmp_path / "b.wav", 2)]
    with pytest.raises(Unavailable, match="the bus is away"):
        await publish_recordings(AwayBus().bus, sources, concurrency=2)


async def test_many_at_once(tmp_path: Path) -> None:
    listener = Listener()
    sources = [file(tmp_path / f"{number}.wav", 2 + number) for number in range(4)]
    opened: list[str] = []
    outcomes = await publish_recordings(
        listener.bus, sources, pace=30, concurrency=3, opened=lambda recording: opened.append(recording.name)
    )
    assert [outcome.source for outcome in outcomes] == sources
    assert [outcome.published and outcome.published.heard_ms for outcome in outcomes] == [2000, 3000, 4000, 5000]
    assert sorted(opened) == ["0.wav", "1.wav", "2.wav", "3.wav"]
    live = highest = 0
    for event in listener.events:
        live += isinstance(event, CallStarted) - isinstance(event, CallEnded)
        highest = max(highest, live)
    assert highest == 3


async def test_one_that_cannot_be_heard_does_not_stop_the_others(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_text("no audio at all")
    good = file(tmp_path / "b.wav", 1)
    same = file(tmp_path / "deep.wav", 1)
    (tmp_path / "deep").mkdir()
    os.rename(same.location, tmp_path / "deep" / "b.wav")  # the same call in another folder
    listener = Listener()
    bad, published, again = await publish_recordings(listener.bus, expand([str(tmp_path)]))
    assert isinstance(bad.error, BadInput)
    assert published.source.name == good.name
    assert published.published
    assert "already" in str(again.error)
    assert len([event for event in listener.events if isinstance(event, CallEnded)]) == 1


async def test_one_id_for_several_is_refused(tmp_path: Path) -> None:
    sources = [file(tmp_path / "a.wav", 1), file(tmp_path / "b.wav", 2)]
    with pytest.raises(BadInput, match="one call id"):
        await publish_recordings(Listener().bus, sources, IngestOptions(call="X"))


async def test_the_real_bus(bus: Bus, tmp_path: Path) -> None:
    soundfile.write(tmp_path / "call.flac", np.stack([voice(12), voice(12, seed=3)], axis=1), 16_000)
    published = await publish_recording(bus, open_recording(Source("file", str(tmp_path / "call.flac"))))
    events: list[Event] = []
    async with bus.follower([AUDIO], from_start=True) as follower:
        while not (events and isinstance(events[-1], CallEnded)):
            events += [AUDIO.decode(record.value) for record in await follower.poll()]
    chunks = [event for event in events if isinstance(event, AudioChunk)]
    assert len(chunks) == published.chunks == 240
    assert b"".join(chunk.pcm for chunk in chunks if chunk.channel == 1) == voice(12, seed=3).tobytes()
    assert all(a.start_ms <= b.start_ms for a, b in pairwise(chunks))


STDIN = """
import asyncio, sys
from ingest.audio.publisher import publish_recordings
from ingest.sources import expand
from tests.ingest.audio.listener import Listener

async def main():
    listener = Listener()
    def progress(recording, heard_ms):
        print("heard", heard_ms, flush=True)
    try:
        await publish_recordings(listener.bus, expand(["-"]), progress=progress)
    finally:
        print(listener.ended.reason, len(listener.chunks()), flush=True)

try:
    asyncio.run(main())
except KeyboardInterrupt:
    sys.exit(130)
"""


def from_stdin() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", STDIN], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def wav(seconds: float) -> bytes:
    data = io.BytesIO()
    soundfile.write(data, two_voices(seconds), 16_000, format="WAV")
    return data.getvalue()


def test_stdin() -> None:
    out, _ = from_stdin().communicate(wav(5))
    lines = out.decode().splitlines()
    assert "heard 5000" in lines
    assert lines[-1] == "end of file 50"


def test_a_silent_stdin_does_not_keep_the_program_from_stopping() -> None:
    process = from_stdin()
    assert process.stdin
    assert process.stdout
    with process:
        process.stdin.write(wav(20)[: 10 * 64_000])
        process.stdin.flush()
        for line in process.stdout:
            if line.startswith(b"heard 9"):
                break
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read().decode().splitlines()
        assert rest[-1].startswith("stopped ")
        assert process.wait() == 130
