"""Jobs as people see them: submitted, listed, shown, stopped."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import func, select
from sqlmodel import Session, col

from storage.db.engine import Database
from storage.jobs import teams
from storage.jobs.scheduler import PRIORITIES, QueuedJob, schedule
from storage.runs.resources import host_name
from storage.runs.runs import RunView
from storage.runs.runs import find as find_run
from storage.tables import Audit, Job, JobEvent, JobRunner, Run
from storage.viewer import Viewer
from tenor.errors import BadInput
from tenor.settings import Settings
from tenor.yaml.nodes import meant

TRAINING = ("finetune", "learn")
"""Commands of training jobs: asked to end by SIGTERM they keep what they have reached, and go on from it later."""
PRIORITY_NAMES = {number: name for name, number in PRIORITIES.items()}
AT_ONCE = 10**9
"""Stands for the number of a job that is not submitted yet: it comes after all others."""


@dataclass(frozen=True, slots=True)
class Submission:
    """What somebody wants run."""

    words: tuple[str, ...]
    team: str = ""
    share: float = 1.0
    interactive: bool = False
    priority: str = "normal"
    minutes: float | None = None
    """How long an interactive job may run; None: as the settings say."""
    place: str = "queue"


def capacity_of(settings: Settings) -> int:
    """What this machine has, in thousandths of a share."""
    return teams.thousandths(settings.jobs.capacity or os.cpu_count() or 1)


def log_file(settings: Settings, job: int) -> Path:
    """What a job printed, on the machine where it ran."""
    return settings.home / "jobs" / f"{job}.log"


def submit(database: Database, viewer: Viewer, settings: Settings, wanted: Submission) -> int:
    """A new job; its number. Refuses what could never start."""
    viewer.must_train("submit jobs")
    share = teams.thousandths(wanted.share)
    _check_words(wanted)
    if not share:
        raise BadInput("a job needs a share of the machine", "say --share with a number such as 0.5 or 2")
    if wanted.priority not in PRIORITIES:
        raise BadInput(
            f"there is no priority {wanted.priority!r}{meant(wanted.priority, PRIORITIES)}",
            f"priorities: {', '.join(PRIORITIES)}",
        )
    now = time.time()
    with database.begin() as session:
        most = max([capacity_of(settings), *(one.capacity for one in _alive(session, now))])
        if wanted.place == "queue" and share > most:
            raise BadInput(
                f"no machine has {wanted.share:g} shares", f"this one has {teams.shown(most)}: see jobs.capacity"
            )
        team = teams.find(session, teams.chosen(session, viewer, wanted.team, most))
        if wanted.interactive and share > team.quota:
            raise BadInput(
                f"team {team.name} has a quota of {teams.shown(team.quota)}, which an interactive job may not exceed",
                "take a smaller --share",
            )
        made = Job(
            team=team.name, words=list(wanted.words), place=wanted.place, share=share, interactive=wanted.interactive,
            priority=PRIORITIES[wanted.priority], limit_s=_limit_s(settings, wanted), by=viewer.name, submitted_at=now,
        )  # fmt: skip
        session.add(made)
        session.flush()
        assert made.id is not None
        note(session, made, now)
        session.add(Audit(at=now, who=viewer.name, action="job.submitted", subject=str(made.id)))
        return made.id


def would_start(session: Session, settings: Settings, wanted: Submission) -> bool:
    """Whether a job would start at once: somebody runs jobs, and the scheduler would start it."""
    now, share = time.time(), teams.thousandths(wanted.share)
    quotas, team = teams.quotas(session), teams.guessed(session, wanted.team)
    new = QueuedJob(AT_ONCE, team, share, wanted.interactive, PRIORITIES.get(wanted.priority, 1))
    for runner in _alive(session, now):
        known = quotas or {team: runner.capacity}
        if AT_ONCE in schedule(runner.capacity, known, [*waiting_and_running(session, runner.host), new]).start:
            return True
    return False


def waiting_and_running(session: Session, host: str) -> list[QueuedJob]:
    """The jobs that concern one machine: what runs there, what it paused, and what was never started. A job that is on
    its way out counts as waiting: what it has is promised already."""
    rows = session.scalars(select(Job).where(col(Job.state).not_in(teams.OVER), col(Job.place) == "queue"))
    return [
        QueuedJob(
            row.id or 0, row.team, row.share, row.interactive, row.priority, row.state == "running" and not row.asked
        )
        for row in rows
        if row.host in ("", host) and row.asked != "stop"
    ]


def listing(session: Session, *, team: str = "", every: bool = False, limit: int = 100) -> list[Job]:
    """Jobs that are not over, or every one, the newest first."""
    query = select(Job).order_by(col(Job.id).desc()).limit(limit)
    if team:
        query = query.where(col(Job.team) == teams.find(session, team).name)
    if not every:
        query = query.where(col(Job.state).not_in(teams.OVER))
    return list(session.scalars(query))


def find(session: Session, number: int) -> Job:
    job = session.get(Job, number)
    if job is None:
        raise BadInput(f"there is no job {number}", "`tenor jobs list --all` shows every one")
    return job


def history(session: Session, number: int) -> list[JobEvent]:
    return list(session.scalars(select(JobEvent).where(col(JobEvent.job) == number).order_by(col(JobEvent.id))))


def run_of(session: Session, job: Job) -> RunView | None:
    """The run that a job became."""
    if number := job.run or run_number(session, job):
        return find_run(session, number) if session.get(Run, number) else None
    return None


def run_number(session: Session, job: Job) -> int:
    """Runs write down their process, and that is how a job finds its own; 0: there is none."""
    if not job.pid or job.started_at is None:
        return 0
    own = select(func.max(col(Run.id))).where(
        col(Run.host) == job.host, col(Run.pid) == job.pid, col(Run.started_at) >= job.started_at
    )
    return session.scalar(own) or 0


def runners(session: Session) -> list[JobRunner]:
    """The machines on which jobs are started now."""
    return _alive(session, time.time())


def stop(database: Database, viewer: Viewer, number: int) -> str:
    """Ask a job to stop; what was done about it."""
    viewer.must_train("stop jobs")
    now = time.time()
    with database.begin() as session:
        job = find(session, number)
        if job.state in teams.OVER:
            raise BadInput(f"job {number} is {job.state}: there is nothing to stop")
        session.add(Audit(at=now, who=viewer.name, action="job.stopped", subject=str(number)))
        if job.state == "running":
            job.asked, job.asked_at = "stop", None
            return "it saves a checkpoint and ends" if job.words[0] in TRAINING else "it is asked to end"
        job.state, job.ended_at = "stopped", now
        note(session, job, now, f"stopped by {viewer.name}")
        if job.place != "queue":
            return f"it is not counted any more; delete it on {job.place} yourself"
        return "it will not start"


def attempt(database: Database, number: int) -> tuple[Job, list[str]]:
    """A job of a cluster begins, or goes on, in this process: the job, and the words of the command to become."""
    now = time.time()
    with database.begin() as session:
        job = find(session, number)
        if job.place == "queue":
            raise BadInput(f"job {number} waits in the queue", "`tenor jobs run` starts it")
        if job.state in teams.OVER:
            raise BadInput(f"job {number} is {job.state}")
        job.run = job.run or run_number(session, job)
        job.state, job.host, job.pid, job.started_at, job.ended_at = "running", host_name(), os.getpid(), now, None
        note(session, job, now, f"on {job.host}")
    return job, command_of(job)


def command_of(job: Job) -> list[str]:
    """The words to start it with, now or again: a training is told its run; the whole loop finds its own way."""
    return [*job.words, *(["--resume", str(job.run)] if job.run and job.words[0] == "finetune" else [])]


def note(session: Session, job: Job, now: float, detail: str = "") -> None:
    """Write down what became of a job; every change of its state goes with one."""
    assert job.id is not None
    share = job.share if job.state == "running" and job.place == "queue" else 0
    session.add(JobEvent(job=job.id, team=job.team, at=now, state=job.state, share=share, detail=detail[:500]))


def _check_words(wanted: Submission) -> None:
    if not wanted.words:
        raise BadInput("what is to be run?", "e.g. `tenor jobs submit finetune house@3 --recipe head`")
    if not wanted.interactive and wanted.words[0] not in TRAINING:
        raise BadInput(
            f"`{wanted.words[0]}` cannot be paused, so it is no training job{meant(wanted.words[0], TRAINING)}",
            f"jobs are {' and '.join(f'`{one} ...`' for one in TRAINING)}, or anything with --interactive",
        )


def _limit_s(settings: Settings, wanted: Submission) -> float:
    if not wanted.interactive:
        if wanted.minutes is not None:
            raise BadInput("only interactive jobs have a time limit", "add --interactive, or leave --minutes out")
        return 0.0
    minutes = settings.jobs.interactive_minutes if wanted.minutes is None else wanted.minutes
    if not 0 <= minutes < 10**6:
        raise BadInput(f"{minutes:g} minutes are no time limit")
    return minutes * 60


def _alive(session: Session, now: float) -> list[JobRunner]:
    return list(session.scalars(select(JobRunner).where(col(JobRunner.until) >= now).order_by(col(JobRunner.host))))
