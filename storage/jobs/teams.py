"""Teams and their quotas, and what each had of the machines over time."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlmodel import Session, col

from storage.db.engine import Database
from storage.tables import Audit, Job, JobEvent, Team
from storage.viewer import Viewer
from tenor.errors import BadInput
from tenor.yaml.nodes import meant

WHOLE = 1000
"""Thousandths in a share."""
MOST = 1_000_000.0
"""Shares; more is a mistake in writing."""
DEFAULT = "default"
"""The team of those who made none."""
NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
"""What a cluster accepts as the name of a queue, too."""
OVER = ("done", "failed", "stopped")
"""States of jobs that wait for nothing more."""


@dataclass(frozen=True, slots=True)
class TeamView:
    """A team with what it has now, and had since some time ago."""

    name: str
    quota: int
    allocated: int
    running: int
    waiting: int
    used_s: float
    """Seconds of a whole share that its jobs had,"""
    waited_s: float
    """and how long its jobs waited for their first start, on average."""
    over_time: tuple[tuple[float, int], ...]
    """When what it had of the machines changed, and to what."""


def thousandths(shares: float) -> int:
    """A share as people write it, 0.5, as it is kept."""
    kept = round(shares * WHOLE) if -MOST < shares < MOST else -1  # also of what is no number
    if kept < 0:
        raise BadInput(f"{shares:g} is no share of a machine", "a share is a number such as 0.5 or 2")
    return kept


def shown(share: int) -> str:
    return f"{share / WHOLE:g}"


def add(database: Database, viewer: Viewer, name: str, quota: float) -> None:
    viewer.must_train("make teams")
    if not NAME.fullmatch(name):
        raise BadInput(f"{name!r} is no name of a team", "take lower-case letters, digits and hyphens")
    with database.begin() as session:
        if session.get(Team, name) is not None:
            raise BadInput(f"there is a team {name} already", f"`tenor teams set {name} --quota N` changes its quota")
        session.add(Team(name=name, quota=thousandths(quota), created_at=time.time(), by=viewer.name))
        _note(session, viewer, "team.added", name, quota)


def set_quota(database: Database, viewer: Viewer, name: str, quota: float) -> None:
    """Change a quota. What runs goes on; what starts and pauses next goes by the new one."""
    viewer.must_train("change quotas")
    with database.begin() as session:
        find(session, name).quota = thousandths(quota)
        _note(session, viewer, "team.changed", name, quota)


def remove(database: Database, viewer: Viewer, name: str) -> None:
    """A team goes when its jobs are over; they keep its name."""
    viewer.must_train("remove teams")
    with database.begin() as session:
        team = find(session, name)
        left = select(func.count()).select_from(Job).where(col(Job.team) == name, col(Job.state).not_in(OVER))
        if count := session.scalar(left):
            raise BadInput(
                f"team {name} has {count} job{'s' if count > 1 else ''} that are not over",
                "stop them first: `tenor jobs list` shows them",
            )
        session.delete(team)
        _note(session, viewer, "team.removed", name, 0)


def find(session: Session, name: str) -> Team:
    team = session.get(Team, name)
    if team is None:
        known = list(session.scalars(select(col(Team.name))))
        raise BadInput(f"there is no team {name!r}{meant(name, known)}", "`tenor teams list` shows all")
    return team


def quotas(session: Session) -> dict[str, int]:
    return {team.name: team.quota for team in session.scalars(select(Team))}


def chosen(session: Session, viewer: Viewer, name: str, capacity: int) -> str:
    """The team that a job is of: the one named, the only one, or, where nobody made any, one that has everything."""
    if name:
        return find(session, name).name
    known = list(session.scalars(select(col(Team.name)).order_by(col(Team.name))))
    if len(known) > 1:
        raise BadInput("which team is the job of?", f"say --team with one of {', '.join(known)}")
    if not known:
        session.add(Team(name=DEFAULT, quota=capacity, created_at=time.time(), by=viewer.name))
        session.flush()
        return DEFAULT
    return known[0]


def guessed(session: Session, name: str) -> str:
    """The team that `chosen` would choose, without making or refusing anything."""
    known = list(quotas(session))
    return name or (known[0] if len(known) == 1 else DEFAULT)


def overview(session: Session, since: float, now: float | None = None) -> list[TeamView]:
    """Every team: what it has now, and what it had since then."""
    until = time.time() if now is None else now
    jobs = list(session.scalars(select(Job).where(col(Job.state).not_in(OVER), col(Job.place) == "queue")))
    # A job that began before `since` has its event before it, too: what went on then is taken from its newest one.
    before = select(func.max(col(JobEvent.id))).where(col(JobEvent.at) < since).group_by(col(JobEvent.job))
    events = [
        *session.scalars(select(JobEvent).where(col(JobEvent.id).in_(before), col(JobEvent.share) > 0)),
        *session.scalars(
            select(JobEvent).where(col(JobEvent.at) >= since).order_by(col(JobEvent.at), col(JobEvent.id))
        ),
    ]
    waits = _waits(session, since)
    views = []
    for team in session.scalars(select(Team).order_by(col(Team.name))):
        own = [job for job in jobs if job.team == team.name]
        running = [job for job in own if job.state == "running"]
        course = _course([event for event in events if event.team == team.name], since)
        ends = [*(at for at, _ in course[1:]), until]
        used = sum(share / WHOLE * (end - at) for (at, share), end in zip(course, ends, strict=True))
        waited = waits.get(team.name, [])
        views.append(
            TeamView(
                team.name, team.quota, sum(job.share for job in running), len(running), len(own) - len(running),
                used, sum(waited) / len(waited) if waited else 0.0, tuple(course),
            )
        )  # fmt: skip
    return views


def _course(events: Sequence[JobEvent], since: float) -> list[tuple[float, int]]:
    """What a team had from when on: each job's newest event counts."""
    shares: dict[int, int] = {}
    course: list[tuple[float, int]] = [(since, 0)]
    for event in events:
        shares[event.job] = event.share
        at, total = max(event.at, since), sum(shares.values())
        if at == course[-1][0]:
            course[-1] = (at, total)
        elif total != course[-1][1]:
            course.append((at, total))
    return course


def _waits(session: Session, since: float) -> dict[str, list[float]]:
    first = (
        select(col(JobEvent.job), func.min(col(JobEvent.at)).label("at"))
        .where(col(JobEvent.state) == "running")
        .group_by(col(JobEvent.job))
        .subquery()
    )
    found: dict[str, list[float]] = {}
    query = select(col(Job.team), first.c.at - col(Job.submitted_at)).join(first, first.c.job == col(Job.id))
    for team, waited in session.execute(query.where(first.c.at >= since)):
        found.setdefault(team, []).append(max(0.0, waited))
    return found


def _note(session: Session, viewer: Viewer, action: str, name: str, quota: float) -> None:
    session.add(Audit(at=time.time(), who=viewer.name, action=action, subject=name, detail={"quota": quota}))
