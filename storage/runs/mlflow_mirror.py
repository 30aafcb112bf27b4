"""A mirror of runs on an MLflow server. What Tenor stored is sent; how far it got stands on the server, with the run.

    tables --runs, points--> mirror --REST--> MLflow      tag tenor.run     which run of Tenor's it is
                                                          tag tenor.point   the last point that was sent

So a server that was away, or a process that was killed, costs nothing: whoever sends next goes on after that point.
A run never waits for the mirror, and never fails because of it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import structlog
from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import Session, col

from storage.db.engine import Database
from storage.runs import runs
from storage.runs.mlflow_client import MOST_METRICS, MlflowClient, MlflowMetric, MlflowRun
from storage.tables import RunPoint
from tenor.errors import TenorError
from tenor.settings import LearnSettings

log = structlog.get_logger(__name__)

EXPERIMENT = "tenor"
RUN, POINT, STATE = "tenor.run", "tenor.point", "tenor.state"
STATUS = {
    "running": "RUNNING", "paused": "SCHEDULED", "done": "FINISHED", "failed": "FAILED", "stopped": "KILLED",
    "died": "KILLED",
}  # fmt: skip
"""MLflow's words; ours are in the tag `tenor.state`."""
EVERY_S, RARELY_S = 2.0, 60.0
"""How often a run is sent while it goes on, and how seldom a server is asked that does not answer."""
CAUGHT_UP = 100
"""So many of the newest runs are looked at when what is missing is sent."""
_NOT_IN_NAMES = re.compile(r"[^\w\-./: ]")


@dataclass(slots=True)
class _Sent:
    """What the server has of a run."""

    id: str
    point: int
    described: dict[str, str] = field(default_factory=dict)
    status: str = ""
    parameters: bool = False


class MlflowMirror:
    """Sends runs, as often as it is asked; each time only what is new."""

    def __init__(self, database: Database, settings: LearnSettings) -> None:
        self._database = database
        self._client = MlflowClient(settings.mlflow, settings.mlflow_token.get_secret_value())
        self._experiment = ""
        self._sent: dict[int, _Sent] = {}

    def close(self) -> None:
        self._client.__exit__(None, None, None)

    def send(self, number: int) -> int:
        """How many points of the run were new. Unavailable while the server is away."""
        with self._database.session() as session:
            view = runs.find(session, number)
        sent = self._sent.get(number) or self._begun(view)
        if not sent.parameters:
            self._client.log_parameters(
                sent.id, {_name(key): _text(value) for key, value in view.run.parameters.items()}
            )
            sent.parameters = True
        if (tags := _tags(view)) != sent.described:
            self._client.log_tags(sent.id, tags)
            sent.described = tags
        count = 0
        while points := self._points(number, sent.point):
            last = points[-1].id or 0
            self._client.log_metrics(sent.id, [_metric(one) for one in points], {POINT: str(last)})
            sent.point = last
            count += len(points)
        if (status := STATUS[view.state]) != sent.status:
            ended = view.run.ended_at if view.state != "running" else None
            self._client.set_status(sent.id, status, int(ended * 1000) if ended else None)
            sent.status = status
        return count

    def catch_up(self) -> list[int]:
        """Send every run that is over and of which the server lacks something; their numbers."""
        there = self._there()
        with self._database.session() as session:
            views = runs.listing(session, CAUGHT_UP)
            last = {view.id: _last_point(session, view.id) for view in views}
        missing = []
        for view in reversed(views):
            known = there.get(_key(view))
            complete = known is not None and (known.tags.get(STATE), _point(known)) == (view.state, last[view.id])
            if view.state != "running" and not complete:
                self.send(view.id)
                missing.append(view.id)
        return missing

    def _begun(self, view: runs.RunView) -> _Sent:
        """The run on the server, which may be there from an earlier attempt."""
        known = self._there().get(_key(view))
        if known is None:
            start, tags = int(view.run.started_at * 1000), {RUN: _key(view), "mlflow.user": view.run.by}
            known = MlflowRun(self._client.create_run(self._experiment, f"run {view.id}", start, tags), {})
        self._sent[view.id] = sent = _Sent(known.id, _point(known))
        return sent

    def _there(self) -> dict[str, MlflowRun]:
        if not self._experiment:
            self._experiment = self._client.experiment(EXPERIMENT)
        return {one.tags[RUN]: one for one in self._client.runs(self._experiment) if RUN in one.tags}

    def _points(self, number: int, after: int) -> Sequence[RunPoint]:
        """As many as one request may carry, with the tag that goes with them."""
        query = select(RunPoint).where(col(RunPoint.run) == number, col(RunPoint.id) > after).order_by(col(RunPoint.id))
        with self._database.session() as session:
            return session.scalars(query.limit(MOST_METRICS - 1)).all()


class MirroredRun:
    """Mirrors one run while it lasts, from a thread: `with MirroredRun(mirror, 42): ...`"""

    def __init__(self, mirror: MlflowMirror, number: int) -> None:
        self._mirror, self._number = mirror, number
        self._over = threading.Event()
        self._answers = True
        self._thread = threading.Thread(target=self._send_on, name=f"mlflow {number}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()
        if self._sends() and self._sends(earlier=True):
            return
        log.warning("a run is not complete on MLflow", run=self._number, send_it=f"tenor runs mirror {self._number}")

    def _send_on(self) -> None:
        wait = 0.0
        while not self._over.wait(wait):
            wait = EVERY_S if self._sends() else min(2 * max(wait, EVERY_S), RARELY_S)

    def _sends(self, *, earlier: bool = False) -> bool:
        try:
            if earlier:
                self._mirror.catch_up()
            else:
                self._mirror.send(self._number)
        except (TenorError, SQLAlchemyError) as error:
            if self._answers:  # once, however long it lasts
                reason = error.message if isinstance(error, TenorError) else type(error).__name__
                log.warning("MLflow does not get the run now; the run goes on", run=self._number, reason=reason)
            self._answers = False
            return False
        if not self._answers:
            log.info("MLflow gets the run again", run=self._number)
        self._answers = True
        return True


def _key(view: runs.RunView) -> str:
    """Which run it is, also where several databases are mirrored to one server."""
    return f"{view.id}@{view.run.started_at:.3f}"


def _point(run: MlflowRun) -> int:
    text = run.tags.get(POINT, "")
    return int(text) if text.isdigit() else 0


def _last_point(session: Session, number: int) -> int:
    return session.scalar(select(func.max(col(RunPoint.id))).where(col(RunPoint.run) == number)) or 0


def _metric(point: RunPoint) -> MlflowMetric:
    return MlflowMetric(_name(point.name), point.value, int(point.at * 1000), point.step)


def _tags(view: runs.RunView) -> dict[str, str]:
    """All that is known of the run, and is neither a parameter nor a point."""
    run = view.run
    found: dict[str, Any] = {
        STATE: view.state,
        "mlflow.source.name": run.command,
        "mlflow.source.git.commit": run.code.get("commit"),
        "tenor.version": run.code.get("version"),
        "tenor.packages": run.environment.get("packages"),
        "tenor.host": run.host,
    }
    for name in ("recipe", "dataset", "dataset_sha256", "parent", "preset", "sweep", "model", "error"):
        found[f"tenor.{name}"] = getattr(run, name)
    found |= {f"tenor.{name}": value for name, value in run.resources.items()}
    return {_name(name): _text(value) for name, value in found.items() if value}


def _name(text: str) -> str:
    """Letters, digits, and a few signs are what MLflow takes as a name."""
    return _NOT_IN_NAMES.sub("_", text)[:250]


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {one}" for key, one in value.items())
    return str(value)
