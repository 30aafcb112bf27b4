"""Who names a blob: the archive, snapshots and datasets. One that nobody names is deleted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from storage.archive.audio import sounds
from storage.archive.blobs import BlobStore
from storage.archive.parts import FOLDER, Part
from storage.place import Place
from tenor.errors import BadInput

MANIFESTS = (FOLDER, "snapshots", "datasets")


class Names(msgspec.Struct, frozen=True):
    """What every manifest has: its parts, and of a dataset the blob with its rows."""

    parts: tuple[Part, ...] = ()
    rows: str = ""


def manifests(place: Place) -> Iterator[tuple[str, Names]]:
    for folder in MANIFESTS:
        for name in place.names(folder):
            if name.endswith(".json"):
                try:
                    yield name, msgspec.json.decode(place.read(name), type=Names)
                except (msgspec.MsgspecError, FileNotFoundError):
                    continue  # whoever uses it says what is wrong with it


class NamedBlobs(NamedTuple):
    found: set[str]
    """All that are named, by a manifest or by a table of audio."""
    damaged: list[str]
    """Tables of audio that cannot be read: what they name is not known."""


def named_blobs(place: Place) -> NamedBlobs:
    found: set[str] = set()
    damaged: list[str] = []
    audio: set[str] = set()
    for _, names in manifests(place):
        found.update(part.sha256 for part in names.parts)
        audio.update(part.sha256 for part in names.parts if part.kind == "audio")
        found |= {names.rows} - {""}
    blobs = BlobStore(place)
    for sha256 in audio:
        try:
            found |= {one for one, _, _ in sounds(blobs, sha256)} if blobs.has(sha256) else set()
        except BadInput:
            damaged.append(sha256)
    return NamedBlobs(found, damaged)


def sweep(place: Place) -> int:
    """Delete blobs that nobody names any more; how many. Only for who holds the lock: others name theirs last."""
    if place.worm:
        return 0
    place.delete_unfinished()
    blobs = BlobStore(place)
    named, damaged = named_blobs(place)
    if damaged:
        return 0
    return sum(blobs.delete(sha256) for sha256 in blobs.all() if sha256 not in named)
