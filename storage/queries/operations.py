"""How the pipeline is doing, from what it left in the database: throughput, latency by stage, and what went wrong."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from sqlalchemy import Integer, cast, func, select
from sqlmodel import Session

from storage.queries.periods import Period, day_of
from storage.tables import Call, DeadLetter, Sentence
from storage.viewer import Viewer

CALL = Call.__table__  # type: ignore[attr-defined]
SENTENCE = Sentence.__table__  # type: ignore[attr-defined]
DEAD = DeadLetter.__table__  # type: ignore[attr-defined]
STAGES = ("captured", "arrived", "ended", "recognised", "published", "understood", "sentence_published")
"""The times a spoken sentence carries, in order."""
WAITS = {
    "arrived": "Waiting for the end of the sentence",
    "ended": "Handing over to the recogniser",
    "recognised": "Recognising",
    "published": "Publishing the words",
    "understood": "Understanding",
    "sentence_published": "Publishing the sentence",
}
LATEST = 2_000
"""Sentences that latencies are worked out from."""
MOST = 10_000
"""Rows of any list; how many there are is counted, not read."""


@dataclass(frozen=True, slots=True)
class StageLatency:
    """How long one stage took, in milliseconds."""

    stage: str
    p50: float
    p95: float
    p99: float


@dataclass(frozen=True, slots=True)
class Latency:
    sentences: int
    total: StageLatency | None
    stages: tuple[StageLatency, ...]
    over_time: tuple[tuple[float, float, float], ...]
    """Moment, p50 and p95 of the sentences about it."""


@dataclass(frozen=True, slots=True)
class FailureCause:
    """Why something failed, how often, and when last."""

    stage: str
    reason: str
    times: int
    last: float


def latency(session: Session, viewer: Viewer, since: float) -> Latency:
    """Of the newest sentences that were spoken."""
    found = select(SENTENCE.c.spoken_at, SENTENCE.c.latency_ms, SENTENCE.c.times)
    found = found.join(CALL, CALL.c.id == SENTENCE.c.call).where(viewer.clause())
    found = found.where(SENTENCE.c.spoken_at >= since, SENTENCE.c.latency_ms.is_not(None))
    rows = session.execute(found.order_by(SENTENCE.c.spoken_at.desc()).limit(LATEST)).all()
    waits: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        known = [(stage, row.times[stage]) for stage in STAGES if stage in row.times]
        for (_, before), (stage, after) in pairwise(known):
            waits[stage].append(max(0.0, (after - before) * 1000))
    total = [row.latency_ms for row in rows]
    return Latency(
        sentences=len(rows),
        total=_wait("Together", total) if rows else None,
        stages=tuple(_wait(name, waits[stage]) for stage, name in WAITS.items() if waits[stage]),
        over_time=_over_time([(row.spoken_at, row.latency_ms) for row in rows]),
    )


def throughput(
    session: Session, viewer: Viewer, since: float, step_s: int, days: Period | None = None
) -> list[tuple[float, int]]:
    """Sentences in each step that had any, oldest first; with `days` a step is a day of their clock."""
    step = days.day_number(SENTENCE.c.spoken_at) if days else cast(func.floor(SENTENCE.c.spoken_at / step_s), Integer)
    found = select(step.label("step"), func.count().label("times")).where(SENTENCE.c.spoken_at >= since)
    if not viewer.sees_all:
        found = found.join(CALL, CALL.c.id == SENTENCE.c.call).where(viewer.clause())
    rows = session.execute(found.group_by(step).order_by(step))
    if days:
        return [(days.only(day_of(row.step)).since, row.times) for row in rows]
    return [(row.step * float(step_s), row.times) for row in rows]


def states(session: Session, viewer: Viewer, since: float) -> dict[str, int]:
    """How many calls are in each state, of those that began since then."""
    found = select(CALL.c.state, func.count().label("times")).where(viewer.clause(), CALL.c.started_at >= since)
    return {row.state: row.times for row in session.execute(found.group_by(CALL.c.state))}


def made_up(session: Session, viewer: Viewer, since: float) -> bool:
    """Whether any call of that time is sample data."""
    found = select(CALL.c.id).where(viewer.clause(), CALL.c.sample, CALL.c.started_at >= since).limit(1)
    return session.scalars(found).first() is not None


def failed(session: Session, viewer: Viewer, since: float, limit: int = 50) -> list[Call]:
    """Calls that failed, newest first; `reason` is for people."""
    found = select(Call).where(viewer.clause(), CALL.c.state == "failed", CALL.c.started_at >= since)
    return list(session.scalars(found.order_by(CALL.c.started_at.desc()).limit(min(limit, MOST))))


def dead_letters(session: Session, viewer: Viewer, since: float, limit: int = 50) -> list[DeadLetter]:
    """What stages could not read, newest first. Nobody's own, so for those who see all."""
    if not viewer.sees_all:
        return []
    found = select(DeadLetter).where(DEAD.c.at >= since)
    return list(session.scalars(found.order_by(DEAD.c.at.desc()).limit(min(limit, MOST))))


def dead(session: Session, viewer: Viewer, since: float) -> int:
    """How many dead letters there are."""
    if not viewer.sees_all:
        return 0
    return int(session.execute(select(func.count()).where(DEAD.c.at >= since)).scalar_one())


def causes(session: Session, viewer: Viewer, since: float) -> list[FailureCause]:
    """Dead letters by stage and reason, the most frequent first."""
    if not viewer.sees_all:
        return []
    columns = (DEAD.c.stage, DEAD.c.reason)
    found = select(*columns, func.count(), func.max(DEAD.c.at)).where(DEAD.c.at >= since).group_by(*columns)
    return [FailureCause(*row) for row in session.execute(found.order_by(func.count().desc()).limit(MOST))]


def _wait(name: str, values: list[float]) -> StageLatency:
    return StageLatency(name, *(percentile(values, share) for share in (50, 95, 99)))


def _over_time(points: list[tuple[float, float]], parts: int = 40) -> tuple[tuple[float, float, float], ...]:
    """The newest sentences in equal handfuls, so that quiet hours do not look noisy."""
    ordered = sorted(points)
    size = max(10, len(ordered) // parts)
    handfuls = [ordered[at : at + size] for at in range(0, len(ordered) - size // 2, size)]
    made = []
    for handful in handfuls:
        values = [value for _, value in handful]
        made.append((handful[len(handful) // 2][0], percentile(values, 50), percentile(values, 95)))
    return tuple(made)


def percentile(values: Sequence[float], share: float) -> float:
    """With straight lines between neighbours, as spreadsheets do it."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * share / 100
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
