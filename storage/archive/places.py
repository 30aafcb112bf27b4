"""Other places that hold copies of the archive: the second place, and what snapshots were restored into. An erasure
goes to all of them."""

from __future__ import annotations

import msgspec

from storage.place import Place
from tenor.settings import Settings

LIST = "places.json"


def known(settings: Settings) -> list[str]:
    place = Place(settings.learn_url)
    found = _listed(place)
    if settings.learn.sync:
        second = Place(settings.learn.sync)
        found.append(str(second.folder) if second.folder else second.url)
    return list(dict.fromkeys(found))


def remember(place: Place, url: str) -> None:
    """For who holds the lock."""
    found = _listed(place)
    if url not in found:
        place.write(LIST, msgspec.json.encode([*found, url]))


def _listed(place: Place) -> list[str]:
    try:
        return msgspec.json.decode(place.read(LIST), type=list[str])
    except (FileNotFoundError, msgspec.MsgspecError):
        return []
