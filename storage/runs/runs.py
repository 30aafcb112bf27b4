"""Runs as people see them: begun, listed, shown, compared, asked to stop."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select, update
from sqlmodel import Session, col

from storage.db.engine import Database
from storage.registry.registry import MAKES
from storage.runs.resources import code_version, command_line, environment, host_name
from storage.tables import Audit, Job, Run, RunPoint
from storage.viewer import Viewer
from tenor.errors import BadInput, Refused

SILENT_S = 30.0
"""A run that was not heard of for so long has died without a word."""
STOPPABLE = ("running", "paused")


@dataclass(frozen=True, slots=True)
class Curve:
    """The points of a run under one name."""

    name: str
    steps: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class RunView:
    """A run with what follows from it."""

    run: Run
    state: str
    """As `Run.state`, or `died` if it was not heard of for long."""
    seconds: float
    last: Mapping[str, float]
    """The newest point of each curve."""

    @property
    def id(self) -> int:
        assert self.run.id is not None
        return self.run.id


def begin(database: Database, viewer: Viewer, *, recipe: str, dataset: str, **fields: Any) -> int:
    """A new run; its number. Code, environment and place are written down unasked."""
    if viewer.role not in MAKES:
        raise Refused(f"your role, {viewer.role}, does not train models")
    now = time.time()
    made = Run(
        recipe=recipe,
        dataset=dataset,
        by=viewer.name,
        command=command_line(),
        code=code_version(),
        environment=environment(),
        host=host_name(),
        pid=os.getpid(),
        started_at=now,
        seen_at=now,
        **fields,
    )
    with database.begin() as session:
        session.add(made)
        session.flush()
        assert made.id is not None
        session.add(Audit(at=now, who=viewer.name, action="run.begun", subject=str(made.id), detail={"recipe": recipe}))
        return made.id


def resume(database: Database, number: int) -> None:
    """The run goes on, in this process."""
    values = {"state": "running", "pid": os.getpid(), "host": host_name(), "seen_at": time.time(), "ended_at": None}
    with database.begin() as session:
        session.execute(update(Run).where(col(Run.id) == number).values(**values))


def set_model(database: Database, number: int, model: str) -> None:
    """What came of the run, in the registry."""
    with database.begin() as session:
        session.execute(update(Run).where(col(Run.id) == number).values(model=model))


def listing(session: Session, limit: int = 50) -> list[RunView]:
    """The newest first."""
    rows = session.scalars(select(Run).order_by(col(Run.id).desc()).limit(limit)).all()
    return [_view(session, row) for row in rows]


def find(session: Session, number: int) -> RunView:
    row = session.get(Run, number)
    if row is None:
        raise BadInput(f"there is no run {number}", "`tenor runs list` shows all")
    return _view(session, row)


def curves(session: Session, number: int) -> list[Curve]:
    """Every curve of a run; of a point that was written again after a pause the newest counts."""
    points: dict[str, dict[int, float]] = {}
    query = select(RunPoint).where(col(RunPoint.run) == number).order_by(col(RunPoint.id))
    for point in session.scalars(query):
        points.setdefault(point.name, {})[point.step] = point.value
    return [Curve(name, tuple(sorted(own)), tuple(own[step] for step in sorted(own))) for name, own in points.items()]


def differing_parameters(runs: Sequence[RunView]) -> dict[str, list[Any]]:
    """The parameters in which runs differ, with each run's value."""
    names = dict.fromkeys(name for one in runs for name in one.run.parameters)
    values = {name: [one.run.parameters.get(name) for one in runs] for name in names}
    return {name: found for name, found in values.items() if any(value != found[0] for value in found)}


def stop(database: Database, viewer: Viewer, number: int) -> str:
    """Ask a run to stop: it saves a checkpoint and ends. What was done about it."""
    if viewer.role not in MAKES:
        raise Refused(f"your role, {viewer.role}, does not stop runs")
    with database.session() as session:
        found = find(session, number)
    if found.state not in STOPPABLE and found.state != "died":
        raise BadInput(f"run {number} is {found.state}: there is nothing to stop")
    if found.state == "running":
        if found.run.host != host_name():
            raise BadInput(f"run {number} is on {found.run.host}", "stop it there")
        with database.begin() as session:  # a job of the queue would otherwise go on with it
            session.execute(update(Job).where(col(Job.run) == number, col(Job.state) == "running").values(asked="stop"))
        try:
            os.kill(found.run.pid, signal.SIGTERM)
            return "it saves a checkpoint and ends"
        except ProcessLookupError:
            pass
    with database.begin() as session:
        session.execute(
            update(Run).where(col(Run.id) == number).values(state="stopped", ended_at=found.run.ended_at or time.time())
        )
    return "it was not running any more"


def _view(session: Session, row: Run) -> RunView:
    newest = select(func.max(col(RunPoint.id))).where(col(RunPoint.run) == row.id).group_by(col(RunPoint.name))
    points = session.scalars(select(RunPoint).where(col(RunPoint.id).in_(newest)))
    state = row.state
    if state == "running" and time.time() - row.seen_at > SILENT_S:
        state = "died"
    ended = row.ended_at or max(row.seen_at, row.started_at)
    return RunView(row, state, ended - row.started_at, {point.name: point.value for point in points})
