"""A trained recogniser as a folder that `tenor riva` serves: CTranslate2's files, with a card and hashes."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any, Literal

from asr.local.stt.engines.model_folder import CARD
from asr.local.stt.engines.whisper_folder import checked_folder
from finetune.train.whisper import model_file
from finetune.train.whisper.model_file import ModelFile
from tenor.errors import BadInput

Weights = Literal["float16", "int8"]
_COPIED = ("config.json", "tokenizer.json", "vocabulary.txt", "vocabulary.json", "preprocessor_config.json")
"""What training does not change."""


def export_whisper(parent: Path, model: ModelFile, folder: Path, card: dict[str, Any], weights: Weights) -> Path:
    """Written beside, and put in its place when it is whole. int8 answers as float16 does once it is loaded, in half
    the bytes, but cannot be trained on."""
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    (part / "model.bin").write_bytes(model_file.to_bytes(model.quantised() if weights == "int8" else model))
    for name in _COPIED:
        if (parent / name).is_file():
            shutil.copyfile(parent / name, part / name)
    write_manifest(part, {**card, "kind": "speech", "weights": weights})
    if folder.exists():
        shutil.rmtree(folder)
    os.replace(part, folder)
    return folder


def export_int8(model: Path, folder: Path) -> Path:
    """The same model in int8, in a new folder."""
    parent = checked_folder(model)
    if folder.exists() and folder.resolve() in (model.resolve(), parent.resolve()):
        raise BadInput(f"{folder} is the model itself", "name another folder: float16 is needed to train further")
    card = json.loads((parent / CARD).read_text("utf-8")) if (parent / CARD).is_file() else {"name": parent.name}
    return export_whisper(parent, model_file.read(parent / "model.bin"), folder, card, "int8")


def write_manifest(folder: Path, card: dict[str, Any]) -> None:
    """`model.json` with the SHA-256 of every other file of the folder."""
    files = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
        if path.name != CARD
    }
    (folder / CARD).write_text(json.dumps({**card, "files": files}, indent=2) + "\n", "utf-8")
