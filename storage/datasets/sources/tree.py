"""A tree DATASET_NAME/COMPANY_DATE/ of recordings, each with a text of the same name: a folder is a conversation."""

from __future__ import annotations

from pathlib import Path

import soundfile

from storage.datasets.sources.manifest import conversation
from storage.datasets.sources.types import AUDIO, BESIDE, ImportedRow, ImportedSet, refuse_strays
from tenor.errors import BadInput


def read_tree(folder: Path) -> ImportedSet:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not BESIDE.fullmatch(path.name)]
    sound = [path for path in files if path.suffix.lower() in AUDIO]
    texts = {path.with_suffix("") for path in files if path.suffix == ".txt"}
    if not sound:
        raise BadInput(f"{folder} holds nothing that can be imported", "see docs/datasets.md for what can be")
    strays = {str(path.relative_to(folder)) for path in files if path.suffix != ".txt" and path not in sound}
    strays |= {str(path.relative_to(folder)) for path in sound if path.with_suffix("") not in texts}
    refuse_strays(
        strays, folder, "every recording there has a text of the same name beside it, and nothing else is there"
    )
    return ImportedSet(rows=[_row(path, folder) for path in sound], form="tree of recordings")


def _row(path: Path, folder: Path) -> ImportedRow:
    try:
        text = " ".join(path.with_suffix(".txt").read_text("utf-8").split())
        about = soundfile.info(path)
    except UnicodeDecodeError:
        raise BadInput(f"{path.with_suffix('.txt')} is not UTF-8") from None
    except (OSError, RuntimeError) as error:
        raise BadInput(f"{path} cannot be read: {error}") from None
    within = Path(folder.name) / path.relative_to(folder)
    return ImportedRow(
        call=conversation(within), text=text, audio=path, end_ms=round(about.frames * 1000 / about.samplerate)
    )
