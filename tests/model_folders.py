"""Models to promote in tests, made of the one that ships: no second one is needed in the repository."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Any

import msgspec

from nlp.inference.models.language_model import DEFAULT
from tenor.model_store.card import CARD, Kind
from tenor.model_store.digest import digest_of, file_hashes
from tenor.model_store.golden import FILE as GOLDEN
from tenor.model_store.promotion_log import FILE, Promotion
from tenor.model_store.shipped import SHIPPED


def language_folder(folder: Path, **changes: Any) -> Path:
    """A copy of the language model with another card, and `turned` round: what is negative for the one that ships is
    positive for it, so that a sentence shows who told it."""
    folder.mkdir(parents=True)
    for name in sorted(path.name for path in DEFAULT.iterdir() if path.name not in (CARD, GOLDEN)):
        shutil.copyfile(DEFAULT / name, folder / name)
    card = msgspec.json.decode((DEFAULT / CARD).read_bytes())
    if changes.pop("turned", True):
        card["heads"]["sentiment"] = list(reversed(card["heads"]["sentiment"]))
    (folder / CARD).write_bytes(msgspec.json.encode({**card, "name": "house", **changes}))
    return folder


def registered(models: Path, model: str = "house-1", kind: Kind = "language", **changes: Any) -> str:
    """A model in a models' folder, as the registry writes it, without a database; its digest."""
    name, _, version = model.rpartition("-")
    folder = language_folder(models / model, name=name, version=version, kind=kind, **changes)
    hashes = file_hashes(folder)
    card = msgspec.json.decode((folder / CARD).read_bytes())
    card["files"] = {file: sha256 for file, sha256 in hashes.items() if file != CARD}
    (folder / CARD).write_bytes(msgspec.json.encode(card))
    return digest_of(file_hashes(folder))


def promotion(model: str, sha256: str, effective_at: float, **fields: Any) -> Promotion:
    usual: dict[str, Any] = {"kind": "language", "by": "ann", "why": "", "previous": SHIPPED["language"].id}
    usual |= {"model": model, "sha256": sha256, "at": effective_at - 10, "effective_at": effective_at}
    return Promotion(**{**usual, **fields})


def promoted(models: Path, *promotions: Promotion) -> None:
    """Lines at the end of the log, as a promotion writes them."""
    models.mkdir(parents=True, exist_ok=True)
    with (models / FILE).open("ab") as log:
        for one in promotions:
            log.write(msgspec.json.encode(one) + b"\n")
    # Two changes within the clock's step of a file system would look like one.
    moment = time.time_ns()
    os.utime(models / FILE, ns=(moment, moment))
