"""Other places that hold copies of the archive: the second place, and what snapshots were restored into. An erasure
goes to all of them."""

from __future__ import annotations

import msgspec

from storage.place import Place
from tenor.settings import Settings

LIST = "places.json"


def known(settings: Settings) -> list[str]:
    place = Place(settings.learn_url)
    try:
        found = msgspec.json.decode(place.read(LIST), type=list[str])
    except (FileNotFoundError, msgspec.MsgspecError):
        found = []
    return list(dict.fromkeys([*found, *([settings.learn.sync] if settings.learn.sync else [])]))


def remember(place: Place, url: str) -> None:
    """For who holds the lock."""
    try:
        found = msgspec.json.decode(place.read(LIST), type=list[str])
    except (FileNotFoundError, msgspec.MsgspecError):
        found = []
    if url not in found:
        place.write(LIST, msgspec.json.encode([*found, url]))
