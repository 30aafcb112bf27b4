"""The stage that delivers the report of each week when the week is over: each once, also after a restart.

What was delivered is in the audit trail. A folder or a mail server that is away is tried again, until the next week.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import structlog
from sqlalchemy import func
from sqlmodel import Session, col, select

from dashboard.report.figures import WeekReport, iso_week, week_of, week_report, zone_of
from storage.db.engine import Database
from storage.db.retry import StageDatabase
from storage.queries.history import Scope
from storage.queries.periods import Period
from storage.tables import Audit
from storage.viewer import HOUSE
from tenor.aio import in_thread
from tenor.bus import Bus
from tenor.errors import TenorError
from tenor.settings import ReportSettings, Settings

log = structlog.get_logger(__name__)

EVERY_S = 600.0
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
DELIVERED = "report.delivered"
LOCK = 0x7265706F7274  # "report": on PostgreSQL two may find that one is due at the same time


class ReportWorker:
    name = "reports"

    def __init__(self, bus: Bus, settings: Settings) -> None:
        self._settings = settings
        self._opening = StageDatabase(settings, self.name)
        given = settings.report
        zone_of(given.zone)
        if given.mail:
            from dashboard.report import delivery

            delivery.check_mail(given, given.mail)

    async def waits_for(self) -> str:
        return await self._opening.waits_for()

    async def run(self) -> None:
        given = self._settings.report
        async with self._opening as database:
            while given.folder or given.mail:
                await in_thread(lambda: deliver_due(database, self._settings, time.time()))
                await asyncio.sleep(EVERY_S)
            await asyncio.Event().wait()  # nobody wants any


def deliver_due(database: Database, settings: Settings, now: float) -> int:
    """Deliver what is due and was not delivered yet; how much that was. What fails is tried again the next time."""
    given = settings.report
    week = due_week(given, now)
    done = 0
    with _alone(database) as mine:
        for team in (given.teams or [""]) if mine else ():
            for target in _targets(given):
                subject = f"{iso_week(week.first)} {team or 'everyone'} {target}"
                try:
                    done += _deliver(database, settings, team, week, target, subject, now)
                except (TenorError, OSError) as error:
                    reason = error.message if isinstance(error, TenorError) else str(error)
                    log.warning("a report was not delivered, trying again later", report=subject, reason=reason)
    return done


def due_week(settings: ReportSettings, now: float) -> Period:
    """The newest week whose report is due: it is over, and the day and hour of its report have come."""
    zone = zone_of(settings.zone)
    last = week_of("", zone, now)
    monday = last.last + timedelta(days=1)
    due = monday + timedelta(days=DAYS.index(settings.day))
    local = datetime.fromtimestamp(now, zone)
    if (local.date(), local.hour) >= (due, settings.hour):
        return last
    return last.before()


def _targets(settings: ReportSettings) -> list[str]:
    mails = ["mail to " + ", ".join(settings.mail)] if settings.mail else []
    return [*mails, *([f"folder {settings.folder}"] if settings.folder else [])]


def _deliver(
    database: Database, settings: Settings, team: str, week: Period, target: str, subject: str, now: float
) -> bool:
    with database.session() as session:
        known = select(Audit.id).where(col(Audit.action) == DELIVERED, col(Audit.subject) == subject)
        if session.exec(known).first() is not None:
            return False
        report = week_report(session, HOUSE, Scope(team=team), week, now)
    from dashboard.report import delivery

    if target.startswith("mail"):
        delivery.mail(report, settings, settings.report.mail)
    else:
        delivery.write(report, settings, Path(settings.report.folder) / delivery.file_name(report))
    note_delivery(database, report, subject, "reports")
    log.info("report delivered", report=subject, calls=report.now.total.calls)
    return True


def note_delivery(database: Database, report: WeekReport, subject: str, by: str) -> None:
    with database.begin() as session:
        detail = {"week": report.week, "calls": report.now.total.calls}
        session.add(Audit(at=time.time(), who=by, action=DELIVERED, subject=subject, detail=detail))


@contextmanager
def _alone(database: Database) -> Iterator[bool]:
    """Whether no other process delivers right now; SQLite has but one machine, where one such stage is enough."""
    if not database.is_postgres:
        yield True
        return
    with database.session() as session:
        yield _locked(session)  # until the session ends


def _locked(session: Session) -> bool:
    return bool(session.scalar(select(func.pg_try_advisory_xact_lock(LOCK))))
