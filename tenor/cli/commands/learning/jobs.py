"""`tenor jobs`: trainings that wait for their share of a machine, have it, or had it."""

from __future__ import annotations

import os
import sys
import time
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from rich.markup import escape
from rich.table import Table

from tenor.cli.context import Context, run_until_interrupted, settings, viewer
from tenor.cli.output import console, say, warn
from tenor.cli.params import Json
from tenor.errors import BadInput
from tenor.runtime.profiles import QUIET

if TYPE_CHECKING:
    from storage.runs.runs import RunView
    from storage.tables import Job, JobEvent

app = typer.Typer(no_args_is_help=True, help="Training jobs of teams: submit, list, follow, stop, run.")
Number = Annotated[int, typer.Argument(metavar="JOB", help="Number of a job, as `tenor jobs list` shows it.")]
FOLLOW_S = 0.5


@app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def submit(
    context: typer.Context,
    words: Annotated[
        list[str], typer.Argument(metavar="COMMAND", help="finetune or learn, with its options.", show_default=False)
    ],
    team: Annotated[str, typer.Option("--team", metavar="NAME", help="Whose quota it takes.")] = "",
    share: Annotated[float, typer.Option("--share", metavar="SHARES", help="What it needs of a machine.")] = 1.0,
    priority: Annotated[
        str, typer.Option("--priority", metavar="NAME", help="Among the team's jobs: low, normal, high, urgent.")
    ] = "normal",
    interactive: Annotated[
        bool, typer.Option("--interactive", help="Somebody works with it: it is never paused, and has a time limit.")
    ] = False,
    minutes: Annotated[
        float | None, typer.Option("--minutes", metavar="N", help="Time limit of an interactive job; 0: none.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Put a job into the queue. A process of `tenor jobs run` starts it when its team's turn has come.

    Options of the job come before the command: tenor jobs submit --team speech --share 2 finetune calls@3 --recipe
    whisper. A training job saves a checkpoint when another team needs the machine, and goes on later.
    """
    from finetune.recipes.base import find_recipe
    from storage.db.engine import using
    from storage.jobs import queue

    own = words[1:] if words[:1] == ["tenor"] else words
    if own[:1] == ["finetune"] and "--recipe" in own[:-1]:
        find_recipe(own[own.index("--recipe") + 1])  # what is misspelt is told now, and not when its turn has come
    wanted = queue.Submission(tuple(own), team, share, interactive, priority, minutes)
    chosen = settings(context, unless_set=QUIET)
    with using(chosen) as database:
        number = queue.submit(database, viewer(), chosen, wanted)
        with database.session() as session:
            job, alive = queue.find(session, number), queue.runners(session)
    if as_json:
        typer.echo(msgspec.json.encode(_document(job)))
    else:
        console.print(f"job {number}")
    if not alive:
        warn("nobody runs jobs now: start `tenor jobs run` on the machine that is to train")


@app.command("list")
def list_jobs(
    context: typer.Context,
    team: Annotated[str, typer.Option("--team", metavar="NAME", help="Only this team's.")] = "",
    every: Annotated[bool, typer.Option("--all", help="Those that are over, too.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many, newest first.")] = 100,
    as_json: Json = False,
) -> None:
    """Show the jobs that wait and run, and how much of the machines is taken."""
    from storage.db.engine import using
    from storage.jobs import queue, teams

    with using(settings(context, unless_set=QUIET)) as database, database.session() as session:
        found = [
            (job, queue.run_of(session, job)) for job in queue.listing(session, team=team, every=every, limit=limit)
        ]
        machines = queue.runners(session)
        going_on = [
            job for job in queue.listing(session, limit=10_000) if job.state == "running" and job.place == "queue"
        ]
        taken = sum(job.share for job in going_on)
    if as_json:
        for job, of_job in found:
            typer.echo(msgspec.json.encode(_document(job, of_job)))
        return
    table = Table(box=None, header_style="dim")
    for name in ("job", "team", "state", "share", "priority", "by", "waited", "ran", "run", "command"):
        table.add_column(name, no_wrap=name != "command", overflow="fold")
    for job, of_job in found:
        cells = (
            str(job.id), job.team, _state(job, of_job), teams.shown(job.share), queue.PRIORITY_NAMES[job.priority],
            job.by, _lasted(job.submitted_at, job.started_at or job.ended_at or time.time()),
            _lasted(job.started_at, job.ended_at or time.time()), str(of_job.id if of_job else ""), " ".join(job.words),
        )  # fmt: skip
        table.add_row(*map(escape, cells))
    if found:
        console.print(table)
    else:
        say("no job waits or runs: `tenor finetune DATASET --on queue` submits one")
    has = sum(one.capacity for one in machines)
    names = ", ".join(one.host for one in machines)
    say(f"{teams.shown(taken)} of {teams.shown(has)} shares taken on {names}" if machines else "nobody runs jobs now")


@app.command()
def show(context: typer.Context, job: Number, as_json: Json = False) -> None:
    """Show all that is known of a job, and what became of it when."""
    from storage.db.engine import using
    from storage.jobs import queue

    with using(settings(context, unless_set=QUIET)) as database, database.session() as session:
        found = queue.find(session, job)
        of_job, events = queue.run_of(session, found), queue.history(session, job)
    document = {**_document(found, of_job), "events": [_event(one) for one in events]}
    if as_json:
        typer.echo(msgspec.json.encode(document))
        return
    for name, value in document.items():
        if name != "events" and value not in (None, ""):
            told = f"{datetime.fromtimestamp(value):%Y-%m-%d %H:%M:%S}" if name.endswith("_at") else str(value)
            console.print(f"[dim]{name:14}[/] {escape(told)}", soft_wrap=True)
    for one in events:
        at = datetime.fromtimestamp(one.at)
        console.print(f"[dim]{at:%Y-%m-%d %H:%M:%S}[/] {one.state:8} {escape(one.detail)}", soft_wrap=True)


@app.command()
def logs(
    context: typer.Context,
    job: Number,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the job is over.")] = False,
) -> None:
    """Print what a job printed, on the machine where it ran."""
    from storage.db.engine import using
    from storage.jobs import queue, teams
    from storage.runs.resources import host_name

    chosen = settings(context, unless_set=QUIET)
    with using(chosen) as database:
        with database.session() as session:
            found = queue.find(session, job)
        path = queue.log_file(chosen, job)
        if not path.exists():
            if found.state == "pending":
                raise BadInput(f"job {job} has not started yet")
            elsewhere = found.host if found.host not in ("", host_name()) else ""
            raise BadInput(f"the log of job {job} is not here", f"it ran on {elsewhere}" if elsewhere else f"no {path}")
        with path.open("rb") as file:
            while True:
                with database.session() as session:
                    over = queue.find(session, job).state in teams.OVER
                while part := file.read(65536):
                    sys.stdout.buffer.write(part)
                sys.stdout.buffer.flush()
                if over or not follow:
                    return
                time.sleep(FOLLOW_S)


@app.command()
def stop(context: typer.Context, job: Number) -> None:
    """Stop a job. One that trains saves a checkpoint first; `tenor finetune --resume` goes on from there."""
    from storage.db.engine import using
    from storage.jobs import queue

    with using(settings(context, unless_set=QUIET)) as database:
        say(f"job {job}: {queue.stop(database, viewer(), job)}")


@app.command()
def run(
    context: typer.Context,
    until_idle: Annotated[bool, typer.Option("--until-idle", help="End when no job is left to do.")] = False,
) -> None:
    """Run the queue's jobs on this machine until Ctrl-C or SIGTERM, which pause what trains.

    One process per machine does this; a second one waits to take over. `jobs.capacity` says how many shares the machine
    has. If this process is killed, jobs that run go on, and the next one finds them.
    """
    from storage.jobs.runner import JobRunner

    given: Context = context.obj
    program = [sys.executable, "-m", "tenor", *given.arguments()]
    run_until_interrupted(JobRunner(settings(context, stays=True), program).run(until_idle=until_idle))


@app.command()
def attempt(context: typer.Context, job: Number) -> None:
    """Run a job of a cluster in this process, which becomes its training: what pods and Slurm's scripts do.

    The first attempt begins a run, a later one goes on from its checkpoint.
    """
    from storage.db.engine import using
    from storage.jobs import process, queue

    with using(settings(context, unless_set=QUIET)) as database:
        found, words = queue.attempt(database, job)
    given: Context = context.obj
    command = [sys.executable, "-m", "tenor", *given.arguments(), *words]
    os.execve(sys.executable, command, process.environment(str(job), found.share))


def _document(job: Job, of_job: RunView | None = None) -> dict[str, Any]:
    from storage.jobs import queue, teams

    return {
        "job": job.id,
        "team": job.team,
        "state": _state(job, of_job),
        "command": " ".join(job.words),
        "place": job.place,
        "share": job.share / teams.WHOLE,
        "priority": queue.PRIORITY_NAMES[job.priority],
        "interactive": job.interactive,
        "minutes": job.limit_s / 60 or None,
        "by": job.by,
        "submitted_at": job.submitted_at,
        "started_at": job.started_at,
        "ended_at": job.ended_at,
        "host": job.host,
        "run": of_job.id if of_job else None,
        "last": dict(of_job.last) if of_job else {},
        "error": job.error or (of_job.run.error if of_job else ""),
    }


def _state(job: Job, of_job: RunView | None) -> str:
    """Of a job that a cluster runs, its run knows more."""
    return of_job.state if job.place != "queue" and of_job and job.state != "stopped" else job.state


def _event(event: JobEvent) -> dict[str, Any]:
    return {"at": event.at, "state": event.state, "detail": event.detail}


def _lasted(began: float | None, ended: float) -> str:
    if began is None:
        return ""
    minutes, seconds = divmod(max(0, round(ended - began)), 60)
    return f"{minutes}:{seconds:02}"
