"""Whether a snapshot is what it was: every blob is read and hashed, and the root hash worked out again."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from storage.archive import tables
from storage.archive.blobs import BlobStore
from storage.archive.parts import Part
from storage.place import Place
from storage.snapshots.manifest import find
from tenor.errors import BadInput


class BlobFault(msgspec.Struct, frozen=True, kw_only=True):
    sha256: str
    fault: str
    """`missing` or `damaged`."""
    of: str
    """The part it belongs to: sentences of 2026-11-18."""


class SnapshotReport(msgspec.Struct, kw_only=True):
    name: str
    blobs: int = 0
    bytes: int = 0
    faults: list[BlobFault] = []
    erasures: int = 0
    root_matches: bool = True
    """False: somebody changed what the snapshot names."""

    @property
    def sound(self) -> bool:
        return self.root_matches and not self.faults


def verify(place: Place, name: str, progress: Callable[[int, int], None] = lambda *_: None) -> SnapshotReport:
    """All that is wrong with a snapshot; what is not named can be used."""
    snapshot = find(place, name)
    report = SnapshotReport(name=name, erasures=snapshot.erasures)
    report.root_matches = snapshot.original_root() == snapshot.root
    blobs = BlobStore(place)
    wanted = dict(named(blobs, snapshot.parts))
    for number, (sha256, (of, size)) in enumerate(wanted.items(), 1):
        fault = blobs.fault(sha256)
        if fault:
            report.faults.append(BlobFault(sha256=sha256, fault=fault, of=of))
        else:
            report.blobs += 1
            report.bytes += size
        progress(number, len(wanted))
    return report


def named(blobs: BlobStore, parts: tuple[Part, ...]) -> Iterator[tuple[str, tuple[str, int]]]:
    """All blobs of parts, with what they are and their size; those of a table of audio too, if it can be read."""
    for part in parts:
        yield part.sha256, (f"{part.kind} of {part.key}" if part.kind != "file" else part.key, part.bytes)
        if part.kind == "audio":
            try:
                table = tables.from_bytes(blobs.get(part.sha256), ["call", "channel", "sha256", "bytes"])
            except BadInput:
                continue
            for row in table.to_pylist():
                yield row["sha256"], (f"audio of call {row['call']}, channel {row['channel']}", row["bytes"])
