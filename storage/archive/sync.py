"""A second place that holds the same: only what is new is copied, and either place can be used by `learn.url`.

What was made at the other place (snapshots, datasets) stays there. What was erased here is erased there.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import msgspec

from storage.archive import erasures, places, turn_days
from storage.archive.blobs import BlobStore
from storage.archive.lock import changing
from storage.archive.parts import newest, publish
from storage.archive.references import named_blobs, sweep
from storage.archive.sealing.place import ArchivePlace
from storage.place import Place
from tenor.errors import BadInput
from tenor.settings import Settings

AT_ONCE = 8
"""Blobs copied side by side: places elsewhere answer slowly, and there are many small ones."""
MANIFESTS = ("snapshots", "datasets")


class SyncReport(msgspec.Struct, kw_only=True):
    """What one run did."""

    to: str
    copied: int = 0
    copied_bytes: int = 0
    known: int = 0
    """Blobs that were there."""
    manifests: int = 0
    """Snapshots and datasets that were new there, or had changed."""
    deleted: int = 0
    """Blobs that nobody names any more."""
    damaged: list[str] = []
    """Blobs that are missing or damaged here, and were not copied."""
    seconds: float = 0.0


def sync(settings: Settings, url: str, progress: Callable[[int, int], None] = lambda *_: None) -> SyncReport:
    """Bring the place at `url` up to date. Can be killed at any moment, and done again."""
    began = time.monotonic()
    target = ArchivePlace(settings, url)
    ours, theirs = Place(settings.learn_url).path("x"), target.path("x")
    if ours == theirs:
        raise BadInput(f"{url} is the archive itself", "name another place")
    with ExitStack() as locks:
        both = sorted([settings.learn_url, url]) if target.folder else [settings.learn_url]
        for one in both:  # always in this order, so that two who go opposite ways do not wait for each other
            locks.enter_context(changing(settings, one))
        report = _copy(ArchivePlace(settings), target, progress)
        places.remember(ArchivePlace(settings), str(target.folder) if target.folder else url)
    report.seconds = round(time.monotonic() - began, 3)
    return report


def _copy(source: Place, target: Place, progress: Callable[[int, int], None]) -> SyncReport:
    report = SyncReport(to=target.url)
    state, there = newest(source), newest(target)
    if there.origin and state.origin != there.origin:
        raise BadInput(f"{target.url} holds another archive", "name an empty place, or the one of this archive")
    _copy_blobs(BlobStore(source), BlobStore(target), report, progress)
    erased = erasures.logged(source)
    known = {(one.receipt, one.old) for one in erasures.logged(target)}
    if new := {one.old: one for one in erased if (one.receipt, one.old) not in known}:
        erasures.follow(target, erasures.resolved(new))
        erasures.log_all(target, erased)
    for name in (name for folder in MANIFESTS for name in source.names(folder)):
        content = source.read(name)
        if not target.has(name) or target.read(name) != content:
            target.write(name, content)
            report.manifests += 1
    if state.number:
        had = {part.place: part.sha256 for part in there.parts}
        for part in state.parts:
            if part.kind == "turns" and had.get(part.place) != part.sha256:
                _copy_day(source, target, f"{turn_days.FOLDER}/{part.key}.csv")
        for name in set(target.names(turn_days.FOLDER)) - set(source.names(turn_days.FOLDER)):
            target.delete(name)
        if there.parts != state.parts:
            publish(target, msgspec.structs.replace(state, number=max(state.number, there.number + 1)))
    if target.folder or report.manifests or new:
        report.deleted = sweep(target)
    return report


def _copy_blobs(source: BlobStore, target: BlobStore, report: SyncReport, progress: Callable[[int, int], None]) -> None:
    wanted, report.damaged = named_blobs(source.place)
    there = set(target.all())
    missing = sorted(wanted - there)
    report.known = len(wanted) - len(missing)

    def copy(sha256: str) -> int | None:
        try:
            content = source.get(sha256)
        except BadInput:
            return None
        target.put(content)
        return len(content)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for number, (sha256, size) in enumerate(zip(missing, pool.map(copy, missing), strict=True), 1):
            if size is None:
                report.damaged += [] if sha256 in report.damaged else [sha256]
            else:
                report.copied += 1
                report.copied_bytes += size
            progress(number, len(missing))


def _copy_day(source: Place, target: Place, name: str) -> None:
    try:
        target.write(name, source.read(name))
    except FileNotFoundError:
        target.delete(name)
