"""Jobs on a machine: real processes, started, paused, resumed, killed, with the runner killed in between."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from prometheus_client import generate_latest
from sqlalchemy import select, update
from sqlmodel import col

from storage import tables
from storage.db.engine import Database
from storage.jobs import queue, teams
from storage.jobs.lease import RunnerLease
from storage.jobs.queue import Submission
from storage.jobs.runner import MOST_DEATHS, JobRunner
from storage.runs import runs
from storage.runs.resources import host_name
from storage.tables import Job, JobEvent, Run, RunPoint
from storage.viewer import Viewer
from tenor.settings import JobsSettings, Settings

ANN = Viewer("ann", "analyst")
TRAINER = """
import os, signal, sys, time
folder = sys.argv[2]
with open(f"{folder}/said", "a") as file:
    file.write(" ".join(sys.argv[3:]) + f" threads={os.environ['OMP_NUM_THREADS']}\\n")
def end(*_):
    print("saved a checkpoint", flush=True)
    sys.exit(75)
signal.signal(signal.SIGTERM, end if "deaf" not in sys.argv else signal.SIG_IGN)
open(f"{folder}/ready", "w").close()
while not os.path.exists(f"{folder}/go"):
    time.sleep(0.02)
if "bad" in sys.argv:
    print("error: there is no dataset", file=sys.stderr)
    sys.exit(2)
"""
"""What a training does towards the queue: SIGTERM saves and exits with 75, --resume goes on."""


class Jobs:
    """A queue of two shares, the runner of this machine, and what tests ask of them."""

    def __init__(self, database: Database, settings: Settings, folder: Path) -> None:
        self.database, self.folder = database, folder
        jobs = JobsSettings(capacity=2, programs=[sys.executable])
        self.settings = settings.model_copy(update={"jobs": jobs})
        (folder / "trainer.py").write_text(TRAINER)
        self.start_runner()

    def start_runner(self, grace_s: float = 30.0) -> None:
        """Another one, as if the one before had been killed: nothing of it is known but what is in the database."""
        program = [sys.executable, "-S", str(self.folder / "trainer.py")]
        self.runner = JobRunner(self.settings, program, grace_s=grace_s)
        with self.database.begin() as session:
            session.execute(update(tables.JobRunner).values(until=0))
        self.lease = RunnerLease(self.database, host_name(), 2000)

    def submit(self, name: str, *words: str, command: str = "finetune", **fields: object) -> int:
        (self.folder / name).mkdir()
        wanted = Submission((command, str(self.folder / name), *words), **fields)  # type: ignore[arg-type]
        return queue.submit(self.database, ANN, self.settings, wanted)

    def of(self, number: int) -> Job:
        with self.database.session() as session:
            return queue.find(session, number)

    def said(self, name: str) -> list[str]:
        path = self.folder / name / "said"
        return path.read_text().splitlines() if path.exists() else []

    def finish(self, name: str) -> None:
        (self.folder / name / "go").touch()

    def until(self, true: Callable[[], bool]) -> None:
        ends = time.monotonic() + 60
        while not true():
            assert time.monotonic() < ends
            self.runner.step(self.database, self.lease)
            time.sleep(0.02)

    def until_ready(self, name: str) -> None:
        """Until its process has got as far as to be asked things."""
        self.until((self.folder / name / "ready").exists)

    def until_state(self, number: int, state: str) -> None:
        self.until(lambda: self.of(number).state == state)

    def begin_run(self, number: int) -> int:
        """As `tenor finetune` writes it down: with the number of its process."""
        self.until(lambda: self.of(number).pid > 0)
        made = runs.begin(self.database, ANN, recipe="head", dataset="house@1")
        with self.database.begin() as session:
            session.execute(update(Run).where(col(Run.id) == made).values(pid=self.of(number).pid))
        self.until(lambda: self.of(number).run == made)
        return made


@pytest.fixture
def jobs(database: Database, database_settings: Settings, tmp_path: Path) -> Iterator[Jobs]:
    made = Jobs(database, database_settings, tmp_path)
    yield made
    with database.session() as session:
        for job in session.scalars(select(Job).where(col(Job.pid) > 0)):
            with suppress(ProcessLookupError):
                os.killpg(job.pid, signal.SIGKILL)


def test_a_job_waits_runs_and_is_done(jobs: Jobs) -> None:
    first = jobs.submit("first", share=2)
    second = jobs.submit("second")
    assert jobs.of(first).team == teams.DEFAULT, "nobody made teams: there is one that has everything"
    jobs.until_ready("first")
    assert jobs.of(second).state == "pending"
    assert jobs.said("first") == [" threads=2"]
    jobs.finish("first")
    jobs.until_state(first, "done")
    jobs.until_ready("second")
    jobs.finish("second")
    jobs.until_state(second, "done")
    with jobs.database.session() as session:
        assert [one.state for one in queue.history(session, second)] == ["pending", "running", "done"]
        [team] = teams.overview(session, time.time() - 3600)
    assert (team.allocated, team.over_time[-1][1]) == (0, 0)
    assert {share for _, share in team.over_time} == {0, 1000, 2000}
    assert team.used_s > 0


@pytest.mark.slow
def test_prometheus_is_told_of_the_queue_and_of_what_trains(jobs: Jobs) -> None:
    first, _ = jobs.submit("first", share=2), jobs.submit("second")
    jobs.until_ready("first")
    run = jobs.begin_run(first)
    with jobs.database.begin() as session:
        session.add_all(RunPoint(run=run, name="loss", step=step, value=1 / step, at=time.time()) for step in (1, 2))
    jobs.runner.step(jobs.database, jobs.lease)
    shown = generate_latest().decode()
    for line in (
        'tenor_jobs{state="running",team="default"} 1.0',
        'tenor_jobs{state="waiting",team="default"} 1.0',
        'tenor_team_shares{of="allocated",team="default"} 2.0',
        f'tenor_run_point{{curve="loss",run="{run}"}} 0.5',
    ):
        assert line in shown
    jobs.finish("first")
    jobs.until_state(first, "done")
    with jobs.database.begin() as session:
        session.execute(update(Run).values(state="done"))
    jobs.runner.step(jobs.database, jobs.lease)
    assert "tenor_run_point{" not in generate_latest().decode()


@pytest.mark.slow
def test_a_job_over_quota_is_paused_for_another_team_and_goes_on_from_its_checkpoint(jobs: Jobs) -> None:
    for team in ("north", "south"):
        teams.add(jobs.database, ANN, team, 1)
    idle = jobs.submit("idle", team="north")
    greedy = jobs.submit("greedy", team="north")
    jobs.until_ready("idle")
    jobs.until_ready("greedy")
    run = jobs.begin_run(greedy)
    owner = jobs.submit("owner", team="south")
    jobs.until_state(greedy, "paused")
    jobs.until_ready("owner")
    assert (jobs.of(idle).state, jobs.of(owner).state) == ("running", "running")
    (jobs.folder / "greedy" / "ready").unlink()
    jobs.finish("owner")
    jobs.until_state(greedy, "running")
    jobs.until_ready("greedy")
    assert jobs.said("greedy") == [" threads=1", f"--resume {run} threads=1"]
    assert "saved a checkpoint" in queue.log_file(jobs.settings, greedy).read_text()


def test_a_runner_that_is_killed_leaves_jobs_that_the_next_one_goes_on_with(jobs: Jobs) -> None:
    numbers = [jobs.submit(name) for name in ("one", "two", "three")]
    for name in ("one", "two"):
        jobs.until_ready(name)
    done, gone = (jobs.begin_run(number) for number in numbers[:2])
    jobs.start_runner()
    jobs.runner.step(jobs.database, jobs.lease)
    assert [jobs.of(number).state for number in numbers] == ["running", "running", "pending"]
    assert len(jobs.said("one")) == 1, "nothing was started twice"
    with jobs.database.begin() as session:
        session.execute(update(Run).where(col(Run.id) == done).values(state="done"))
    jobs.finish("one")
    os.killpg(jobs.of(numbers[1]).pid, signal.SIGKILL)
    for child in (jobs.of(number).pid for number in numbers[:2]):
        os.waitpid(child, 0)  # the dead runner's children are the test's
    jobs.until(lambda: len(jobs.said("two")) == 2)
    assert jobs.of(numbers[0]).state == "done"
    assert jobs.said("two")[1] == f"--resume {gone} threads=1", "a process that was killed goes on, too"


def test_a_process_is_found_though_its_runner_died_before_writing_it_down(jobs: Jobs) -> None:
    number = jobs.submit("one")
    jobs.until_ready("one")
    pid = jobs.of(number).pid
    with jobs.database.begin() as session:
        session.execute(update(Job).values(pid=0))
    jobs.start_runner()
    jobs.until(lambda: jobs.of(number).pid == pid)
    assert len(jobs.said("one")) == 1


def test_only_one_runner_of_a_machine_starts_jobs(jobs: Jobs) -> None:
    assert jobs.lease.renew()
    other = RunnerLease(jobs.database, host_name(), 2000)
    assert not other.renew()
    elsewhere = RunnerLease(jobs.database, "elsewhere", 4000)
    assert elsewhere.renew()
    with jobs.database.session() as session:
        assert {one.host for one in queue.runners(session)} == {host_name(), "elsewhere"}
    waiting = JobRunner(jobs.settings, ["false"])
    number = jobs.submit("one")
    waiting.step(jobs.database, other)
    assert jobs.of(number).state == "pending"
    jobs.lease.release()
    assert other.renew()
    assert not jobs.lease.renew()


@pytest.mark.slow
def test_a_job_that_fails_says_why_and_others_go_on(jobs: Jobs) -> None:
    bad, good = jobs.submit("bad", "bad"), jobs.submit("good")
    for name in ("bad", "good"):
        jobs.finish(name)
    jobs.until_state(bad, "failed")
    jobs.until_state(good, "done")
    assert jobs.of(bad).error == "error: there is no dataset"


def test_a_job_that_is_killed_again_and_again_has_failed(jobs: Jobs) -> None:
    number = jobs.submit("one")
    with jobs.database.begin() as session:
        session.execute(update(Job).values(deaths=MOST_DEATHS - 2))
    for left in (1, 0):
        jobs.until_ready("one")
        (jobs.folder / "one" / "ready").unlink()
        os.killpg(jobs.of(number).pid, signal.SIGKILL)
        dead = MOST_DEATHS - left
        jobs.until(lambda dead=dead: jobs.of(number).deaths == dead)  # type: ignore[misc]
    assert jobs.of(number).state == "failed"


@pytest.mark.slow
def test_an_interactive_job_has_a_time_limit_and_may_only_start_allowed_programs(jobs: Jobs) -> None:
    code = "import time; time.sleep(60)"
    words = (sys.executable, "-S", "-c", code)
    number = queue.submit(jobs.database, ANN, jobs.settings, Submission(words, interactive=True, minutes=0.001))
    jobs.until_state(number, "stopped")
    assert "time limit" in jobs.of(number).error
    foreign = queue.submit(jobs.database, ANN, jobs.settings, Submission(("sleep", "60"), interactive=True))
    jobs.until(lambda: jobs.of(foreign).state not in ("pending", "running"))
    assert jobs.of(foreign).state == "failed", "it was given to Tenor, which has no such command"


@pytest.mark.slow
def test_a_job_that_does_not_listen_is_killed_after_a_while(jobs: Jobs) -> None:
    jobs.start_runner(grace_s=0.1)
    number = jobs.submit("deaf", "deaf")
    jobs.until_ready("deaf")
    queue.stop(jobs.database, ANN, number)
    jobs.until_state(number, "stopped")


async def test_a_runner_that_is_told_to_end_pauses_what_trains(jobs: Jobs) -> None:
    number = jobs.submit("one")
    task = asyncio.create_task(jobs.runner.run())
    while not (jobs.folder / "one" / "ready").exists():
        await asyncio.sleep(0.05)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert (jobs.of(number).state, jobs.of(number).pid) == ("paused", 0)
    with jobs.database.session() as session:
        assert queue.runners(session) == []
        assert session.scalars(select(JobEvent).order_by(col(JobEvent.id).desc())).first().state == "paused"  # type: ignore[union-attr]


def test_a_whole_loop_is_paused_and_finds_its_own_way_when_it_goes_on(jobs: Jobs) -> None:
    """It is told no run, and a runner that missed its end starts it again: it finds what it has done."""
    number = jobs.submit("loop", command="learn")
    jobs.until_ready("loop")
    jobs.begin_run(number)
    os.kill(jobs.of(number).pid, signal.SIGTERM)
    jobs.until(lambda: len(jobs.said("loop")) == 2)
    assert "--resume" not in jobs.said("loop")[1]
    jobs.start_runner()
    jobs.finish("loop")
    jobs.until(lambda: len(jobs.said("loop")) == 3)
    jobs.until_state(number, "done")
