"""Starts, pauses and resumes jobs on this machine, as the scheduler says.

A job is claimed in the database before its process starts, and its process outlives the runner. So a runner that is
killed at any moment leaves jobs that run, and the next one finds them by their marks and goes on.
"""

from __future__ import annotations

import asyncio
import subprocess
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress

import structlog
from sqlalchemy import select, update
from sqlmodel import Session, col

from storage.db.engine import Database
from storage.db.retry import StageDatabase, patiently
from storage.jobs import gauges, process, queue, teams
from storage.jobs.lease import LEASE_S, RunnerLease
from storage.jobs.scheduler import schedule
from storage.runs.resources import host_name
from storage.tables import Job, Run
from tenor.aio import in_thread
from tenor.settings import Settings

log = structlog.get_logger(__name__)

EVERY_S = 1.0
"""How often the runner looks."""
GRACE_S = 120.0
"""How long a job may take to save its checkpoint and end; then it is killed, and goes on from an earlier one."""
MOST_DEATHS = 5
"""A job whose process was killed so often by somebody else, or for want of memory, has failed."""
PAUSED = 75
"""What a training exits with when it was asked to end and has saved a checkpoint."""
RUN_STATES = {"done": 0, "paused": PAUSED, "stopped": PAUSED, "failed": 1}
"""What a run's state says of the process that nobody waited for."""


class JobRunner:
    """The runner of this machine. `program` is this Tenor, with options for the settings that are in force here."""

    def __init__(
        self, settings: Settings, program: Sequence[str], *, lease_s: float = LEASE_S, grace_s: float = GRACE_S
    ) -> None:
        self._settings, self._program, self._lease_s, self._grace_s = settings, tuple(program), lease_s, grace_s
        self._host, self._capacity = host_name(), queue.capacity_of(settings)
        self._children: dict[int, subprocess.Popen[bytes]] = {}
        self._holds = False

    async def run(self, *, until_idle: bool = False) -> None:
        """Until it is cancelled, or nothing is left to do. Cancelled, it pauses the training jobs first."""
        async with StageDatabase(self._settings, "jobs") as database:
            lease = RunnerLease(database, self._host, self._capacity, self._lease_s)
            try:
                while True:
                    busy = await patiently(database, "jobs", lambda: self.step(database, lease))
                    if until_idle and self._holds and not busy:
                        return
                    await asyncio.sleep(EVERY_S)
            finally:
                if self._holds:
                    await in_thread(lambda: self._pause_all(database, lease))

    def step(self, database: Database, lease: RunnerLease) -> bool:
        """One look at everything. Whether a job of this machine is not over."""
        holds = lease.renew()
        if holds != self._holds:
            log.info("this runner starts the jobs of this machine" if holds else "another runner does; this one waits")
        self._holds = holds
        if not holds:
            self._children.clear()  # whoever holds the lease finds them
            return True
        running = self._running(database)
        alive: dict[int, int] = {}
        for job in running:
            assert job.id is not None
            found = self._pid(job)
            if found:
                alive[job.id] = found
                self._attend(database, job, found)
            else:
                self._ended(database, job)
        self._follow_plan(database, alive)
        with database.session() as session:
            gauges.show(session)
            return bool(queue.waiting_and_running(session, self._host))

    # -- what runs

    def _running(self, database: Database) -> list[Job]:
        with database.session() as session:
            own = (col(Job.state) == "running", col(Job.host) == self._host, col(Job.place) == "queue")
            return list(session.scalars(select(Job).where(*own).order_by(col(Job.id))))

    def _pid(self, job: Job) -> int:
        """Its process, while it lives."""
        assert job.id is not None
        child = self._children.get(job.id)
        if child is not None:
            return 0 if child.poll() is not None else child.pid
        return process.find(job.pid, job.mark)

    def _attend(self, database: Database, job: Job, pid: int) -> None:
        """Write down what is known of it meanwhile; signal it if it is to end; kill it if it does not."""
        now = time.time()
        values: dict[str, object] = {}
        with database.session() as session:
            if not job.run and (number := queue.run_number(session, job)):
                values["run"] = number
        if job.pid != pid:
            values["pid"] = pid
        if job.limit_s and not job.asked and now - (job.started_at or now) > job.limit_s:
            job.asked = "stop"
            values |= {"asked": "stop", "error": f"its time limit of {job.limit_s / 60:g} minutes is over"}
        if job.asked and job.asked_at is None:
            process.ask_to_end(pid)
            values["asked_at"] = now
        elif job.asked_at is not None and now - job.asked_at > self._grace_s:
            process.kill(pid)
        if values:
            with database.begin() as session:
                session.execute(update(Job).where(col(Job.id) == job.id, col(Job.mark) == job.mark).values(**values))

    def _ended(self, database: Database, job: Job) -> None:
        """What came of a process that is no more."""
        assert job.id is not None
        child = self._children.get(job.id)
        now = time.time()
        with database.begin() as session:
            row = session.get(Job, job.id)
            if row is None or row.state != "running" or row.mark != job.mark:
                return
            row.run = row.run or queue.run_number(session, row)
            code = _exit_code(session, row) if child is None else child.returncode
            detail = _judge(row, code)
            if row.state == "failed" and not row.error:
                row.error = process.last_words(queue.log_file(self._settings, job.id)) or detail
            if row.state in teams.OVER:
                row.ended_at = now
            row.asked, row.asked_at, row.pid = "", None, 0
            queue.note(session, row, now, row.error if row.state == "failed" else detail)
        self._children.pop(job.id, None)
        log.info("a job has ended", job=job.id, state=row.state, detail=detail)

    # -- what starts and pauses

    def _follow_plan(self, database: Database, alive: dict[int, int]) -> None:
        with database.session() as session:
            jobs = queue.waiting_and_running(session, self._host)
            plan = schedule(self._capacity, teams.quotas(session), jobs)
            leaving = select(col(Job.share)).where(
                col(Job.state) == "running", col(Job.host) == self._host, col(Job.asked) != "", col(Job.id).in_(alive)
            )
            used = sum(session.scalars(leaving)) + sum(job.share for job in jobs if job.running)
        for number in plan.pause:
            with database.begin() as session:
                row = session.get(Job, number)
                if row is not None and row.state == "running" and not row.asked and number in alive:
                    process.ask_to_end(alive[number])
                    row.asked, row.asked_at = "pause", time.time()
        shares = {job.id: job.share for job in jobs}
        for number in plan.start:
            if number in alive:
                continue  # it is still on its way out
            if used + shares[number] > self._capacity:
                break  # what makes room for it has not ended yet; nobody overtakes
            if self._start(database, number):
                used += shares[number]

    def _start(self, database: Database, number: int) -> bool:
        """Claim a job, then start it. False: another machine was first."""
        now, mark = time.time(), uuid.uuid4().hex
        with database.begin() as session:
            free = (col(Job.id) == number, col(Job.state).in_(("pending", "paused")))
            values = {"state": "running", "host": self._host, "pid": 0, "mark": mark, "started_at": now, "error": ""}
            if not session.execute(update(Job).where(*free).values(**values)).rowcount:  # type: ignore[attr-defined]
                return False
            job = queue.find(session, number)
            session.refresh(job)
            queue.note(session, job, now, f"on {self._host}")
        command = queue.command_of(job)
        if not (job.interactive and job.words[0] in self._settings.jobs.programs):
            command = [*self._program, *command]
        try:
            child = process.start(command, process.environment(mark, job.share), queue.log_file(self._settings, number))
        except OSError as error:
            self._cannot_start(database, number, f"{command[0]}: {error.strerror}")
            return True
        self._children[number] = child
        with database.begin() as session:
            session.execute(update(Job).where(col(Job.id) == number).values(pid=child.pid))
        log.info("a job has started", job=number, team=job.team, run=job.run or None)
        return True

    def _cannot_start(self, database: Database, number: int, error: str) -> None:
        with database.begin() as session:
            job = queue.find(session, number)
            job.state, job.error, job.ended_at = "failed", error, time.time()
            queue.note(session, job, time.time(), error)

    # -- how it leaves

    def _pause_all(self, database: Database, lease: RunnerLease) -> None:
        """Interactive ones go on: the next runner finds them."""
        until = time.monotonic() + self._grace_s
        while training := [job for job in self._running(database) if not job.interactive]:
            if time.monotonic() > until or not lease.renew():
                break
            for job in training:
                if pid := self._pid(job):
                    if not job.asked:
                        with database.begin() as session:
                            session.execute(update(Job).where(col(Job.id) == job.id).values(asked="pause"))
                    elif job.asked_at is None:
                        self._attend(database, job, pid)
                else:
                    self._ended(database, job)
            time.sleep(0.1)
        with suppress(Exception):  # it runs out by itself
            lease.release()


def _judge(job: Job, code: int | None) -> str:
    """Set the state that follows from how the process ended; what is to be said of it. None: nobody knows."""
    asked = job.asked
    if code == 0:
        job.state = "done"
        return ""
    if asked == "stop":
        job.state = "stopped"
        return job.error or "it was asked to stop"
    if code == PAUSED or asked == "pause":
        job.state = "paused"
        return "it was asked to make room" if asked == "pause" else "somebody sent it SIGTERM"
    killed = code is None or code < 0
    if killed and not job.interactive:
        job.deaths += 1
        if job.deaths < MOST_DEATHS:
            job.state = "paused"
            return f"its process was killed ({job.deaths} of {MOST_DEATHS}); it goes on from its last checkpoint"
    job.state = "failed"
    return "its process was killed" if killed else f"exit code {code}"


def _exit_code(session: Session, job: Job) -> int | None:
    """Of a process that another runner started, from what its run wrote down; an interactive job is simply over. The
    whole loop is more than its runs: it is started again, and finds what it has done."""
    if job.interactive:
        return 0
    run = session.get(Run, job.run) if job.run and job.words[0] != "learn" else None
    return RUN_STATES.get(run.state) if run is not None else None
