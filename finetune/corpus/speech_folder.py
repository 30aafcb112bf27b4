"""Recordings with transcripts as rows to learn from: a folder with audio/ and calls/, or NeMo's manifest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from finetune.recipes.base import TrainingRow
from tenor.errors import BadInput

CHANNEL = "channel"
"""In a row's origin: which channel of its recording it is on, counted from 0."""


@dataclass(slots=True)
class SpeechFolder:
    rows: list[TrainingRow] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    """What could not be read, each with its reason."""


class _CallSegment(msgspec.Struct):
    ch: int
    offset_ms: int
    dur_ms: int
    text: str
    role: str = ""


class _Call(msgspec.Struct):
    sid: str
    segments: list[_CallSegment]
    caller: dict[str, Any] = {}
    agent: dict[str, Any] = {}


class _ManifestLine(msgspec.Struct):
    audio_filepath: str
    text: str
    duration: float
    offset: float = 0.0
    speaker: str | int = ""


def read_speech_folder(folder: Path, *, validation: float = 0.1, seed: int = 7) -> SpeechFolder:
    """All rows, about `validation` of the speakers in the split "val": who is heard there is never trained on. Where
    nobody says who speaks, a recording's channel counts as a speaker."""
    manifests = [folder] if folder.is_file() else sorted(folder.glob("*manifest*.json*"))
    found = SpeechFolder()
    if (folder / "calls").is_dir():
        for path in sorted((folder / "calls").glob("*.json")):
            found.rows += _call(path, folder / "audio", found.faults)
    elif manifests:
        for path in manifests:
            found.rows += _manifest(path, found.faults)
    elif folder.is_dir():
        raise BadInput(f"{folder} has neither calls/ and audio/ nor a manifest", "see docs/speech-tuning.md")
    else:
        raise BadInput(f"there is no folder {folder}", "name one with audio/ and calls/, or a NeMo manifest")
    limit = int(validation * 2**32)

    def held(group: str) -> bool:
        return int.from_bytes(sha256(f"{seed} {group}".encode()).digest()[:4], "big") < limit

    found.rows = [msgspec.structs.replace(row, split="val") if held(row.group) else row for row in found.rows]
    return found


def _call(path: Path, audio: Path, faults: list[str]) -> Iterator[TrainingRow]:
    try:
        call = msgspec.json.decode(path.read_bytes(), type=_Call)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        faults.append(f"{path.name}: {error}")
        return
    name = Path(call.sid).name
    recording = next((file for end in ("flac", "wav") if (file := audio / f"{name}.{end}").is_file()), None)
    if recording is None:
        faults.append(f"{path.name}: no recording {name}.flac or .wav in {audio.name}/")
        return
    speakers = {"caller": call.caller.get("speaker_id"), "agent": call.agent.get("speaker_id")}
    for number, one in enumerate(call.segments):
        speaker = speakers.get(one.role)
        yield TrainingRow(
            id=f"{call.sid}-{number}",
            call=call.sid,
            group=f"{call.sid} {one.ch}" if speaker is None else f"speaker {speaker}",
            text=one.text,
            role=one.role,
            audio=str(recording),
            start_ms=one.offset_ms,
            end_ms=one.offset_ms + one.dur_ms,
            origin={CHANNEL: str(one.ch - 1)},
        )


def _manifest(path: Path, faults: list[str]) -> Iterator[TrainingRow]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = msgspec.json.decode(line, type=_ManifestLine)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                faults.append(f"{path.name}, line {number}: {error}")
                continue
            start = round(row.offset * 1000)
            yield TrainingRow(
                id=f"{path.stem}-{number}",
                call=row.audio_filepath,
                group=str(row.speaker) or row.audio_filepath,
                text=row.text,
                audio=str(path.parent / row.audio_filepath),
                start_ms=start,
                end_ms=start + round(row.duration * 1000),
            )
