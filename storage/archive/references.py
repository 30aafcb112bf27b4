"""Who names a blob: the archive, snapshots and datasets. One that nobody names is deleted."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from storage.archive.audio import sounds
from storage.archive.blobs import BlobStore
from storage.archive.parts import FOLDER, Part
from storage.place import Place

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


def named_blobs(place: Place) -> set[str]:
    """All that are named, by a manifest or by a table of audio."""
    found: set[str] = set()
    audio: set[str] = set()
    for _, names in manifests(place):
        found.update(part.sha256 for part in names.parts)
        audio.update(part.sha256 for part in names.parts if part.kind == "audio")
        found |= {names.rows} - {""}
    blobs = BlobStore(place)
    for sha256 in audio:
        if blobs.has(sha256):
            found |= {one for one, _, _ in sounds(blobs, sha256)}
    return found


def sweep(place: Place) -> int:
    """Delete blobs that nobody names any more; how many. Only for who holds the lock: others name theirs last."""
    if place.worm:
        return 0
    place.delete_unfinished()
    blobs = BlobStore(place)
    named = named_blobs(place)
    return sum(blobs.delete(sha256) for sha256 in blobs.all() if sha256 not in named)
