"""Work on the database from a stage: off the event loop, and again when the database is away, locked or full."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from typing import TypeVar

import structlog
from sqlalchemy.exc import SQLAlchemyError

from storage import metrics
from storage.database import Database, open_database
from storage.trouble import blames_data, explained
from tenor.errors import Unavailable
from tenor.settings import Settings

log = structlog.get_logger(__name__)

T = TypeVar("T")
FIRST_S, LONGEST_S = 0.1, 5.0
"""Pauses between attempts."""


async def in_thread(work: Callable[[], T]) -> T:
    """Run `work` in a thread. Cancelled, it still waits for the thread: nothing may be closed under its feet."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


async def opened(settings: Settings, stage: str) -> Database:
    """The database; a server that is not there yet is waited for."""
    return await _again(lambda: open_database(settings), stage, lambda error: error)


async def patiently(database: Database, stage: str, work: Callable[[], T], limit_s: float = math.inf) -> T:
    """Run `work` until the database takes it. Raises when the data itself is at fault, or after `limit_s`."""

    def trouble(error: Exception) -> Exception:
        if blames_data(error):
            return error
        found = explained(error, database.engine.url)
        return Unavailable(found.message, found.hint)

    return await _again(work, stage, trouble, limit_s)


async def _again(
    work: Callable[[], T], stage: str, judged: Callable[[Exception], Exception], limit_s: float = math.inf
) -> T:
    pause, began = FIRST_S, time.monotonic()
    while True:
        try:
            result = await in_thread(work)
        except (SQLAlchemyError, OSError, ArithmeticError, ValueError, TypeError, Unavailable) as error:
            verdict = judged(error)
            if not isinstance(verdict, Unavailable) or time.monotonic() - began >= limit_s:
                raise verdict from error
            metrics.RETRIES.inc()
            if pause == FIRST_S:
                log.warning("the database does not answer, trying again", stage=stage, reason=verdict.message)
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_S)
        else:
            if pause > FIRST_S:
                log.info("the database answers again", stage=stage)
            return result
