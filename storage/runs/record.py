"""The record of a run while it goes on. A point costs microseconds: points are written in batches, by a thread."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import structlog
from sqlalchemy import insert, update
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import col

from storage.db.engine import Database
from storage.runs.resources import ResourceMeter, host_name
from storage.tables import Job, Run, RunPoint

log = structlog.get_logger(__name__)

EVERY_S = 1.0
"""How often points go to the database, and the run says that it is alive."""


class StoredRunRecord:
    """A run's record in the database. Points also go to `points`, a file of JSON lines beside the run, by its maker."""

    def __init__(self, database: Database, run: int) -> None:
        self._database, self.run = database, run
        self._points: list[dict[str, Any]] = []
        self._artifacts: list[str] = []
        self._lock = threading.Lock()
        self._meter = ResourceMeter()
        self._over = threading.Event()
        self._writer = threading.Thread(target=self._write_on, name=f"run {run}", daemon=True)
        self._writer.start()

    # -- what recipes call

    def parameters(self, values: Mapping[str, Any]) -> None:
        with self._database.begin() as session:
            session.execute(update(Run).where(col(Run.id) == self.run).values(parameters=dict(values)))

    def point(self, step: int, name: str, value: float) -> None:
        if math.isfinite(value):  # a loss that is no number is told by the recipe, and JSON has no word for it
            with self._lock:
                self._points.append({"run": self.run, "name": name, "step": step, "value": value, "at": time.time()})

    def note(self, text: str) -> None:
        log.info("run", run=self.run, note=text)

    def artifact(self, path: Path) -> None:
        with self._lock:
            self._artifacts.append(str(path))

    # -- how it ends

    def end(self, state: str, *, model: str = "", error: str = "") -> None:
        """Write what is left, and what came of it."""
        self._over.set()
        self._writer.join()
        self._write()
        with self._database.begin() as session:
            session.execute(
                update(Run)
                .where(col(Run.id) == self.run)
                .values(state=state, model=model, error=error[:2000], ended_at=time.time())
            )
            # A job that a cluster runs in this process ends with its run; of one in the queue, the runner sees the end.
            of_cluster = (col(Job.place) != "queue", col(Job.host) == host_name(), col(Job.pid) == os.getpid())
            session.execute(
                update(Job)
                .where(*of_cluster, col(Job.state) == "running")
                .values(state=state, run=self.run, error=error[:2000], ended_at=time.time())
            )

    # -- inside

    def _write_on(self) -> None:
        while not self._over.wait(EVERY_S):
            try:
                self._write()
            except SQLAlchemyError as error:  # the points stay and go with the next ones
                log.warning("a run's points cannot be written now", run=self.run, error=type(error).__name__)

    def _write(self) -> None:
        with self._lock:
            points, artifacts = self._points[:], self._artifacts[:]
        with self._database.begin() as session:
            if points:
                session.execute(insert(RunPoint), points)
            values = {"seen_at": time.time(), "resources": self._meter.read(), "artifacts": artifacts}
            session.execute(update(Run).where(col(Run.id) == self.run).values(**values))
        with self._lock:
            del self._points[: len(points)]
