"""Whether a snapshot is what it was: every blob is read and hashed, and the root hash worked out again. And whether
datasets still have their blobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from storage.archive.audio import sounds
from storage.archive.blobs import BlobStore
from storage.archive.parts import Part, newest
from storage.archive.references import Names
from storage.archive.sealing.place import ArchivePlace
from storage.archive.sealing.tables import blocks_of, is_sealed
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
    erased_calls: int = 0
    """Calls of a sealed archive whose key was deleted."""
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
    _read_all(blobs, dict(named(blobs, snapshot.parts)), report, progress)
    if isinstance(place, ArchivePlace):
        report.erased_calls = _without_key(place, blobs, snapshot.parts)
    return report


def verify_datasets(place: Place, progress: Callable[[int, int], None] = lambda *_: None) -> list[SnapshotReport]:
    """The same of what only datasets name: their rows, and the blobs of imported ones."""
    blobs = BlobStore(place)
    reports = []
    for file, dataset in dataset_files(place).items():
        wanted = {dataset.rows: ("rows of a dataset", 0)} if dataset.rows else {}
        wanted |= {} if dataset.snapshot else dict(named(blobs, dataset.parts))
        report = SnapshotReport(name="@".join(file.removesuffix(".json").split("/")[1:]))
        _read_all(blobs, wanted, report, progress)
        reports.append(report)
    return reports


class DatasetFile(Names, frozen=True):
    snapshot: str = ""
    """What it was made of; of an imported one empty."""


def dataset_files(place: Place) -> dict[str, DatasetFile]:
    """By the name of the file; without those that cannot be read."""
    found = {}
    for name in place.names("datasets"):
        try:
            found[name] = msgspec.json.decode(place.read(name), type=DatasetFile)
        except (msgspec.MsgspecError, FileNotFoundError):
            continue
    return found


def _read_all(
    blobs: BlobStore, wanted: dict[str, tuple[str, int]], report: SnapshotReport, progress: Callable[[int, int], None]
) -> None:
    for number, (sha256, (of, size)) in enumerate(wanted.items(), 1):
        if fault := blobs.fault(sha256):
            report.faults.append(BlobFault(sha256=sha256, fault=fault, of=of))
        else:
            report.blobs += 1
            report.bytes += size
        progress(number, len(wanted))


def _without_key(place: ArchivePlace, blobs: BlobStore, parts: tuple[Part, ...]) -> int:
    if not newest(place).sealed:
        return 0
    ids: set[str] = set()
    for part in parts:
        try:
            content = blobs.get(part.sha256)
        except BadInput:
            continue  # among the faults
        ids |= set(blocks_of(content)["key"].to_pylist()) if is_sealed(content) else set()
    return len(ids - place.keys.of_ids(ids).keys())


def named(blobs: BlobStore, parts: tuple[Part, ...]) -> Iterator[tuple[str, tuple[str, int]]]:
    """All blobs of parts, with what they are and their size; those of a table of audio too, if it can be read."""
    for part in parts:
        yield part.sha256, (f"{part.kind} of {part.key}" if part.kind != "file" else part.key, part.bytes)
        if part.kind == "audio":
            try:
                found = list(sounds(blobs, part.sha256))
            except BadInput:
                continue
            yield from ((sha256, (of, size)) for sha256, size, of in found)
