"""The stage that keeps the archive up to date: when it starts, and once a day."""

from __future__ import annotations

import asyncio

import msgspec
import structlog

from storage.archive.archiver import archive
from storage.archive.sync import sync
from storage.db.engine import Database
from storage.db.retry import RetryTarget, opened, retried
from tenor.aio import in_thread
from tenor.bus import Bus
from tenor.errors import TenorError, Unavailable
from tenor.settings import Settings

log = structlog.get_logger(__name__)

EVERY_S = 86_400.0
ARCHIVE = RetryTarget((Exception,), "the archive cannot be written, trying again", "the archive can be written again")


class ArchiveWorker:
    name = "archive"

    def __init__(self, bus: Bus, settings: Settings) -> None:
        self._settings = settings

    async def run(self) -> None:
        database = await opened(self._settings, self.name)
        try:
            while True:
                await retried(lambda: self._archive(database), self.name, _judged, ARCHIVE)
                await asyncio.sleep(EVERY_S)
        finally:
            await in_thread(database.close)

    def _archive(self, database: Database) -> None:
        counts = archive(database, self._settings)
        log.info("archived", **msgspec.to_builtins(counts))
        if self._settings.learn.sync:
            report = sync(self._settings, self._settings.learn.sync)
            log.info("archive synchronised", **msgspec.to_builtins(report))


def _judged(error: Exception) -> Exception:
    """A place or a database that is away may come back; what is wrong with the data would be wrong tomorrow, too."""
    if isinstance(error, TenorError) and not isinstance(error, Unavailable):
        return error
    return Unavailable(f"{type(error).__name__}: {error}")
