"""Segments that cannot be learned from are left out and counted; the others stay."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from finetune.recipes.base import TrainingRow
from finetune.train.whisper.segments import enough_to_train, from_rows, readable, spoken_words
from tenor.errors import BadInput


def row(number: int, text: str = "hello there", audio: str | None = "a.wav", **more: object) -> TrainingRow:
    values = {"start_ms": 0, "end_ms": 900, **more}
    return TrainingRow(id=str(number), text=text, audio=audio, **values)  # type: ignore[arg-type]


def test_tags_for_sounds_go_and_tags_for_words_leave_the_segment_out() -> None:
    assert spoken_words("[noise] hi my name [laughter] is s~ sam") == "hi my name is sam"
    assert spoken_words("[noise]") == ""
    assert spoken_words("my name is [name]") is None
    assert spoken_words("what <unk> is it") is None


def test_what_is_no_speech_with_words_is_counted(tmp_path: Path) -> None:
    rows = [
        row(1),
        row(2, text="call me at [phone number]"),
        row(3, end_ms=40_000),
        row(4, end_ms=0),
        row(5, audio=None),
        row(6, split="holdout"),
        row(7, origin={"channel": "1"}, split="val"),
    ]
    data = from_rows(rows)
    assert [(one.channel, one.split) for one in data.segments] == [(0, "train"), (1, "val")]
    assert data.left_out == {"words missing in the text": 1, "empty or too long": 2}


def test_of_archived_calls_only_what_people_wrote_is_learned() -> None:
    rows = [
        row(1, text="whole order", recognised="hole order"),
        row(2, text="hole order", recognised="hole order"),
        row(3, text="your order"),
    ]
    data = from_rows(rows)
    assert [one.text for one in data.segments] == ["whole order", "your order"]
    assert data.left_out == {"not written down by people": 1}


def test_one_broken_recording_does_not_stop_the_others(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", np.zeros(8000, np.int16), 8000)
    (tmp_path / "b.wav").write_bytes(b"RIFF and no more")
    whole, broken, missing = (str(tmp_path / f"{name}.wav") for name in "abc")
    rows = [
        row(1, audio=whole),
        row(2, audio=broken),
        row(3, audio=missing),
        row(4, audio=whole, end_ms=5000),
        row(5, audio=whole, origin={"channel": "1"}),
    ]
    data = readable(from_rows(rows))
    assert [one.audio.name for one in data.segments] == ["a.wav"]
    assert data.left_out == {"no audio": 4}
    assert [fault.split(":")[0] for fault in data.faults] == ["b.wav", "c.wav"]


def test_who_trains_before_there_is_audio_is_told_what_to_run() -> None:
    data = from_rows([row(number, audio=None) for number in range(200)])
    with pytest.raises(BadInput) as told:
        enough_to_train(data.segments)
    assert told.value.hint.startswith("audio comes first: `tenor archive` with learn.audio")
