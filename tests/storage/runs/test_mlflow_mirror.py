"""Runs on an MLflow server. The last test asks a real `mlflow server` what it got, and belongs to `make train-test`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

from storage.db.engine import Database, using
from storage.runs import runs
from storage.runs.mlflow_mirror import MirroredRun, MlflowMirror
from storage.runs.record import StoredRunRecord
from storage.viewer import Viewer
from tenor.errors import BadInput, Unavailable
from tenor.settings import LearnSettings, Settings
from tenor.web.servers import free_port
from tests.storage.runs.mlflow_servers import PROGRAM, SmallMlflow, real_mlflow, small_mlflow

ANN = Viewer("ann", "analyst")
POINTS = 2500


@pytest.fixture
def database(sqlite_settings: Settings) -> Iterator[Database]:
    """One is enough: what is read is the same from all."""
    with using(sqlite_settings) as opened:
        yield opened


@pytest.fixture
def server() -> Iterator[SmallMlflow]:
    with small_mlflow() as found:
        yield found


@pytest.fixture
def mirror(database: Database, server: SmallMlflow) -> Iterator[MlflowMirror]:
    with closing(MlflowMirror(database, LearnSettings(mlflow=server.url))) as made:
        yield made


MANY = {f"parameter {number}": number for number in range(230)}


def finished(
    database: Database, points: int = 3, state: str = "done", parameters: Mapping[str, Any] = MappingProxyType({})
) -> int:
    number = runs.begin(database, ANN, recipe="head", dataset="house@1", parameters=dict(parameters))
    record = StoredRunRecord(database, number)
    for step in range(points):
        record.point(step, "val intent accuracy", step / 10)
    record.end(state, error="it was too hot" if state == "failed" else "")
    return number


def test_a_run_is_sent_with_parameters_curves_tags_and_how_it_ended(
    database: Database, server: SmallMlflow, mirror: MlflowMirror
) -> None:
    number = finished(database, parameters={"epochs": 10, "layers": "4", "note": "x" * 900})
    assert mirror.send(number) == 3
    [run] = server.runs.values()
    assert run["info"]["status"] == "FINISHED"
    assert run["info"]["end_time"] >= run["info"]["start_time"] > 1e12
    assert run["params"] == {"epochs": "10", "layers": "4", "note": "x" * 500}
    assert [value for (step, _), value in sorted(run["metrics"]["val intent accuracy"].items())] == [0, 0.1, 0.2]
    tags = run["tags"]
    assert tags["mlflow.runName"] == f"run {number}"
    assert (tags["tenor.dataset"], tags["tenor.state"], tags["mlflow.user"]) == ("house@1", "done", "ann")
    assert "numpy" in tags["tenor.packages"]
    assert mirror.send(number) == 0


@pytest.mark.slow
def test_no_request_carries_more_than_mlflow_takes(
    database: Database, server: SmallMlflow, mirror: MlflowMirror
) -> None:
    number = finished(database, POINTS, parameters=MANY)
    assert mirror.send(number) == POINTS
    [run] = server.runs.values()
    assert len(run["params"]) == 230
    assert len(run["metrics"]["val intent accuracy"]) == POINTS
    batches = [body for path, body in server.requests if path == "runs/log-batch"]
    assert [len(body["params"]) for body in batches if "params" in body] == [100, 100, 30]
    assert [len(body["metrics"]) for body in batches if "metrics" in body] == [999, 999, 502]


def test_another_process_goes_on_where_the_first_one_stopped(
    database: Database, server: SmallMlflow, mirror: MlflowMirror
) -> None:
    number = finished(database, 3, state="paused")
    mirror.send(number)
    runs.resume(database, number)
    record = StoredRunRecord(database, number)
    record.point(3, "val intent accuracy", 0.3)
    record.end("done")
    with closing(MlflowMirror(database, LearnSettings(mlflow=server.url))) as another:
        assert another.send(number) == 1
    [run] = server.runs.values()
    assert run["info"]["status"] == "FINISHED"
    assert len(run["metrics"]["val intent accuracy"]) == 4


def test_a_server_that_is_away_stops_no_run_and_is_told_of_once(database: Database, server: SmallMlflow) -> None:
    server.away = True
    with capture_logs() as logs, closing(MlflowMirror(database, LearnSettings(mlflow=server.url))) as mirror:
        number = runs.begin(database, ANN, recipe="head", dataset="house@1")
        with MirroredRun(mirror, number):
            record = StoredRunRecord(database, number)
            record.point(1, "loss", 0.5)
            record.end("done")
    told = [line for line in logs if line["log_level"] == "warning"]
    assert len(told) == 2  # that it is away, and how the run gets there
    assert "503" in told[0]["reason"]
    assert told[1]["send_it"] == f"tenor runs mirror {number}"
    server.away = False
    earlier = finished(database, 2, state="failed")
    with closing(MlflowMirror(database, LearnSettings(mlflow=server.url))) as mirror:
        assert mirror.catch_up() == [number, earlier]
        assert mirror.catch_up() == []
    states = {run["tags"]["mlflow.runName"]: run["info"]["status"] for run in server.runs.values()}
    assert states == {f"run {number}": "FINISHED", f"run {earlier}": "FAILED"}


def test_a_run_that_ends_brings_those_before_it_along(database: Database, server: SmallMlflow) -> None:
    before = finished(database)
    number = runs.begin(database, ANN, recipe="head", dataset="house@1")
    with capture_logs() as logs, closing(MlflowMirror(database, LearnSettings(mlflow=server.url))) as mirror:
        record = StoredRunRecord(database, number)
        with MirroredRun(mirror, number):
            record.end("done")
    assert {run["tags"]["mlflow.runName"] for run in server.runs.values()} >= {f"run {before}"}
    assert len(server.runs) == 2
    assert not [line for line in logs if line["log_level"] == "warning"]


def test_the_token_is_sent_and_nobody_listens_is_told(database: Database, server: SmallMlflow) -> None:
    number = finished(database)
    with closing(MlflowMirror(database, LearnSettings(mlflow=server.url, mlflow_token=SecretStr("sesame")))) as mirror:
        mirror.send(number)
    assert set(server.headers) == {"Bearer sesame"}
    nobody = LearnSettings(mlflow=f"http://127.0.0.1:{free_port('127.0.0.1', 0)}")
    with closing(MlflowMirror(database, nobody)) as mirror, pytest.raises(Unavailable, match="does not answer"):
        mirror.send(number)
    with pytest.raises(BadInput, match="no address"):
        MlflowMirror(database, LearnSettings(mlflow="http://nowhere:port"))
    with closing(MlflowMirror(database, LearnSettings(mlflow="localhost:5000"))) as mirror, pytest.raises(Unavailable):
        mirror.send(number)


@pytest.mark.mlflow
@pytest.mark.skipif(not PROGRAM, reason="TENOR_MLFLOW does not name the program mlflow")
@pytest.mark.timeout(1800)
def test_a_real_mlflow_server_has_it_all(database: Database, tmp_path: Path) -> None:
    number = finished(database, POINTS, parameters=MANY)
    failed = finished(database, 2, state="failed")
    with real_mlflow(tmp_path, free_port("127.0.0.1", 0)) as url:
        with closing(MlflowMirror(database, LearnSettings(mlflow=url))) as mirror:
            assert mirror.catch_up() == [number, failed]
            assert mirror.catch_up() == []
        with closing(MlflowMirror(database, LearnSettings(mlflow=url))) as mirror:
            runs.resume(database, number)
            record = StoredRunRecord(database, number)
            with MirroredRun(mirror, number):
                record.point(POINTS, "val intent accuracy", 1.0)
                record.end("done")
            assert mirror.send(number) == 0
        api = f"{url}/api/2.0/mlflow"
        experiment = httpx.get(f"{api}/experiments/get-by-name", params={"experiment_name": "tenor"}).json()
        search = {"experiment_ids": [experiment["experiment"]["experiment_id"]]}
        found = httpx.post(f"{api}/runs/search", json=search).json()["runs"]
        by_name = {run["info"]["run_name"]: run for run in found}
        assert set(by_name) == {f"run {number}", f"run {failed}"}
        run = by_name[f"run {number}"]
        assert run["info"]["status"] == "FINISHED"
        assert by_name[f"run {failed}"]["info"]["status"] == "FAILED"
        assert len(run["data"]["params"]) == 230
        assert {one["key"]: one["value"] for one in run["data"]["tags"]}["tenor.dataset"] == "house@1"
        [last] = run["data"]["metrics"]
        assert (last["step"], last["value"]) == (POINTS, 1.0)
        asked = {"run_id": run["info"]["run_id"], "metric_key": "val intent accuracy", "max_results": 5000}
        history = httpx.get(f"{api}/metrics/get-history", params=asked).json()["metrics"]
        assert len(history) == POINTS + 1
