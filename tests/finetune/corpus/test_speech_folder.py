"""Recordings with transcripts become rows; one bad file is told and the others are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from finetune.corpus.speech_folder import read_speech_folder
from tenor.errors import BadInput


def call(folder: Path, sid: str, caller: int | None = None) -> None:
    (folder / "calls").mkdir(exist_ok=True)
    (folder / "audio").mkdir(exist_ok=True)
    segment = {"ch": 1, "role": "caller", "offset_ms": 500, "dur_ms": 900, "text": "hello"}
    record: dict[str, Any] = {"sid": sid, "segments": [segment, {**segment, "ch": 2, "role": "agent"}]}
    if caller is not None:
        record["caller"] = {"speaker_id": caller}
    (folder / "calls" / f"{sid}.json").write_text(json.dumps(record))
    (folder / "audio" / f"{sid}.flac").write_bytes(b"")


def test_a_folder_of_calls(tmp_path: Path) -> None:
    call(tmp_path, "one", caller=7)
    rows = read_speech_folder(tmp_path, validation=0.0).rows
    assert [(row.start_ms, row.end_ms, row.origin["channel"], row.group) for row in rows] == [
        (500, 1400, "0", "speaker 7"),
        (500, 1400, "1", "one 2"),
    ]
    assert {row.split for row in rows} == {"train"}


def test_a_speaker_is_trained_on_or_measured_with_never_both(tmp_path: Path) -> None:
    for number in range(40):
        call(tmp_path, f"call-{number}", caller=number % 10)
    rows = read_speech_folder(tmp_path, validation=0.3).rows
    groups = {split: {row.group for row in rows if row.split == split} for split in ("train", "val")}
    assert groups["train"]
    assert groups["val"]
    assert not groups["train"] & groups["val"]
    assert read_speech_folder(tmp_path, validation=0.3).rows == rows


def test_bad_calls_are_told_and_the_others_are_read(tmp_path: Path) -> None:
    call(tmp_path, "good")
    call(tmp_path, "silent")
    (tmp_path / "audio" / "silent.flac").unlink()
    (tmp_path / "calls" / "half.json").write_text('{"sid": "half", "segm')
    (tmp_path / "calls" / "hostile.json").write_text('{"sid": "../../etc/passwd", "segments": []}')
    found = read_speech_folder(tmp_path)
    assert {row.call for row in found.rows} == {"good"}
    assert sorted(fault.split(":")[0] for fault in found.faults) == ["half.json", "hostile.json", "silent.json"]


def test_nemos_manifest(tmp_path: Path) -> None:
    lines = [
        '{"audio_filepath": "a.wav", "duration": 1.5, "text": "hello", "offset": 2}',
        "",
        "not json",
        '{"audio_filepath": "b.wav", "duration": 1.0, "text": "bye"}',
    ]
    (tmp_path / "train_manifest.json").write_text("\n".join(lines))
    for name in (tmp_path, tmp_path / "train_manifest.json"):
        found = read_speech_folder(name, validation=0.0)
        assert [(row.audio, row.start_ms, row.end_ms) for row in found.rows] == [
            (str(tmp_path / "a.wav"), 2000, 3500),
            (str(tmp_path / "b.wav"), 0, 1000),
        ]
        assert len(found.faults) == 1
        assert "line 3" in found.faults[0]


@pytest.mark.parametrize("name", ["", "nothing"])
def test_a_folder_without_speech_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput) as told:
        read_speech_folder(tmp_path / name)
    assert told.value.hint
