"""Other places that hold copies of the archive: the second place, and what snapshots were restored into. An erasure
goes to all of them."""

from __future__ import annotations

import hashlib

from storage.place import Place
from tenor.settings import Settings

FOLDER = "places"
"""One file per place, with its URL: none is ever written again."""


def known(settings: Settings) -> list[str]:
    place = Place(settings.learn_url)
    found = _listed(place)
    if settings.learn.sync:
        second = Place(settings.learn.sync)
        found.append(str(second.folder) if second.folder else second.url)
    return list(dict.fromkeys(found))


def remember(place: Place, url: str) -> None:
    """For who holds the lock."""
    if url not in _listed(place):
        place.write(f"{FOLDER}/{hashlib.sha256(url.encode()).hexdigest()[:16]}.txt", url.encode())


def _listed(place: Place) -> list[str]:
    return [place.read(name).decode() for name in place.names(FOLDER)]
