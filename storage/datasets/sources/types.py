"""What a reader makes of somebody else's data."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from tenor.errors import BadInput

SPLIT_NAMES = {
    "train": "train",
    "training": "train",
    "dev": "test",
    "test": "test",
    "eval": "test",
    "val": "val",
    "valid": "val",
    "validation": "val",
    "holdout": "holdout",
}
"""What people call splits. A dev set is what a recogniser is measured with."""
AUDIO = (".flac", ".wav", ".ogg", ".opus", ".mp3")
BESIDE = re.compile(r"readme.*|licen[cs]e.*|.*\.md|split\.json|\..*", re.IGNORECASE)
"""Files that may lie beside the data."""
SHOWN = 5


class ImportedRow(msgspec.Struct, kw_only=True):
    call: str
    """Within the set."""
    text: str
    audio: Path | None = None
    channel: int = 0
    """Of the file."""
    start_ms: int = 0
    end_ms: int = 0
    role: str = ""
    customer: str = ""
    agent: str = ""
    at: float = 0.0
    """When the call began."""
    queue: str = ""
    site: str = ""
    sentiment: str | None = None
    intent: str | None = None
    tags: list[str] | None = None
    split: str = ""
    """As the set declares it; empty: it does not."""


class ImportedSet(msgspec.Struct, kw_only=True):
    rows: list[ImportedRow]
    form: str
    dictionaries: dict[str, list[str]] = {}
    """Intents and slots, in the order of NeMo's files."""


def declared_split(name: str) -> str:
    """The split that the name of a file or folder says: train, train_manifest.json, dev-clean."""
    words = re.split(r"[^a-z]+", name.lower())
    return next((SPLIT_NAMES[word] for word in words if word in SPLIT_NAMES), "")


def refuse_strays(strays: Iterable[str], where: Path, belongs: str) -> None:
    """By name, so that somebody can look at them."""
    found = sorted(strays)
    if found:
        more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        named = ", ".join(found[:SHOWN])
        raise BadInput(
            f"{where}: {named}{more} do not belong there"
            if len(found) > 1
            else f"{where}: {named} does not belong there",
            belongs,
        )
