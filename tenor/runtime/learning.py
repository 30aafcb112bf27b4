"""The stage that watches for drift once a day, and starts to learn when it is asked to: on drift, or by a schedule."""

from __future__ import annotations

import multiprocessing
import time
from multiprocessing.process import BaseProcess

import structlog

from storage.db.engine import Database, using
from storage.db.retry import RetryTarget, StageDatabase, once_a_day
from storage.drift.watching import DriftUpdate, bring_up_to_date
from storage.place import Place
from storage.viewer import HOUSE
from tenor.aio import in_thread
from tenor.bus import Bus
from tenor.errors import TenorError
from tenor.settings import Settings

log = structlog.get_logger(__name__)

DAY_S, LATE_S = 86_400.0, 3600.0
EVERY_DAYS = {"daily": 1, "weekly": 7, "monthly": 30}
ENDS_S = 10.0
"""How long a loop that is asked to end may take; it goes on from there next time."""
DRIFT = RetryTarget((Exception,), "drift cannot be measured, trying again", "drift can be measured again")


class LearnWorker:
    name = "learn"

    def __init__(self, bus: Bus, settings: Settings) -> None:
        self._settings = settings
        self._opening = StageDatabase(settings, self.name)
        self._loop: BaseProcess | None = None

    async def waits_for(self) -> str:
        return await self._opening.waits_for()

    async def run(self) -> None:
        async with self._opening as database:
            try:
                await once_a_day(lambda: self._watch(database), self.name, DRIFT)
            finally:
                await in_thread(self._end)

    def _watch(self, database: Database) -> None:
        update = bring_up_to_date(database, self._settings)
        log.info("drift measured", newest=update.newest, alarms=update.alarms, new=update.new_alarms)
        if update.new_alarms:
            log.warning("what is said, or what it means, has changed: see `tenor drift`", alarms=update.alarms)
        if not (self._settings.learn.on_drift == "learn" or self._settings.learn.schedule in EVERY_DAYS):
            return  # what trains is not even imported
        reason = reason_to_learn(self._settings, update, last_learned(self._settings), time.time())
        if reason and not (self._loop and self._loop.is_alive()):
            log.info("learning", reason=reason)
            # in a process of its own: it needs a core and memory, and must be able to end without its parent
            self._loop = multiprocessing.get_context("spawn").Process(target=run_loop, args=(self._settings,))
            self._loop.start()

    def _end(self) -> None:
        if self._loop is not None and self._loop.is_alive():
            self._loop.terminate()
            self._loop.join(ENDS_S)


def last_learned(settings: Settings) -> float:
    """When `tenor learn` did something last; 0: never."""
    from tenor.learn.loop import NAME
    from tenor.learn.steps import StepRecords

    return StepRecords(Place(settings.learn_url), NAME).last_at


def reason_to_learn(settings: Settings, update: DriftUpdate, last: float, now: float) -> str:
    """Why `tenor learn` is due; empty: it is not. Never twice on one day."""
    if now - last < DAY_S - LATE_S:
        return ""
    if settings.learn.on_drift == "learn" and update.new_alarms:
        return "drift"
    days = EVERY_DAYS.get(settings.learn.schedule)
    return "schedule" if days is not None and now - last >= days * DAY_S - LATE_S else ""


def run_loop(settings: Settings) -> None:
    """What `tenor learn` does, told to the log."""
    from tenor.learn.loop import learn

    try:
        with using(settings) as database:
            result = learn(
                settings, database, HOUSE, told=lambda step: log.info("learned", step=step.step, text=step.text)
            )
        log.info("learning is over", models=result.models, passed=result.passed, promoted=result.promoted)
    except TenorError as error:
        log.warning("nothing was learned", reason=error.message, hint=error.hint)
