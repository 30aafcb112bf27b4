"""Recordings that people have written down: a folder with `audio/NAME.*` and `calls/NAME.json`.

    {"segments": [{"ch": 1, "role": "caller", "offset_ms": 4419, "dur_ms": 1860, "text": "hello there [noise]"}, ...]}

`ch` counts from 1, `offset_ms` is the position in the recording. That is the form of the Harper Valley Bank corpus. A
segment may have a `sentiment`, if a person has said what it is.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from nlp.evaluation.alignment import ReferenceSentence, plain
from tenor.errors import BadInput


@dataclass(frozen=True)
class ReferenceCall:
    name: str
    audio: Path
    sentences: list[ReferenceSentence]


def read(folder: Path) -> list[ReferenceCall]:
    calls, audio = folder / "calls", folder / "audio"
    files = sorted(calls.glob("*.json")) if calls.is_dir() and audio.is_dir() else []
    if not files:
        raise BadInput(f"there are no written-down recordings in {folder}", "audio/NAME.flac and calls/NAME.json")
    recordings = {file.stem: file for file in sorted(audio.iterdir()) if file.is_file()}
    found = []
    for file in files:
        if file.stem not in recordings:
            raise BadInput(f"{file.name} has no recording in {audio}")
        found.append(ReferenceCall(file.stem, recordings[file.stem], _sentences(file)))
    return found


def _sentences(file: Path) -> list[ReferenceSentence]:
    try:
        segments = json.loads(file.read_text("utf-8"))["segments"]
        return [
            ReferenceSentence(
                call=file.stem,
                channel=int(segment["ch"]) - 1,
                role=str(segment["role"]),
                start_ms=int(segment["offset_ms"]),
                end_ms=int(segment["offset_ms"]) + int(segment["dur_ms"]),
                text=plain(segment["text"]),
                sentiment=str(segment.get("sentiment") or ""),
            )
            for segment in segments
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{file.name} is no transcript: {type(error).__name__}: {error}") from None
