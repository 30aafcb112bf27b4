"""Work of a stage on the database or on files: off the event loop, and again while they are away, locked or full."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import structlog
from sqlalchemy.exc import SQLAlchemyError

from storage import metrics
from storage.db.engine import Database, open_database
from storage.db.errors import blames_data, explained
from tenor.aio import in_thread
from tenor.errors import TenorError, Unavailable
from tenor.settings import Settings

log = structlog.get_logger(__name__)

T = TypeVar("T")
FIRST_S, LONGEST_S = 0.1, 5.0
"""Pauses between attempts."""
DAY_S = 86_400.0


class RetryTarget(NamedTuple):
    """What is worked on: which errors may pass, and what the log says when it is away and when it is back."""

    errors: tuple[type[Exception], ...]
    away: str
    back: str


DATABASE = RetryTarget(
    (SQLAlchemyError, OSError, ArithmeticError, ValueError, TypeError, Unavailable),
    "the database does not answer, trying again",
    "the database answers again",
)


class StageDatabase:
    """The database of a stage for as long as a block lasts; a server that is not there yet is waited for."""

    def __init__(self, settings: Settings, stage: str) -> None:
        self._settings, self._stage = settings, stage
        self._database: Database | None = None

    async def __aenter__(self) -> Database:
        self._database = await retried(
            lambda: open_database(self._settings), self._stage, lambda error: error, DATABASE
        )
        return self._database

    async def __aexit__(self, *exc: object) -> None:
        if self._database is not None:
            await in_thread(self._database.close)

    async def waits_for(self) -> str:
        return await in_thread(self._database.fault) if self._database else "the database"


async def patiently(database: Database, stage: str, work: Callable[[], T], limit_s: float = math.inf) -> T:
    """Run `work` until the database takes it. Raises when the data itself is at fault, or after `limit_s`."""

    def trouble(error: Exception) -> Exception:
        if blames_data(error):
            return error
        found = explained(error, database.engine.url)
        return Unavailable(found.message, found.hint)

    return await retried(work, stage, trouble, DATABASE, limit_s)


async def once_a_day(work: Callable[[], object], stage: str, target: RetryTarget) -> None:
    """Now, and every day from now on."""
    while True:
        await retried(work, stage, _unless_data_are_wrong, target)
        await asyncio.sleep(DAY_S)


def _unless_data_are_wrong(error: Exception) -> Exception:
    """A place or a database that is away may come back; what is wrong with the data would be wrong tomorrow, too."""
    if isinstance(error, TenorError) and not isinstance(error, Unavailable):
        return error
    return Unavailable(f"{type(error).__name__}: {error}")


async def retried(
    work: Callable[[], T],
    stage: str,
    judged: Callable[[Exception], Exception],
    target: RetryTarget,
    limit_s: float = math.inf,
) -> T:
    """Run `work` again and again while `judged` makes Unavailable of what it raises; after `limit_s` that is raised."""
    pause, began = FIRST_S, time.monotonic()
    while True:
        try:
            result = await in_thread(work)
        except target.errors as error:
            verdict = judged(error)
            if not isinstance(verdict, Unavailable) or time.monotonic() - began >= limit_s:
                raise verdict from error
            metrics.RETRIES.inc()
            if pause == FIRST_S:
                log.warning(target.away, stage=stage, reason=verdict.message)
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_S)
        else:
            if pause > FIRST_S:
                log.info(target.back, stage=stage)
            return result
