"""What a run leaves behind, unasked, and how it is asked to stop."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from sqlalchemy import update
from sqlmodel import col

from storage.db.engine import Database
from storage.runs import runs
from storage.runs.record import StoredRunRecord
from storage.tables import Run
from storage.viewer import Viewer
from tenor.errors import BadInput, Refused

ANN = Viewer("ann", "analyst")


def begun(database: Database, **fields: object) -> int:
    return runs.begin(database, ANN, recipe="head", dataset="house@1", **fields)


def test_a_run_says_who_what_where_and_with_which_code_without_being_asked(database: Database) -> None:
    number = begun(database, parameters={"epochs": 10})
    record = StoredRunRecord(database, number)
    for step in range(5):
        record.point(step, "loss", 1 / (step + 1))
    record.end("done", model="house-1")
    with database.session() as session:
        found = runs.find(session, number)
        [curve] = runs.curves(session, number)
    assert (found.state, found.run.by, found.run.model) == ("done", "ann", "house-1")
    assert found.run.code["version"]
    assert found.run.environment["packages"]["numpy"]
    assert found.run.resources["memory_mb"] > 1
    assert found.seconds >= 0
    assert curve.steps == (0, 1, 2, 3, 4)
    assert found.last["loss"] == pytest.approx(0.2)


def test_a_loss_that_is_no_number_is_left_out(database: Database) -> None:
    record = StoredRunRecord(database, number := begun(database))
    record.point(1, "loss", float("nan"))
    record.point(2, "loss", 0.5)
    record.end("done")
    with database.session() as session:
        assert [curve.steps for curve in runs.curves(session, number)] == [(2,)]


def test_a_point_costs_less_than_a_millisecond(database: Database) -> None:
    record, points = StoredRunRecord(database, begun(database)), 5000
    before = time.process_time()
    for step in range(points):
        record.point(step, "loss", 1 / (step + 1))
    record.end("done")
    assert 1000 * (time.process_time() - before) / points < 1


def test_a_point_that_is_written_again_after_a_pause_counts_once(database: Database) -> None:
    number = begun(database)
    for value in (1.0, 2.0):
        record = StoredRunRecord(database, number)
        record.point(7, "loss", value)
        record.end("paused")
    with database.session() as session:
        [curve] = runs.curves(session, number)
    assert (curve.steps, curve.values) == ((7,), (2.0,))


def test_a_run_that_was_killed_is_said_to_have_died(database: Database) -> None:
    number = begun(database)
    with database.begin() as session:
        session.execute(update(Run).where(col(Run.id) == number).values(seen_at=time.time() - 1000))
    with database.session() as session:
        assert runs.find(session, number).state == "died"
    assert "not running" in runs.stop(database, ANN, number)
    with database.session() as session:
        assert runs.find(session, number).state == "stopped"


def test_a_run_is_stopped_by_sigterm(database: Database) -> None:
    number = begun(database)
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    with database.begin() as session:
        session.execute(update(Run).where(col(Run.id) == number).values(pid=process.pid))
    runs.stop(database, ANN, number)
    assert process.wait(20) == -signal.SIGTERM


def test_what_cannot_be_stopped(database: Database) -> None:
    StoredRunRecord(database, number := begun(database)).end("done")
    with pytest.raises(BadInput, match="done"):
        runs.stop(database, ANN, number)
    with pytest.raises(BadInput, match="no run 99"):
        runs.stop(database, ANN, 99)
    with pytest.raises(Refused):
        runs.stop(database, Viewer("max", "manager"), number)
    with pytest.raises(Refused):
        runs.begin(database, Viewer("max", "manager"), recipe="head", dataset="house@1")


def test_runs_are_compared_by_the_parameters_in_which_they_differ(database: Database) -> None:
    for rate in (0.1, 0.2):
        begun(database, parameters={"rate": rate, "epochs": 10})
    with database.session() as session:
        newest, oldest = runs.listing(session)
    assert runs.differing_parameters([oldest, newest]) == {"rate": [0.1, 0.2]}
    assert newest.run.pid == os.getpid()
