"""NeMo's files of intents and slots, as storage/transfer/nemo.py writes them."""

from __future__ import annotations

from pathlib import Path

from storage.datasets.sources.types import BESIDE, ImportedRow, ImportedSet, refuse_strays
from storage.transfer.nemo import FILES, HEADER
from tenor.errors import BadInput


def is_slots_folder(folder: Path) -> bool:
    return (folder / FILES[0]).is_file()


def read_slots(folder: Path) -> ImportedSet:
    there = {path.name for path in folder.iterdir() if not BESIDE.fullmatch(path.name)}
    refuse_strays(there - set(FILES), folder, f"the files are {', '.join(FILES)}")
    if missing := [name for name in FILES if name not in there]:
        raise BadInput(f"{folder}: {missing[0]} is missing", f"the files are {', '.join(FILES)}")
    intents, slots = (_lines(folder / name) for name in FILES[:2])
    rows = [row for split in ("train", "test") for row in _rows(folder, split, intents, slots)]
    return ImportedSet(rows=rows, form="intents and slots", dictionaries={"intents": intents, "slots": slots})


def _rows(folder: Path, split: str, intents: list[str], slots: list[str]) -> list[ImportedRow]:
    said, tags = _lines(folder / f"{split}.tsv"), _lines(folder / f"{split}_slots.tsv")
    if not said or f"{said[0]}\n" != HEADER:
        raise BadInput(f"{folder / split}.tsv does not begin with {HEADER.strip()!r}")
    if len(said) - 1 != len(tags):
        raise BadInput(f"{folder}: {split}.tsv has {len(said) - 1} sentences, {split}_slots.tsv {len(tags)} lines")
    rows = []
    for number, (line, tagged) in enumerate(zip(said[1:], tags, strict=True), 1):
        text, _, intent = line.rpartition("\t")
        numbers = tagged.split()
        try:
            named = [slots[int(one)] for one in numbers]
            wanted = intents[int(intent)]
        except (ValueError, IndexError):
            raise BadInput(f"{folder}: sentence {number} of {split} has a number that no dictionary has") from None
        if len(named) != len(text.split()):
            raise BadInput(f"{folder}: sentence {number} of {split} has {len(text.split())} words, {len(named)} slots")
        rows.append(ImportedRow(call=f"{split}-{number:07}", text=text, intent=wanted, tags=named, split=split))
    return rows


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8").splitlines()
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not UTF-8") from None
