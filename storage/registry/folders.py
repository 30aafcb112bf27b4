"""Folders of models: what may be in one, and how it becomes a version of the registry, whole or not at all."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from tenor.errors import BadInput
from tenor.model_store.card import CARD, KINDS, Kind, ModelCard, read_card
from tenor.model_store.digest import file_hashes, is_file_name

SUFFIXES = frozenset(
    (".bin", ".flac", ".json", ".jsonl", ".md", ".model", ".npz", ".onnx", ".safetensors", ".txt", ".wav", ".yaml")
)
"""Of files that models are made of. None of them is code, or a pickle, which is code."""
MOST_FILES, MOST_BYTES = 200, 4 * 1024**3
MOST_RATIO = 20
"""How much larger arrays may be than they are packed."""
PART = ".part-"
"""Prefix of a folder that is not complete."""
ABANDONED_S = 86_400
"""After this nobody is working on it any more."""
_NAME = re.compile(r"[a-z][a-z0-9-]{0,40}")


def check_name(name: str) -> str:
    if not _NAME.fullmatch(name) or name.endswith("-"):
        raise BadInput(
            f"{name!r} cannot be the name of a model", "small letters, digits and dashes, e.g. house-billing"
        )
    return name


def check_file(path: Path) -> None:
    """BadInput for a file that no model needs: a pickle by its name or by its bytes."""
    if path.suffix not in SUFFIXES or not is_file_name(path.name):
        raise BadInput(
            f"{path.name} does not belong to a model",
            f"files of a model end in {', '.join(sorted(SUFFIXES))}; pickles are never loaded",
        )
    with path.open("rb") as file:
        head = file.read(4)
    if len(head) > 1 and head[0] == 0x80 and head[1] in range(1, 6):
        raise BadInput(f"{path.name} is a pickle, whatever it is called", "pickles run code and are never loaded")
    if head == b"PK\x03\x04":
        _check_arrays(path)


def _check_arrays(path: Path) -> None:
    """A zip is only ever an .npz of plain arrays: torch keeps pickles in such files, numpy may."""
    try:
        with zipfile.ZipFile(path) as arrays:
            if sum(entry.file_size for entry in arrays.infolist()) > MOST_RATIO * path.stat().st_size:
                raise BadInput(f"{path.name} is no weights: they hardly shrink", "it may be a zip bomb")
            for name in arrays.namelist():
                with arrays.open(name) as array:
                    if path.suffix != ".npz" or not name.endswith(".npy") or b"|O" in array.read(256):
                        raise BadInput(f"{path.name} may hold a pickle ({name})", "pickles are never loaded")
    except zipfile.BadZipFile:
        raise BadInput(f"{path.name} is broken") from None


def kind_of(folder: Path, card: ModelCard | None) -> Kind:
    """By its card, else by its files."""
    for kind in KINDS:
        if card is not None and card.kind == kind:
            return kind
    if (folder / "model.bin").is_file() and (folder / "vocabulary.txt").is_file():
        return "speech"
    if card is not None and card.heads and (folder / "model.onnx").is_file():
        return "language"
    if (folder / "model.onnx").is_file() and b'"encoder_sha256"' in (folder / CARD).read_bytes():
        return "assistant"
    raise BadInput(f"{folder} holds no model of a kind we know", f"say --kind: {', '.join(KINDS)}")


def known_card(folder: Path) -> ModelCard | None:
    """What the folder says of itself; None where it has no card, as CTranslate2's have none."""
    return read_card(folder) if (folder / CARD).exists() else None


def add_folder(
    source: Path, models: Path, *, name: str, kind: Kind, origin: dict[str, str], golden: bytes = b""
) -> tuple[str, int]:
    """Copy a model into the registry as the next version of `name`: its id and version. Killed at any point, there is a
    whole model or none. `origin` is what its card says of where it comes from, `golden` its golden answers if it has
    none."""
    check_name(name)
    hashes = file_hashes(source)
    if not hashes or len(hashes) > MOST_FILES:
        raise BadInput(f"{source} holds {len(hashes)} files", f"a model has at least one and at most {MOST_FILES}")
    for file in hashes:
        check_file(source / file)
    part = new_part(models)
    try:
        for file in hashes:
            if file != CARD:
                shutil.copyfile(source / file, part / file)
        if golden:
            (part / "golden.jsonl").write_bytes(golden)
        written: dict[str, Any] = {}
        if CARD in hashes:
            written = msgspec.json.decode((source / CARD).read_bytes(), type=dict[str, Any])
        while True:
            version = 1 + max((number for _, number in versions(models, name)), default=0)
            card: dict[str, Any] = {**written, **origin, "name": name, "version": str(version), "kind": kind}
            (part / CARD).unlink(missing_ok=True)
            card["files"] = file_hashes(part)
            (part / CARD).write_bytes(msgspec.json.format(msgspec.json.encode(card), indent=1))
            if settle(part, models / f"{name}-{version}"):
                return f"{name}-{version}", version
    finally:
        shutil.rmtree(part, ignore_errors=True)


def new_part(models: Path) -> Path:
    """An empty folder beside the models, to become one. What killed processes left is removed."""
    models.mkdir(parents=True, exist_ok=True)
    for left in models.glob(f"{PART}*"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > ABANDONED_S:
                shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=PART, dir=models))


def settle(part: Path, target: Path) -> bool:
    """Make a complete folder the model's; False when another took the place meanwhile."""
    for path in part.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
    part.chmod(0o755)
    try:
        part.rename(target)
    except OSError:
        if target.exists():
            return False
        raise
    sync_folder(target.parent)
    return True


def sync_folder(folder: Path) -> None:
    """What was written into it survives a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def versions(models: Path, name: str = "") -> list[tuple[str, int]]:
    """Id and number of every version there is, of one model or of all."""
    found = []
    for path in models.iterdir() if models.is_dir() else ():
        before, dash, number = path.name.rpartition("-")
        if dash and number.isdigit() and _NAME.fullmatch(before) and name in ("", before) and path.is_dir():
            found.append((path.name, int(number)))
    return sorted(found)
