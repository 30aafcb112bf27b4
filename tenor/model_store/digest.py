"""The hash of a model's folder: of the names and hashes of its files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from tenor.errors import BadInput

_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")


def is_file_name(name: str) -> bool:
    """Whether a file of a model may be called so: no folders, nothing hidden, nothing that leads elsewhere."""
    return _FILE_NAME.fullmatch(name) is not None


def file_hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of every file. BadInput for what no model's folder holds: folders, links, strange names."""
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise BadInput(f"{folder} cannot be read: {error.strerror}") from None
    hashes = {}
    for path in entries:
        if path.is_symlink() or not path.is_file() or not is_file_name(path.name):
            raise BadInput(f"{path} does not belong to a model", "a model's folder holds plain files and nothing else")
        hashes[path.name] = sha256_of(path)
    return hashes


def sha256_of(path: Path) -> str:
    """Of a file, which is never in memory as a whole."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_of(hashes: Mapping[str, str]) -> str:
    lines = "".join(f"{sha256}  {name}\n" for name, sha256 in sorted(hashes.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def digest_by_card(files: Mapping[str, str], card: str, written: bytes) -> str:
    """What the digest is if the files are those that the card lists; empty when it lists none."""
    return digest_of({**files, card: hashlib.sha256(written).hexdigest()}) if files else ""


def verify(folder: Path, sha256: str) -> None:
    """BadInput, naming the file, when the folder is not the one with this digest."""
    hashes = file_hashes(folder)
    if digest_of(hashes) == sha256:
        return
    from tenor.model_store.card import read_card

    card = read_card(folder)
    changed = sorted(name for name, known in card.files.items() if hashes.get(name) != known)
    what = f"its {', '.join(changed)}" if changed else "model.json"
    raise BadInput(
        f"{folder} is not the model that was registered: {what} changed", "restore the folder, or promote another"
    )
