"""How long things are kept: calls with all that belongs to them, recordings, the audit trail. 0 days: for ever."""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict, dataclass
from typing import Any

import structlog
from sqlalchemy import ColumnElement, Delete, Select, and_, delete, exists, func, or_, select, update
from sqlmodel import Session, col

from storage.db.engine import Database
from storage.db.retry import StageDatabase, patiently
from storage.db.vacuum import compact
from storage.recorder.store import RecordingStore
from storage.tables import Audit, Call, Customer, DeadLetter
from tenor.bus import Bus
from tenor.errors import TenorError
from tenor.settings import Settings

log = structlog.get_logger(__name__)

DAY_S, EVERY_S = 86_400.0, 3600.0
PIECE = 200
"""Calls of one transaction, so that nobody else waits long."""
OVER = ("ended", "analysed", "failed")


@dataclass(slots=True)
class PruneCounts:
    """How much was past its time."""

    calls: int = 0
    recordings: int = 0
    customers: int = 0
    """Of whom no call is left."""
    dead_letters: int = 0
    audit: int = 0

    def __bool__(self) -> bool:
        return any(asdict(self).values())


class RetentionWorker:
    """The stage: once an hour."""

    name = "retention"

    def __init__(self, bus: Bus, settings: Settings) -> None:
        self._settings = settings
        self._opening = StageDatabase(settings, self.name)

    async def waits_for(self) -> str:
        return await self._opening.waits_for()

    async def run(self) -> None:
        async with self._opening as database:
            while True:
                await patiently(database, self.name, lambda: prune(database, self._settings, "retention"))
                await patiently(database, self.name, lambda: tidy(database, "retention"))
                await asyncio.sleep(EVERY_S)


def prune(database: Database, settings: Settings, who: str, now: float | None = None) -> PruneCounts:
    """Delete what is past its time, for good; the audit trail says how much, not what. Can be done again."""
    keep, now = settings.storage, now or time.time()
    pruned = PruneCounts()
    recordings = RecordingStore(settings)
    if keep.keep_calls_days:
        before = now - keep.keep_calls_days * DAY_S
        nobody = ~exists().where(col(Call.customer) == col(Customer.id))
        while calls := _piece(database, select(Call).where(_older(before))):
            pruned.recordings += sum(recordings.delete(call.recording) for call in calls if call.recording)
            pruned.calls += _run(database, delete(Call).where(col(Call.id).in_([call.id for call in calls])))
            theirs = col(Customer.id).in_({call.customer for call in calls})
            pruned.customers += _run(database, delete(Customer).where(theirs, nobody))
        pruned.dead_letters = _run(database, delete(DeadLetter).where(col(DeadLetter.at) < before))
    if keep.keep_recordings_days:
        before = now - keep.keep_recordings_days * DAY_S
        while calls := _piece(database, select(Call).where(_older(before), col(Call.recording) != "")):
            pruned.recordings += sum(recordings.delete(call.recording) for call in calls)
            _run(database, update(Call).where(col(Call.id).in_([call.id for call in calls])).values(recording=""))
    if keep.keep_audit_days:
        pruned.audit = _run(database, delete(Audit).where(col(Audit.at) < now - keep.keep_audit_days * DAY_S))
    if pruned:
        with database.begin() as session:
            session.add(Audit(at=now, who=who, action="retention.pruned", detail=asdict(pruned)))
        log.info("past its time and deleted", **asdict(pruned))
    return pruned


def tidy(database: Database, who: str, now: float | None = None) -> bool:
    """Have the words of deleted calls leave the file too, once a day at most: SQLite keeps them in its free pages and
    in the search index until it is compacted, and writers wait meanwhile. Not on PostgreSQL, whose tables would be
    locked for as long; there `tenor erase --compact` does it when people choose to."""
    now = now or time.time()
    if database.is_postgres:
        return False
    with database.session() as session:
        last = {action: _last(session, action) for action in ("retention.pruned", "retention.compacted")}
    if last["retention.pruned"] <= last["retention.compacted"] or now - last["retention.compacted"] < DAY_S:
        return False
    try:
        compact(database)
    except TenorError as error:
        log.warning("not compacted; tried again in an hour", reason=error.message)
        return False
    with database.begin() as session:
        session.add(Audit(at=now, who=who, action="retention.compacted"))
    return True


def _last(session: Session, action: str) -> float:
    """When it was done last; 0: never."""
    found = select(col(Audit.at)).where(col(Audit.action) == action).order_by(col(Audit.at).desc()).limit(1)
    return session.scalars(found).first() or 0.0


def due(database: Database, settings: Settings, now: float | None = None) -> PruneCounts:
    """How many calls, recordings and audit rows `prune` would find now."""
    keep, now = settings.storage, now or time.time()

    def count(table: Any, *clauses: ColumnElement[bool]) -> int:
        with database.session() as session:
            return int(session.execute(select(func.count()).select_from(table).where(*clauses)).scalar_one())

    found = PruneCounts()
    kept = [days for days in (keep.keep_calls_days, keep.keep_recordings_days) if days]
    if kept:
        found.recordings = count(Call, _older(now - min(kept) * DAY_S), col(Call.recording) != "")
    if keep.keep_calls_days:
        before = now - keep.keep_calls_days * DAY_S
        found.calls, found.dead_letters = count(Call, _older(before)), count(DeadLetter, col(DeadLetter.at) < before)
    if keep.keep_audit_days:
        found.audit = count(Audit, col(Audit.at) < now - keep.keep_audit_days * DAY_S)
    return found


def _older(before: float) -> ColumnElement[bool]:
    """Calls that are over; and those of which nothing but a stray event is known."""
    started = col(Call.started_at)
    stray = and_(started == 0, col(Call.state_at) < before)
    return and_(started < before, or_(col(Call.state).in_(OVER) & (started > 0), stray))


def _piece(database: Database, query: Select[Call]) -> list[Call]:
    with database.session() as session:
        return list(session.scalars(query.order_by(col(Call.started_at)).limit(PIECE)))


def _run(database: Database, statement: Delete | Any) -> int:
    with database.begin() as session:
        return int(session.execute(statement).rowcount)  # type: ignore[attr-defined]
