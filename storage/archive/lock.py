"""One at a time changes the archive, its snapshots or its datasets: nobody writes what another erases."""

from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from storage.archive.sealing.place import ArchivePlace
from tenor.errors import BadInput
from tenor.settings import Settings


@contextmanager
def changing(settings: Settings, url: str = "") -> Iterator[ArchivePlace]:
    """The place below `learn.url`, or another, while nobody else changes it: among all processes that share the folder,
    or among those of this machine where it is a URL, or where nothing can be written again. A process that dies lets
    go."""
    place = ArchivePlace(settings, url)
    folder = settings.home if place.worm or place.folder is None else place.folder
    name = f".learn-{hashlib.sha256(place.url.encode()).hexdigest()[:16]}.lock" if place.worm else ".learn.lock"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / name).open("w")
    except OSError as error:
        raise BadInput(
            f"cannot write in {folder}: {error.strerror}", "choose another place: learn.url, --to or learn.sync"
        ) from None
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield place
