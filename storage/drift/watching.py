"""Drift brought up to date: days that are over are measured and examined, once each; labels come late, and count."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import msgspec
from sqlalchemy import Delete, Integer, cast, delete, func, select
from sqlmodel import SQLModel, col

from storage import metrics
from storage.archive.days import DAY_S, FINISHED, day_of
from storage.db.engine import Database
from storage.drift.detection import examined
from storage.drift.measures import ACCURACY, Measure
from storage.drift.measuring import sums_of_accuracy, sums_of_day
from storage.drift.queries import newest_alarms
from storage.drift.vocabulary import Vocabulary
from storage.tables import Call, DriftSum, DriftTest
from tenor.settings import Settings

FIRST_DAYS = 120
"""How far back it looks where nothing was measured yet."""
AGAIN_DAYS = 3
"""The newest days are measured again, whatever has changed since; older ones when calls were brought in."""
EVERY_CALL: Measure = "foreign"
"""The measure that every call has which has a sentence."""
LOCK = 0x6472696674  # "drift": on PostgreSQL two may bring it up to date at the same time
Progress = Callable[[int, int, str], None]


class DriftUpdate(msgspec.Struct, frozen=True, kw_only=True):
    """What was done."""

    days: int
    """Measured, or measured again."""
    newest: str
    """The last day that is over; empty: there is nothing yet."""
    alarms: int
    """Figures that are an alarm on the newest day,"""
    new_alarms: int
    """and those among them that were none on the day before."""


def bring_up_to_date(
    database: Database, settings: Settings, now: float | None = None, progress: Progress = lambda *_: None
) -> DriftUpdate:
    """Measure the days that are over, and examine them. Can be interrupted, and done again."""
    changed, days = _days(database, now or time.time())
    vocabulary = Vocabulary(settings.models_folder)
    for number, day in enumerate(changed):
        progress(number, len(changed), day)
        with database.session() as session:
            rows = sums_of_day(session, day, vocabulary)
        of_day = delete(DriftSum).where(col(DriftSum.day) == day, col(DriftSum.measure) != ACCURACY)
        _replace(database, of_day, rows)
    if days:
        with database.session() as session:
            accuracy = sums_of_accuracy(session, settings.learn.experts)
        _replace(database, delete(DriftSum).where(col(DriftSum.measure) == ACCURACY), accuracy)
        with database.session() as session:
            tests = examined(session, days)
        _replace(database, delete(DriftTest).where(col(DriftTest.day).in_(days)), tests)
    with database.session() as session:
        alarms = newest_alarms(session)
    update = DriftUpdate(
        days=len(changed),
        newest=days[-1] if days else "",
        alarms=len(alarms),
        new_alarms=sum(alarm.first == alarm.last for alarm in alarms),
    )
    metrics.DRIFT_ALARMS.set(update.alarms)
    return update


def _days(database: Database, now: float) -> tuple[list[str], list[str]]:
    """Days that are over and have calls that were not measured yet; and all from the first of them on, since what
    comes after depends on it."""
    last = int(now // DAY_S) - 1
    begin = (last + 1 - FIRST_DAYS) * DAY_S
    number = cast(func.floor(col(Call.started_at) / DAY_S), Integer)
    calls = select(number, func.count()).where(col(Call.state).in_(FINISHED), col(Call.sentences) > 0)
    calls = calls.where(col(Call.started_at) >= begin, col(Call.started_at) < (last + 1) * DAY_S)
    measured = select(col(DriftSum.day), func.sum(col(DriftSum.calls)))
    measured = measured.where(col(DriftSum.scope) == "house", col(DriftSum.name) == "")
    measured = measured.where(col(DriftSum.measure) == EVERY_CALL).group_by(col(DriftSum.day))
    with database.session() as session:
        there = {day_of(one * DAY_S): count for one, count in session.execute(calls.group_by(number)).all()}
        known = {day: int(count) for day, count in session.execute(measured).all()}
    newest = day_of((last + 1 - AGAIN_DAYS) * DAY_S)
    changed = sorted(day for day, count in there.items() if day >= newest or count > known.get(day, 0))
    return changed, sorted(day for day in {*there, *known} if changed and day >= changed[0])


def _replace(database: Database, what: Delete, rows: Sequence[SQLModel]) -> None:
    """Together, so that nobody sees half of it."""
    with database.begin() as session:
        if database.is_postgres:
            session.execute(select(func.pg_advisory_xact_lock(LOCK)))
        session.execute(what)
        session.add_all(rows)
