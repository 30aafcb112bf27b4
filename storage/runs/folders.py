"""The folder of a run, and what its recipe noted there while it trained."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import NamedTuple

import msgspec

from tenor.settings import Settings

RUNS, RECORD = "runs", "record.jsonl"


class RunNote(NamedTuple):
    at: float
    text: str


class _Line(msgspec.Struct):
    at: float = 0.0
    note: str = ""


_decode = msgspec.json.Decoder(_Line).decode


def run_folder(settings: Settings, number: int) -> Path:
    """Where a run keeps its checkpoints, record and model: on this machine, wherever the archive is."""
    place = settings.learn_url.removeprefix("file://")
    return (settings.home / "learn" if "://" in place or settings.learn.worm else Path(place)) / RUNS / str(number)


def notes(folder: Path, most: int) -> list[RunNote]:
    """The last notes of a run; none where it ran on another machine."""
    found: deque[RunNote] = deque(maxlen=most)
    try:
        with (folder / RECORD).open("rb") as file:
            for line in file:
                if b'"note"' in line:
                    try:
                        one = _decode(line)
                    except msgspec.MsgspecError:  # half a line of a run that was killed
                        continue
                    found.append(RunNote(one.at, one.note))
    except FileNotFoundError:
        return []
    return list(found)
