"""The archive's place, with the keys of what is sealed there."""

from __future__ import annotations

from storage.archive.sealing.keys import CallKeys
from storage.place import Place
from tenor.settings import Settings


class ArchivePlace(Place):
    """`learn.url`, or a copy at another place: whatever holds for one holds for the other."""

    def __init__(self, settings: Settings, url: str = "") -> None:
        super().__init__(url or settings.learn_url, worm=settings.learn.worm)
        self.keys = CallKeys(settings)
