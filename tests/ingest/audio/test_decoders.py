"""Every format gives its samples at its own rate; what is damaged gives what is there, and a warning."""

from __future__ import annotations

import io
import os
import subprocess
import wave
from pathlib import Path

import numpy as np
import pytest
import soundfile

from ingest.audio.ffmpeg_decoder import program
from ingest.audio.recording import Recording, open_recording
from ingest.audio.types import BrokenSource
from ingest.options import IngestOptions
from ingest.sources import Source
from tenor.errors import BadInput
from tests.ingest.audio.sounds import Sound, encode, encode_video, two_voices, voice


def opened(path: Path, **options: object) -> Recording:
    return open_recording(Source("file", str(path)), IngestOptions(**options))  # type: ignore[arg-type]


def heard(recording: Recording) -> Sound:
    """All speakers, one column each."""
    with recording:
        columns = zip(*(block.pcm for block in recording), strict=True)
        return np.stack([np.frombuffer(b"".join(column), np.int16) for column in columns], axis=1)


def alike(first: Sound, second: Sound) -> float:
    """Correlation of what both have."""
    length = min(len(first), len(second))
    return float(np.corrcoef(first[:length].ravel(), second[:length].ravel())[0, 1])


SUBTYPES = {"PCM_16": 0, "PCM_24": 1, "PCM_32": 1, "PCM_U8": 256, "FLOAT": 1, "DOUBLE": 1, "ULAW": 700, "ALAW": 700}


@pytest.mark.parametrize("subtype", SUBTYPES)
def test_wav_of_every_width(tmp_path: Path, subtype: str) -> None:
    sound = two_voices(1.23)
    path = tmp_path / "call.wav"
    soundfile.write(path, sound / 32768, 16_000, subtype=subtype)
    got = heard(opened(path))
    assert got.shape == sound.shape
    assert np.abs(got.astype(int) - sound).max() <= SUBTYPES[subtype]


@pytest.mark.parametrize("rate", [8_000, 11_025, 16_000, 22_050, 44_100, 48_000, 192_000])
def test_rate_is_kept(tmp_path: Path, rate: int) -> None:
    sound = two_voices(0.777, rate)
    path = tmp_path / "call.flac"
    soundfile.write(path, sound, rate)
    recording = opened(path)
    assert recording.format.rate == rate
    assert np.array_equal(heard(recording), sound)


@pytest.mark.parametrize(
    ("name", "codec", "rate"),
    [
        ("call.mp3", "libmp3lame", 44_100),
        ("call.opus", "libopus", 48_000),
        ("call.m4a", "aac", 44_100),
        ("call.aac", "aac", 16_000),
        ("call.mka", "flac", 16_000),
        ("call.aiff", "pcm_s16be", 16_000),
        ("call.au", "pcm_mulaw", 8_000),
        ("call.m4a", "alac", 44_100),
    ],
)
@pytest.mark.parametrize("decoder", ["auto", "ffmpeg"])
def test_formats(tmp_path: Path, name: str, codec: str, rate: int, decoder: str) -> None:
    sound = two_voices(2, rate)
    path = encode(tmp_path / name, sound, rate, codec)
    recording = opened(path, decoder=decoder)
    assert recording.format.rate == rate
    assert recording.roles == ("caller", "agent")
    got = heard(recording)
    assert abs(len(got) - len(sound)) < 0.15 * rate
    if name != "call.aac":  # raw AAC does not tell how much its encoder was late
        assert alike(got, sound) > 0.9


@pytest.mark.parametrize("decoder", ["auto", "ffmpeg"])
def test_a_video_gives_its_audio(tmp_path: Path, decoder: str) -> None:
    path = encode_video(tmp_path / "meeting.mp4", two_voices(2, 44_100), 44_100)
    recording = opened(path, decoder=decoder)
    assert (recording.format.codec, recording.format.rate) == ("aac", 44_100)
    assert abs(len(heard(recording)) - 88_200) < 4_410


def test_a_video_without_sound_is_refused(tmp_path: Path) -> None:
    path = encode_video(tmp_path / "talk.mp4", two_voices(1, 44_100), 44_100)
    silent = tmp_path / "silent.mp4"
    import av

    with av.open(str(path)) as source, av.open(str(silent), "w") as target:
        stream = target.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(source.streams.video[0]):
            if packet.dts is not None:
                packet.stream = stream
                target.mux(packet)
    with pytest.raises(BadInput, match="no audio track"):
        opened(silent)


def test_six_channels_are_named_and_two_are_heard(tmp_path: Path) -> None:
    sound = np.stack([voice(1, seed=number) for number in range(6)], axis=1)
    path = encode(tmp_path / "room.flac", sound, 16_000, "flac", layout="5.1")
    recording = opened(path)
    assert recording.format.channels[:3] == ("front left", "front right", "front center")
    assert any("6 channels" in text and "heard: front left and front right" in text for text in recording.warnings)
    assert np.array_equal(heard(recording), sound[:, :2])
    chosen = opened(path, channels=(2, 0))
    assert not len(chosen.warnings)
    assert np.array_equal(heard(chosen), sound[:, [2, 0]])


@pytest.mark.parametrize("count", [8, 12])
def test_many_channels(tmp_path: Path, count: int) -> None:
    sound = np.stack([voice(1, seed=number) for number in range(count)], axis=1)
    path = tmp_path / "desk.wav"
    soundfile.write(path, sound, 16_000)
    recording = opened(path, channels=(count - 1,))
    assert len(recording.columns) == 1
    assert np.array_equal(heard(recording), sound[:, -1:])


def test_lossy_and_low_rates_are_warned_about_once(tmp_path: Path) -> None:
    path = encode(tmp_path / "call.mp3", two_voices(2, 8_000), 8_000, "libmp3lame")
    recording = opened(path)
    assert [text.split(";")[0] for text in recording.warnings] == ["mp3 is lossy", "8000 Hz"]
    heard(recording)
    assert len(recording.warnings) == 2


def test_a_good_recording_has_no_warnings(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "call.flac", two_voices(2), 16_000)
    recording = opened(tmp_path / "call.flac")
    heard(recording)
    assert not len(recording.warnings)


def test_a_cut_off_mp3_gives_what_is_there(tmp_path: Path) -> None:
    path = encode(tmp_path / "call.mp3", two_voices(20), 16_000, "libmp3lame")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    recording = opened(path)
    assert 9 < len(heard(recording)) / 16_000 < 11
    assert any(text.startswith("incomplete: ") and "of 20.0 s" in text for text in recording.warnings)


@pytest.mark.parametrize("name", ["call.flac", "call.wav"])
def test_other_cut_off_files(tmp_path: Path, name: str) -> None:
    soundfile.write(tmp_path / name, two_voices(10), 16_000)
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[: len(whole) // 2])
    recording = opened(tmp_path / name)
    assert 3 < len(heard(recording)) / 16_000 < 7
    assert any(text.startswith("incomplete: ") for text in recording.warnings)


def test_an_mp3_that_tells_no_length_is_not_called_cut_off(tmp_path: Path) -> None:
    quiet_then_loud = np.concatenate([np.zeros((160_000, 2), np.int16), two_voices(10)])
    path = encode(tmp_path / "call.mp3", quiet_then_loud, 16_000, "libmp3lame", write_xing="0")
    recording = opened(path)
    heard(recording)
    assert [text for text in recording.warnings if "lossy" not in text] == []


@pytest.mark.parametrize(("name", "codec"), [("call.flac", "flac"), ("call.mp3", "libmp3lame")])
def test_a_damaged_middle_is_skipped(tmp_path: Path, name: str, codec: str) -> None:
    path = encode(tmp_path / name, two_voices(20), 16_000, codec)
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 9000] = np.random.default_rng(3).bytes(9000)
    path.write_bytes(data)
    recording = opened(path)
    assert len(heard(recording)) / 16_000 > 14
    assert any("damaged" in text or "incomplete" in text for text in recording.warnings)


def test_samples_that_are_no_numbers_are_silenced(tmp_path: Path) -> None:
    sound = two_voices(1) / 32768
    sound[100:200] = np.nan
    sound[300, 0], sound[301, 1] = np.inf, -np.inf
    path = tmp_path / "call.wav"
    soundfile.write(path, sound, 16_000, subtype="FLOAT")
    recording = opened(path)
    got = heard(recording)
    assert not got[100:200].any()
    assert not got[300:302].diagonal().any()
    assert any("NaN" in text for text in recording.warnings)


def test_floats_beyond_full_scale_are_clipped(tmp_path: Path) -> None:
    sound = two_voices(1) / 2000
    soundfile.write(tmp_path / "call.wav", sound, 16_000, subtype="FLOAT")
    got = heard(opened(tmp_path / "call.wav"))
    assert (got.max(), got.min()) == (32767, -32768)
    assert (np.sign(got) * np.sign(sound) >= 0).all()


def test_a_change_of_format_in_the_middle(tmp_path: Path) -> None:
    first = encode(tmp_path / "1.mp3", two_voices(3, 16_000), 16_000, "libmp3lame").read_bytes()
    second = encode(tmp_path / "2.mp3", voice(3, 24_000), 24_000, "libmp3lame").read_bytes()
    (tmp_path / "both.mp3").write_bytes(first + second)
    recording = opened(tmp_path / "both.mp3")
    assert abs(len(heard(recording)) / 16_000 - 6) < 0.5
    assert any("changes in the middle" in text for text in recording.warnings)


def test_a_file_without_a_number_is_refused(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "call.wav", np.full((16_000, 2), np.nan), 16_000, subtype="FLOAT")
    with pytest.raises(BadInput, match=r"holds no audio: its samples are not numbers"):
        opened(tmp_path / "call.wav")


def test_a_codec_that_the_library_lacks_is_left_to_the_program(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "call.wav", two_voices(2), 16_000)
    path = tmp_path / "call.nut"
    arguments = ["-loglevel", "error", "-i", str(tmp_path / "call.wav"), "-c:a", "sonicls", "-strict", "-2", str(path)]
    subprocess.run([program(), *arguments], check=True)
    recording = opened(path)
    assert recording.format.codec == "sonic"
    assert alike(heard(recording), two_voices(2)) > 0.9


class Failing(io.BytesIO):
    """A disk that goes away, or a store with errors of its own."""

    error: Exception = OSError(5, "Input/output error")

    def read(self, size: int | None = -1) -> bytes:
        if self.tell() > 300_000:
            raise self.error
        return super().read(size)


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), RuntimeError("Input/output error")])
def test_a_source_that_breaks_gives_what_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(Failing, "error", error)
    soundfile.write(tmp_path / "call.wav", two_voices(10), 16_000)
    data = (tmp_path / "call.wav").read_bytes()
    monkeypatch.setattr(Source, "digest", lambda self: "0" * 64)
    monkeypatch.setattr(Source, "open", lambda self: Failing(data))
    with opened(tmp_path / "call.wav") as recording:
        blocks = recording.read(1000)
        assert 4000 < blocks[-1].end_ms < 5500
        with pytest.raises(BrokenSource, match="Input/output error"):
            recording.read(1000)


TEXT = b"This is no audio, but it is quite long.\n" * 500
PLAYLIST = b"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nfile:///etc/hostname\n"


@pytest.mark.parametrize("decoder", ["auto", "ffmpeg"])
@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "is empty"), (TEXT, "is not audio"), (PLAYLIST, "is not audio"), (b"RIFF" + bytes(60), "is not audio")],
)
def test_what_is_no_audio_is_refused(tmp_path: Path, decoder: str, content: bytes, message: str) -> None:
    path = tmp_path / "call.wav"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=rf"call\.wav {message}") as caught:
        opened(path, decoder=decoder)
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("decoder", ["auto", "ffmpeg"])
def test_audio_without_a_sample_is_refused(tmp_path: Path, decoder: str) -> None:
    with wave.open(str(tmp_path / "call.wav"), "wb") as file:
        file.setparams((2, 2, 16_000, 0, "NONE", ""))
    with pytest.raises(BadInput, match="holds no audio"):
        opened(tmp_path / "call.wav", decoder=decoder)


def test_a_playlist_opens_nothing_else(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "secret.wav", two_voices(1), 16_000)
    (tmp_path / "call.mp3").write_text(f"ffconcat version 1.0\nfile {tmp_path / 'secret.wav'}\n")
    with pytest.raises(BadInput):
        opened(tmp_path / "call.mp3")


def test_missing_and_folder(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"there is no gone\.wav"):
        opened(tmp_path / "gone.wav")
    with pytest.raises(BadInput, match="is a folder"):
        opened(tmp_path)


def test_a_file_we_may_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "call.wav"
    soundfile.write(path, two_voices(1), 16_000)
    path.chmod(0)
    if os.geteuid() == 0:  # root may read everything, so be somebody else
        for folder in (tmp_path, *list(tmp_path.parents)[:2]):
            folder.chmod(0o755)
        os.seteuid(65_534)
    try:
        with pytest.raises(BadInput, match="may not be read"):
            opened(path)
    finally:
        if os.getuid() == 0:
            os.seteuid(0)
