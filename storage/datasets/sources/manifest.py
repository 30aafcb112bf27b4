"""NeMo's manifests of speech: JSON lines with audio_filepath, duration and text."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterable
from pathlib import Path

import msgspec

from storage.datasets.sources.types import AUDIO, BESIDE, ImportedRow, ImportedSet, declared_split, refuse_strays
from tenor.errors import BadInput

SUFFIXES = (".json", ".jsonl", ".manifest")


class ManifestLine(msgspec.Struct, kw_only=True):
    audio_filepath: str
    duration: float
    text: str
    offset: float | None = None
    speaker: str | int = ""
    sentiment: str | None = None
    intent: str | None = None
    split: str = ""


_decode = msgspec.json.Decoder(ManifestLine).decode
NAMED = b'"audio_filepath"'
LONGEST_S = 7 * 86_400
"""Of a recording."""


def manifests_in(folder: Path) -> list[Path]:
    """Files of a folder whose first line is one of a manifest."""
    return [path for path in sorted(folder.iterdir()) if path.suffix in SUFFIXES and path.is_file() and _fits(path)]


def read_manifests(paths: Iterable[Path], inside: Path | None = None) -> ImportedSet:
    """`inside`: a folder that holds nothing but the manifests and their recordings."""
    rows: list[ImportedRow] = []
    files: set[Path] = set()
    for path in paths:
        if not _fits(path):
            raise BadInput(
                f"{path} is no manifest: its first line has no audio_filepath",
                "a manifest has JSON lines with audio_filepath, duration and text; `tenor labels import` reads labels",
            )
        files.add(path)
        declared = declared_split(path.stem)
        for number, line in enumerate(path.read_bytes().removeprefix(BOM_UTF8).splitlines(), 1):
            if line.strip():
                rows.append(_row(path, number, line, declared))
    used = files | {row.audio.absolute() for row in rows if row.audio} | {row.audio for row in rows if row.audio}
    if inside is not None:
        there = {path for path in inside.rglob("*") if path.is_file() and not BESIDE.fullmatch(path.name)}
        strays = {str(path.relative_to(inside)) for path in there if path not in used and path.absolute() not in used}
        refuse_strays(strays, inside, "every file there is a manifest, or a recording that one names")
    return ImportedSet(rows=rows, form="manifest")


def _row(path: Path, number: int, line: bytes, declared: str) -> ImportedRow:
    try:
        said = _decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}, line {number}: {error}", "a line has audio_filepath, duration and text") from None
    given = Path(said.audio_filepath)
    audio = given if given.is_absolute() else path.parent / given
    if audio.suffix.lower() not in AUDIO or not audio.is_file():
        raise BadInput(f"{path}, line {number}: there is no recording {said.audio_filepath!r}")
    offset = said.offset or 0.0
    if not 0 < said.duration < LONGEST_S or not 0 <= offset < LONGEST_S:
        raise BadInput(f"{path}, line {number}: a stretch of {said.duration:g} s from {offset:g} s")
    start_ms = round(offset * 1000)
    of_call = conversation(given)
    return ImportedRow(
        call=of_call,
        text=said.text,
        audio=audio,
        start_ms=start_ms,
        end_ms=start_ms + round(said.duration * 1000),
        customer=str(said.speaker),
        sentiment=said.sentiment,
        intent=said.intent,
        split=declared_split(said.split) or declared,
    )


def conversation(path: Path) -> str:
    """DATASET_NAME/COMPANY_DATE where a recording lies so, for the folder is the conversation; else the recording."""
    folders = [part for part in path.parent.parts if part not in ("/", ".", "..")]
    return "/".join(folders[-2:]) if len(folders) >= 2 and not path.is_absolute() else path.with_suffix("").name


def _fits(path: Path) -> bool:
    with path.open("rb") as file:
        first = next((line for line in file if line.strip()), b"")
    return NAMED in first
