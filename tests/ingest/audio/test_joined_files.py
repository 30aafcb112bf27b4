"""A conversation kept as short files is one call: in order, with pauses, whatever the files are like."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from ingest.audio.recording import Recording, open_recording
from ingest.sources import Source, conversations, expand
from tenor.errors import BadInput
from tests.ingest.audio.sounds import voice


def heard(recording: Recording) -> np.ndarray:
    return np.concatenate([np.frombuffer(block.pcm[0], "<i2") for block in recording])


def conversation(folder: Path) -> Source:
    [source] = conversations(expand([str(folder)]))
    return source


def test_each_folder_is_a_conversation_and_numbers_count(tmp_path: Path) -> None:
    for name in ("monday/10.wav", "monday/9.wav", "monday/1-a.wav", "tuesday/call/b.mp3", "tuesday/chat.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    found = conversations(expand([str(tmp_path)], {".wav", ".mp3", ".txt"}))
    assert [(source.name, source.files) for source in found] == [("monday", 3), ("call", 1), ("chat.txt", 1)]
    assert [piece.name for piece in found[0].pieces] == ["1-a.wav", "9.wav", "10.wav"]


def test_the_files_come_one_after_the_other_with_a_pause(tmp_path: Path) -> None:
    pieces = [voice(1.05, seed=number) for number in (1, 2, 3)]
    for number, piece in enumerate(pieces):
        soundfile.write(tmp_path / f"{number}.wav", piece, 16_000)
    with open_recording(conversation(tmp_path)) as recording:
        assert recording.info(0.0).attributes["files"] == "3"
        sound = heard(recording)
    pause = np.zeros(12_800, np.int16)
    assert np.array_equal(sound, np.concatenate([pieces[0], pause, pieces[1], pause, pieces[2]]))


def test_another_format_is_brought_to_the_first_files(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "1.wav", voice(1), 16_000)
    soundfile.write(tmp_path / "2.wav", np.stack([voice(1, 8000)] * 2, axis=1), 8000)
    with open_recording(conversation(tmp_path)) as recording:
        second = heard(recording)[-16_000:]
    assert len(recording.columns) == 1
    assert np.abs(second).max() > 1000


def test_a_file_that_cannot_be_read_is_told_and_left_out(tmp_path: Path) -> None:
    for name in ("1.wav", "3.wav"):
        soundfile.write(tmp_path / name, voice(1), 16_000)
    (tmp_path / "2.wav").write_bytes(b"no sound at all")
    with open_recording(conversation(tmp_path)) as recording:
        assert len(heard(recording)) == 2 * 16_000 + 12_800
    assert any("2.wav" in warning and "left out" in warning for warning in recording.warnings)


def test_a_folder_of_which_nothing_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "1.wav").write_bytes(b"no sound at all")
    with pytest.raises(BadInput, match=f"none of the files in {tmp_path.name}"):
        open_recording(conversation(tmp_path))


def test_the_same_files_are_the_same_call(tmp_path: Path) -> None:
    for name in ("1.wav", "2.wav"):
        soundfile.write(tmp_path / name, voice(1, seed=int(name[0])), 16_000)
    with open_recording(conversation(tmp_path)) as first, open_recording(conversation(tmp_path)) as second:
        assert first.call == second.call
        assert tmp_path.name[:20] in first.call
