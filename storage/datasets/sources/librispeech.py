"""LibriSpeech's layout: SPEAKER/CHAPTER/ with recordings, and one file *.trans.txt with a line per recording."""

from __future__ import annotations

from pathlib import Path

import soundfile

from storage.datasets.sources.types import AUDIO, BESIDE, ImportedRow, ImportedSet, declared_split, refuse_strays
from tenor.errors import BadInput

TEXTS = ".trans.txt"
LISTS = ("SPEAKERS.TXT", "CHAPTERS.TXT", "BOOKS.TXT")


def is_librispeech(folder: Path) -> bool:
    return next(folder.rglob(f"*{TEXTS}"), None) is not None


def read_librispeech(folder: Path) -> ImportedSet:
    rows: list[ImportedRow] = []
    texts = sorted(folder.rglob(f"*{TEXTS}"))
    for path in texts:
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            name, _, text = line.partition(" ")
            audio = next((one for suffix in AUDIO if (one := path.with_name(f"{name}{suffix}")).is_file()), None)
            if audio is None:
                raise BadInput(f"{path}, line {number}: there is no recording {name[:80]!r}")
            rows.append(_row(audio, text.lower(), path, folder))
    files = {path for path in folder.rglob("*") if path.is_file() and not BESIDE.fullmatch(path.name)}
    known = {*texts, *(row.audio for row in rows)}
    strays = {str(path.relative_to(folder)) for path in files if path not in known and path.name not in LISTS}
    refuse_strays(strays, folder, "every recording there has a line in a *.trans.txt, and nothing else is there")
    return ImportedSet(rows=rows, form="LibriSpeech")


def _row(audio: Path, text: str, transcripts: Path, folder: Path) -> ImportedRow:
    speaker, _, _ = transcripts.name.partition("-")
    try:
        about = soundfile.info(audio)
    except (OSError, RuntimeError) as error:
        raise BadInput(f"{audio} cannot be read: {error}") from None
    split = next(
        (found for part in transcripts.relative_to(folder.parent).parts if (found := declared_split(part))), ""
    )
    ms = round(about.frames * 1000 / about.samplerate)
    return ImportedRow(call=audio.stem, text=text, audio=audio, end_ms=ms, customer=f"speaker-{speaker}", split=split)
