"""A folder with a recogniser: are its files there, and are they those that its `model.json` names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from asr.local.stt.engines.weights import WrongWeights, check_sha256
from tenor.errors import BadInput

CARD = "model.json"


class _Manifest(msgspec.Struct):
    """What of `model.json` matters before loading."""

    files: dict[str, str] = {}
    """SHA-256 by file."""


def whole_folder(path: Path, files: Sequence[str], what: str, hint: str) -> Path:
    """The folder with the model's files, each as its `model.json` says; that of a run has them in `model`. A folder
    without a `model.json`, as converters make them, is taken as it is. `what` it should hold is told in errors."""
    folder = path if (path / files[0]).is_file() else path / "model"
    missing = [file for file in files if not (folder / file).is_file()]
    if not path.is_dir():
        raise BadInput(f"{path} is not a folder", hint)
    if missing:
        raise BadInput(f"{path} holds no {what}: there is no {missing[0]}", hint)
    if (folder / CARD).is_file():
        try:
            hashes = msgspec.json.decode((folder / CARD).read_bytes(), type=_Manifest).files
            for file, sha256 in hashes.items():
                check_sha256(folder / file, sha256)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, WrongWeights) as error:
            raise BadInput(f"the {what} is damaged: {error}", "make or copy the folder again") from None
    return folder
