"""Channels become speakers: two, or one when both sides carry the same; and a call gets its id."""

from __future__ import annotations

import io
import os
import threading
from itertools import pairwise
from pathlib import Path

import fsspec
import numpy as np
import pytest
import soundfile

from ingest.audio.recording import open_recording
from ingest.options import IngestOptions
from ingest.sources import Source, expand
from tenor.errors import BadInput
from tests.ingest.audio.sounds import Sound, encode, two_voices, voice


def file(path: Path, sound: Sound, rate: int = 16_000) -> Source:
    soundfile.write(path, sound, rate)
    return Source("file", str(path))


@pytest.fixture
def stereo(tmp_path: Path) -> Source:
    return file(tmp_path / "call.wav", two_voices(3))


@pytest.fixture
def mono(tmp_path: Path) -> Source:
    return file(tmp_path / "call.wav", voice(3))


def test_left_is_the_caller(stereo: Source) -> None:
    with open_recording(stereo) as recording:
        assert recording.roles == ("caller", "agent")
        block = next(iter(recording))
    assert (block.start_ms, block.end_ms) == (0, 100)
    assert block.pcm == tuple(two_voices(3)[:1600, side].tobytes() for side in (0, 1))


def test_swapped(stereo: Source) -> None:
    with open_recording(stereo, IngestOptions(swap=True)) as recording:
        assert recording.roles == ("agent", "caller")


@pytest.mark.parametrize(
    ("options", "role"),
    [
        (IngestOptions(speakers=1), "caller"),
        (IngestOptions(roles=["speaker"]), "speaker"),
        (IngestOptions(speakers=1, swap=True), "agent"),
        (IngestOptions(channels=[0]), "caller"),
    ],
)
def test_one_speaker_on_a_channel_is_the_first_role(mono: Source, options: IngestOptions, role: str) -> None:
    with open_recording(mono, options) as recording:
        info = recording.info(0.0)
        assert (info.roles, info.speakers) == ((role,), ())
        assert len(next(iter(recording)).pcm) == 1


@pytest.mark.parametrize(("swap", "roles"), [(False, ("caller", "agent")), (True, ("agent", "caller"))])
def test_both_roles_share_a_single_channel(mono: Source, swap: bool, roles: tuple[str, ...]) -> None:
    with open_recording(mono, IngestOptions(swap=swap)) as recording:
        info = recording.info(0.0)
        assert (info.roles, info.speakers) == (roles, roles)
        assert len(next(iter(recording)).pcm) == 1


@pytest.mark.parametrize("speakers", [0, 3])
def test_more_than_two_are_not_told_apart(speakers: int) -> None:
    with pytest.raises(BadInput, match="speakers cannot be told apart"):
        IngestOptions(speakers=speakers)


@pytest.mark.parametrize("roles", [[], [""], ["caller", " "], ["caller", "caller"]])
def test_role_lists_nobody_means(roles: list[str]) -> None:
    with pytest.raises(BadInput, match="role"):
        IngestOptions(roles=roles)


@pytest.mark.parametrize(
    ("roles", "message"), [(["a", "b", "c"], "3 roles for 2 channels"), (["a"], "1 role for 2 channels")]
)
def test_roles_that_do_not_fit(stereo: Source, roles: list[str], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        open_recording(stereo, IngestOptions(roles=roles))


def test_three_speakers(tmp_path: Path) -> None:
    sound = np.stack([voice(1, seed=seed) for seed in range(4)], axis=1)
    source = file(tmp_path / "room.wav", sound)
    with open_recording(source, IngestOptions(roles=["a", "b", "c"])) as recording:
        assert recording.roles == ("a", "b", "c")
        assert len(recording.columns) == 3


@pytest.mark.parametrize("channels", [[], [-1], [0, 0]])
def test_channels_nobody_means(channels: list[int]) -> None:
    with pytest.raises(BadInput, match="channels"):
        IngestOptions(channels=channels)


def test_a_channel_that_is_not_there(stereo: Source) -> None:
    with pytest.raises(BadInput, match="no channel 2"):
        open_recording(stereo, IngestOptions(channels=[0, 2]))


SAME = "both channels carry the same; heard as one channel"


@pytest.mark.parametrize(
    ("name", "codec"),
    [("call.flac", "flac"), ("call.mp3", "libmp3lame"), ("call.opus", "libopus"), ("call.m4a", "aac")],
)
def test_the_same_on_both_sides_is_one_speaker(tmp_path: Path, name: str, codec: str) -> None:
    both = np.repeat(voice(3, 48_000)[:, None], 2, axis=1)
    encode(tmp_path / name, both, 48_000, codec)
    with open_recording(Source("file", str(tmp_path / name))) as recording:
        assert len(recording.columns) == 1
        assert SAME in recording.warnings
        assert sum(len(block.pcm[0]) for block in recording) > 2 * 48_000 * 2.9  # what was looked at is not lost


def test_the_same_with_other_noise_is_one_speaker(tmp_path: Path) -> None:
    noise = np.random.default_rng(5).normal(0, 60, (48_000, 2))
    both = (np.repeat(voice(3)[:, None], 2, axis=1) + noise).astype(np.int16)
    with open_recording(file(tmp_path / "call.wav", both)) as recording:
        assert SAME in recording.warnings


def test_an_echo_on_the_other_side_is_still_two_speakers(tmp_path: Path) -> None:
    caller, agent = voice(3, seed=1), voice(3, seed=2)
    agent[:32_000] = 0  # two seconds of the caller alone, half as loud on the agent's side
    echo = np.stack([caller, agent + caller // 2], axis=1)
    with open_recording(file(tmp_path / "call.wav", echo)) as recording:
        assert recording.roles == ("caller", "agent")


def test_a_silent_beginning_is_looked_past(tmp_path: Path) -> None:
    silence = np.zeros((20 * 16_000, 2), np.int16)
    same = np.repeat(voice(3)[:, None], 2, axis=1)
    with open_recording(file(tmp_path / "same.wav", np.concatenate([silence, same]))) as recording:
        assert len(recording.columns) == 1
        assert sum(len(block.pcm[0]) for block in recording) == 23 * 16_000 * 2
    with open_recording(file(tmp_path / "two.wav", np.concatenate([silence, two_voices(3)]))) as recording:
        assert recording.roles == ("caller", "agent")


def test_silence_alone_is_two_speakers(tmp_path: Path) -> None:
    with open_recording(file(tmp_path / "call.wav", np.zeros((48_000, 2), np.int16))) as recording:
        assert recording.roles == ("caller", "agent")


def test_one_can_say_so(tmp_path: Path, stereo: Source) -> None:
    same = file(tmp_path / "same.wav", np.repeat(voice(3)[:, None], 2, axis=1))
    with open_recording(same, IngestOptions(split=True)) as recording:
        assert recording.roles == ("caller", "agent")
    with open_recording(stereo, IngestOptions(split=False)) as recording:
        assert len(recording.columns) == 1


@pytest.mark.parametrize("chunk_ms", [20, 100, 1000])
def test_blocks_follow_each_other(tmp_path: Path, chunk_ms: int) -> None:
    source = file(tmp_path / "call.wav", two_voices(2.345, 11_025), 11_025)
    with open_recording(source, IngestOptions(chunk_ms=chunk_ms)) as recording:
        blocks = list(recording)
    assert blocks[0].start_ms == 0
    assert all(before.end_ms == after.start_ms for before, after in pairwise(blocks))
    assert abs(blocks[-1].end_ms - 2345) <= 1
    assert b"".join(block.pcm[1] for block in blocks) == two_voices(2.345, 11_025)[:, 1].tobytes()


def test_the_id_is_made_from_content(tmp_path: Path) -> None:
    def call(source: Source) -> str:
        with open_recording(source) as recording:
            return recording.call

    (tmp_path / "monday").mkdir()
    first, again = file(tmp_path / "Call 1 (é).wav", two_voices(1)), file(tmp_path / "x.wav", two_voices(1))
    other = file(tmp_path / "monday" / "Call 1 (é).wav", two_voices(2))
    assert call(first).startswith("file-Call-1-")
    assert call(first) == call(first)
    assert call(first).rsplit("-", 1)[1] == call(again).rsplit("-", 1)[1]
    assert call(first) != call(other)


def test_an_id_of_ones_own(stereo: Source) -> None:
    with open_recording(stereo, IngestOptions(call="CA-17")) as recording:
        assert recording.call == "CA-17"
    for bad in ("a/b", " ", "-x", "x" * 129, "a\nb"):
        with pytest.raises(BadInput, match="cannot be the id"):
            IngestOptions(call=bad)


def test_a_named_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    data = io.BytesIO()
    soundfile.write(data, two_voices(3), 16_000, format="WAV")
    writer = threading.Thread(target=pipe.write_bytes, args=(data.getvalue(),))
    writer.start()
    (source,) = expand([str(pipe)])
    with open_recording(source) as recording:
        assert recording.call.startswith("stdin-")
        assert recording.roles == ("caller", "agent")
        assert b"".join(block.pcm[0] for block in recording) == two_voices(3)[:, 0].tobytes()
    writer.join()


@pytest.mark.parametrize("decoder", ["auto", "ffmpeg"])
def test_an_address(decoder: str) -> None:
    data = io.BytesIO()
    soundfile.write(data, two_voices(3), 16_000, format="FLAC")
    memory = fsspec.filesystem("memory")
    memory.pipe("/calls/one.flac", data.getvalue())
    (source,) = expand(["memory://calls/one.flac"])
    with open_recording(source, IngestOptions(decoder="auto" if decoder == "auto" else "ffmpeg")) as recording:
        assert recording.call.startswith("file-one-")
        assert b"".join(block.pcm[0] for block in recording) == two_voices(3)[:, 0].tobytes()
    memory.rm("/calls/one.flac")
