"""One at a time changes the archive, its snapshots or its datasets: nobody writes what another erases."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

from storage.place import Place
from tenor.errors import BadInput
from tenor.settings import Settings


@contextmanager
def changing(settings: Settings, url: str = "") -> Iterator[Place]:
    """The place below `learn.url`, or another, while nobody else changes it: among all processes that share the folder,
    or among those of this machine where it is a URL. A process that dies lets go."""
    place = Place(url or settings.learn_url)
    folder = place.folder or settings.home
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / ".learn.lock").open("w")
    except OSError as error:
        raise BadInput(f"cannot write in {folder}: {error.strerror}", "choose another place with learn.url") from None
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield place
