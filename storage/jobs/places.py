"""Where a training runs: here, in the queue, or on a cluster; of several places, the first that is free."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from storage.db.engine import Database
from storage.jobs import kubernetes, queue, slurm, teams
from storage.jobs.queue import Submission
from storage.tables import Job
from storage.viewer import Viewer
from tenor.errors import BadInput, TenorError, Unavailable
from tenor.settings import Settings
from tenor.yaml.nodes import meant

HERE = "here"
PLACES = (HERE, "queue", "kubernetes", "slurm")
PROGRAMS = {"kubernetes": "kubectl", "slurm": "sbatch"}
FILES = {"kubernetes": "json", "slurm": "sh"}
ANSWERS_S = 60.0
"""How long a cluster may take to accept a job."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a training went."""

    place: str
    job: int = 0
    file: Path | None = None
    """What was written for a cluster."""
    submitted: bool = True
    """False: the file waits for somebody to submit it."""


def read_places(text: str) -> tuple[str, ...]:
    """`queue,here` as a list."""
    places = tuple(word.strip() for word in text.split(",") if word.strip())
    for place in places:
        if place not in PLACES:
            raise BadInput(f"--on: there is no place {place!r}{meant(place, PLACES)}", f"places: {', '.join(PLACES)}")
    if not places:
        raise BadInput("--on names no place", f"places: {', '.join(PLACES)}")
    if len(set(places)) < len(places):
        raise BadInput("--on names a place twice")
    return places


def place_job(
    database: Database, viewer: Viewer, settings: Settings, wanted: Submission, places: Sequence[str],
    options: Sequence[str] = (), tell: Callable[[str], None] = lambda _: None,
) -> Placed:  # fmt: skip
    """Give the job to the first place that takes it at once. The last one gets it even if it has to wait there: in the
    queue as a pending job, for a cluster as a file. `options` give this Tenor its settings. `tell` hears why a place
    was passed over."""
    for place in places[:-1]:
        if reason := _busy(database, settings, wanted, place):
            tell(f"{place}: {reason}")
            continue
        try:
            return _given(database, viewer, settings, wanted, place, options)
        except Unavailable as error:
            tell(f"{place}: {error.message}")
    return _given(database, viewer, settings, wanted, places[-1], options)


def _busy(database: Database, settings: Settings, wanted: Submission, place: str) -> str:
    """Why a job would have to wait there; nothing: it would not, as far as one can know."""
    if place == "queue":
        with database.session() as session:
            return "" if queue.would_start(session, settings, wanted) else "the job would have to wait"
    if place in PROGRAMS and shutil.which(PROGRAMS[place]) is None:
        return f"there is no {PROGRAMS[place]} here"
    if place == "kubernetes" and settings.jobs.scheduler == "kueue":
        with database.session() as session:
            return _kueue_busy(settings, teams.guessed(session, wanted.team))
    return ""


def _kueue_busy(settings: Settings, team: str) -> str:
    name = settings.jobs.cluster_queue or team
    query = ("get", f"localqueues.kueue.x-k8s.io/{name}", "--namespace", settings.jobs.namespace, "--output", "json")
    try:
        status = msgspec.json.decode(_asked("kubectl", *query)).get("status", {})
        waiting = int(status.get("pendingWorkloads", 0))
    except (TenorError, msgspec.DecodeError, AttributeError, TypeError, ValueError):
        return f"the queue {name} does not answer"
    return f"{waiting} jobs wait in the queue {name}" if waiting else ""


def _given(
    database: Database, viewer: Viewer, settings: Settings, wanted: Submission, place: str, options: Sequence[str]
) -> Placed:
    if place == HERE:
        return Placed(HERE)
    number = queue.submit(database, viewer, settings, replace(wanted, place=place))
    if place == "queue":
        return Placed(place, number)
    try:
        with database.session() as session:
            file = _written(queue.find(session, number), settings, place, options)
        submitted = shutil.which(PROGRAMS[place]) is not None
        if submitted:
            _asked(*(("kubectl", "apply", "--filename") if place == "kubernetes" else ("sbatch",)), str(file))
    except TenorError:
        queue.stop(database, viewer, number)
        raise
    return Placed(place, number, file, submitted)


def _written(job: Job, settings: Settings, place: str, options: Sequence[str]) -> Path:
    if place == "kubernetes":
        content = kubernetes.text(job, settings)
    else:
        content = slurm.text(job, settings, shlex.join(["tenor", *options, "jobs", "attempt", str(job.id)]))
    file = queue.log_file(settings, job.id or 0).with_suffix(f".{FILES[place]}")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch(0o600)  # settings may have passwords
    file.write_text(content, encoding="utf-8")
    return file


def _asked(*command: str) -> str:
    """What a cluster's own program answered."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=ANSWERS_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{command[0]} does not answer: {type(error).__name__}") from None
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}").splitlines()[-1]
        raise Unavailable(f"{command[0]}: {said[:300]}")
    return done.stdout
