"""A folder with audio/SID.flac and calls/SID.json: recordings of whole calls with what people wrote down of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from storage.datasets.sources.types import (
    AUDIO,
    BESIDE,
    ImportedRow,
    ImportedSet,
    declared_split,
    refuse_strays,
)
from tenor.errors import BadInput


class Segment(msgspec.Struct, kw_only=True):
    """`ch` counts from 1; `offset_ms` is the position in the recording."""

    ch: int
    offset_ms: int
    dur_ms: int
    text: str
    role: str = ""
    sentiment: str | None = None
    intent: str | None = None


class CallRecord(msgspec.Struct, kw_only=True):
    sid: str
    segments: list[Segment]
    start_time_ms: float = 0
    caller: dict[str, Any] = {}
    agent: dict[str, Any] = {}
    split: str = ""


def is_calls_folder(folder: Path) -> bool:
    return (folder / "audio").is_dir() and (folder / "calls").is_dir()


def read_calls(folder: Path) -> ImportedSet:
    sound = {path.stem: path for path in sorted((folder / "audio").iterdir()) if path.suffix.lower() in AUDIO}
    records = {path.stem: path for path in sorted((folder / "calls").iterdir()) if path.suffix == ".json"}
    known = {*sound.values(), *records.values(), folder / "audio", folder / "calls"}
    strays = {
        str(path.relative_to(folder))
        for place in (folder, folder / "audio", folder / "calls")
        for path in place.iterdir()
        if path not in known and not BESIDE.fullmatch(path.name)
    }
    strays |= {str(sound[stem].relative_to(folder)) for stem in sound.keys() - records.keys()}
    strays |= {str(records[stem].relative_to(folder)) for stem in records.keys() - sound.keys()}
    refuse_strays(
        strays, folder, "every recording in audio/ has a record of the same name in calls/, and nothing else is there"
    )
    declared = declared_split(folder.name)
    rows = [row for stem in records for row in _rows(records[stem], sound[stem], declared)]
    return ImportedSet(rows=rows, form="folder of calls")


def _rows(path: Path, sound: Path, declared: str) -> list[ImportedRow]:
    try:
        record = msgspec.json.decode(path.read_bytes(), type=CallRecord)
    except msgspec.MsgspecError as error:
        raise BadInput(
            f"{path}: {error}", "a record has sid and segments, each with ch, offset_ms, dur_ms and text"
        ) from None
    split = declared_split(record.split) or declared
    return [
        ImportedRow(
            call=record.sid,
            text=segment.text,
            audio=sound,
            channel=segment.ch - 1,
            start_ms=segment.offset_ms,
            end_ms=segment.offset_ms + segment.dur_ms,
            role=segment.role,
            customer=_speaker(record.caller),
            agent=_speaker(record.agent),
            at=record.start_time_ms / 1000,
            sentiment=segment.sentiment,
            intent=segment.intent,
            split=split,
        )
        for segment in record.segments
    ]


def _speaker(person: dict[str, Any]) -> str:
    number = person.get("speaker_id")
    return "" if number is None else f"speaker-{number}"
