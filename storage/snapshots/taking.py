"""Taking a snapshot: the archive's parts, and files of a job, under a name with its time."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import structlog

from storage.archive.blobs import BlobStore
from storage.archive.lock import changing
from storage.archive.parts import Part, in_order, newest, root_hash
from storage.place import Place
from storage.snapshots import ontap
from storage.snapshots.manifest import NAME, Snapshot, file_name, listing
from storage.viewer import HOUSE, Viewer
from tenor.errors import BadInput, TenorError
from tenor.settings import Settings

log = structlog.get_logger(__name__)

VOLUME, BY_HAND = "calls", "manual"


def take(
    settings: Settings,
    *,
    by: str,
    job: str = "",
    files: Mapping[str, Path] = {},
    viewer: Viewer = HOUSE,
    now: float | None = None,
) -> Snapshot:
    """Take a snapshot of the archive as it is. `job`: what it is for, such as learn-42; `files`: what else belongs to
    it, such as the job's model and log, by the name it gets."""
    viewer.must_train("take snapshots")
    if job and not NAME.fullmatch(job):
        raise BadInput(f"{job[:50]!r} cannot be the name of a job", "letters, digits, dots and dashes")
    with changing(settings) as place:
        parts = [msgspec.structs.replace(part, stamp="") for part in newest(place).parts]
        if not parts and not files:
            raise BadInput(
                "the archive is empty: no call is over, and nobody has labelled anything",
                "`tenor analyze RECORDING --store` brings calls in, `tenor sample add` made-up ones",
            )
        blobs = BlobStore(place)
        parts += [_file(blobs, name, path) for name, path in files.items()]
        at = time.time() if now is None else now
        before = list(listing(place))
        known = {part.sha256 for snapshot in before for part in snapshot.parts}
        below = {part.place: part.below for snapshot in before for part in snapshot.parts}
        made = Snapshot(
            name=_free_name(place, job or BY_HAND, at),
            taken_at=at,
            by=by,
            job=job,
            root=root_hash(parts),
            parts=in_order(parts),
            ontap=settings.learn.ontap_volume,
            new_bytes=sum(
                part.bytes + max(0, part.below - below.get(part.place, 0)) for part in parts if part.sha256 not in known
            ),
        )
        place.write(file_name(made.name), encoded(made), writable=False)
        if made.ontap:
            try:
                ontap.snapshot_volume(settings, made.name)  # with the list of its parts in it
            except TenorError:
                place.delete(file_name(made.name))
                raise
            _delete_old_ones(settings, place, before, at)
        return made


def current_or_taken(settings: Settings, *, by: str, job: str, viewer: Viewer = HOUSE) -> Snapshot:
    """The newest snapshot that holds the archive as it is now, or a new one."""
    place = Place(settings.learn_url)
    wanted = root_hash(newest(place).parts)
    same = (one for one in reversed(list(listing(place))) if root_hash(one.parts) == wanted)
    return next(same, None) or take(settings, by=by, job=job, viewer=viewer)


def _delete_old_ones(settings: Settings, place: Place, snapshots: list[Snapshot], now: float) -> None:
    """Of ONTAP's snapshots, which no erasure reaches. Ours stay."""
    days = settings.learn.ontap_keep_days
    for one in snapshots:
        if one.ontap and days and not place.worm and one.taken_at < now - days * 86_400:
            try:
                ontap.delete_snapshot(settings, one.name, one.ontap)
            except BadInput:
                log.info("ONTAP had deleted a snapshot already", snapshot=one.name)
            place.write(file_name(one.name), encoded(msgspec.structs.replace(one, ontap="")), writable=False)


def encoded(snapshot: Snapshot) -> bytes:
    return msgspec.json.format(msgspec.json.encode(snapshot), indent=1)


def _free_name(place: Place, job: str, at: float) -> str:
    """A name says the second; of two in one second the later says the next."""
    second = int(at)
    while True:
        name = f"snap-{VOLUME}-{job}-{datetime.fromtimestamp(second, UTC):%Y-%m-%d-%H-%M-%S}"
        if not place.has(file_name(name)):
            return name
        second += 1


def _file(blobs: BlobStore, name: str, path: Path) -> Part:
    if not re.fullmatch(r"[\w.-]+(/[\w.-]+)*", name, re.ASCII) or ".." in name.split("/"):
        raise BadInput(f"{name[:80]!r} cannot be the name of a file in a snapshot")
    try:
        return Part(kind="file", key=name, sha256=blobs.put_file(path), bytes=path.stat().st_size, rows=1)
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from None
