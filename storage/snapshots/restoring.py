"""A snapshot as a place of its own, beside the archive: `learn.url` names it, and a job runs again as it ran then.

Blobs are hard links where that is possible, so that it takes seconds and no space; nothing of the old place changes.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path

from storage.archive import places
from storage.archive.blobs import BlobStore, blob_name
from storage.archive.lock import changing
from storage.archive.parts import ArchiveState, newest, publish
from storage.place import Place
from storage.snapshots.manifest import file_name, find
from storage.snapshots.verifying import BlobFault, SnapshotReport, dataset_files, named
from storage.viewer import HOUSE, Viewer
from tenor.errors import BadInput
from tenor.settings import Settings


def restore(
    settings: Settings,
    name: str,
    into: str,
    *,
    viewer: Viewer = HOUSE,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> SnapshotReport:
    """Make a new place of a snapshot, with the datasets that were made of it. A blob that is missing or damaged is
    named and left out."""
    viewer.must_train("restore snapshots")
    target = Place(into)
    if target.folder and target.folder.is_dir() and any(target.folder.iterdir()):
        raise BadInput(f"{into} is not empty", "name a new folder: a snapshot is restored beside what is there")
    if target.names("archive") or target.names("snapshots"):
        raise BadInput(f"{into} holds an archive", "name a new place: a snapshot is restored beside what is there")
    with changing(settings) as place:
        snapshot = find(place, name)
        places.remember(place, str(target.folder.resolve()) if target.folder else into)
        blobs = BlobStore(place)
        wanted = dict(named(blobs, snapshot.parts))
        datasets = {file: one for file, one in dataset_files(place).items() if one.snapshot == name}
        for names in datasets.values():
            wanted |= {part.sha256: (f"{part.kind} of a dataset", part.bytes) for part in names.parts}
            wanted |= {names.rows: ("rows of a dataset", 0)} if names.rows else {}
        report = SnapshotReport(name=name, erasures=snapshot.erasures)
        for number, (sha256, (of, size)) in enumerate(wanted.items(), 1):
            if fault := blobs.fault(sha256):
                report.faults.append(BlobFault(sha256=sha256, fault=fault, of=of))
            else:
                _copy(place, target, sha256)
                report.blobs += 1
                report.bytes += size
            progress(number, len(wanted))
        for file in [file_name(name), *datasets]:
            target.write(file, place.read(file))
        archived = tuple(part for part in snapshot.parts if part.kind != "file")
        publish(
            target,
            ArchiveState(
                number=1, origin=secrets.token_hex(8), at=snapshot.taken_at, parts=archived, sealed=newest(place).sealed
            ),
        )
    return report


def _copy(source: Place, target: Place, sha256: str) -> None:
    name = blob_name(sha256)
    if source.folder and target.folder:
        link = Path(target.path(name))
        link.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(source.path(name), link)
            return
        except FileExistsError:
            return
        except OSError:  # another file system
            pass
    BlobStore(target).put(source.read(name))
