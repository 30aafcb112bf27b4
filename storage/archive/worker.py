"""The stage that keeps the archive up to date: when it starts, and once a day."""

from __future__ import annotations

import msgspec
import structlog

from storage.archive.archiver import archive
from storage.archive.sync import sync
from storage.db.engine import Database
from storage.db.retry import RetryTarget, StageDatabase, once_a_day
from tenor.bus import Bus
from tenor.settings import Settings

log = structlog.get_logger(__name__)

ARCHIVE = RetryTarget((Exception,), "the archive cannot be written, trying again", "the archive can be written again")


class ArchiveWorker:
    name = "archive"

    def __init__(self, bus: Bus, settings: Settings) -> None:
        self._settings = settings
        self._opening = StageDatabase(settings, self.name)

    async def waits_for(self) -> str:
        return await self._opening.waits_for()

    async def run(self) -> None:
        async with self._opening as database:
            await once_a_day(lambda: self._archive(database), self.name, ARCHIVE)

    def _archive(self, database: Database) -> None:
        counts = archive(database, self._settings)
        log.info("archived", **msgspec.to_builtins(counts))
        for fault in counts.faults:
            log.error("a part of the archive is left as it is", reason=fault)
        if self._settings.learn.sync:
            report = sync(self._settings, self._settings.learn.sync)
            log.info("archive synchronised", **msgspec.to_builtins(report))
