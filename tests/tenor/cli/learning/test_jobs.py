"""`tenor finetune --on queue` and `tenor jobs` as they are typed, with a real training in between."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import update
from typer.testing import CliRunner, Result

from finetune.recipes.base import MODEL, Paused, RunRecord, TrainingRow, new_checkpoint, newest_checkpoint, stoppable
from storage.datasets.importing import import_dataset
from storage.db.engine import Database, open_database
from storage.jobs import queue
from storage.runs import runs
from storage.tables import Job, JobRunner
from storage.transfer.nemo import LabelledLine, nemo_files
from tenor.cli.app import app
from tenor.errors import BadInput
from tenor.model_store.card import CARD
from tenor.settings import Settings
from tests.tenor.cli.command import environment, tenor

RECIPE = "tests.tenor.cli.learning.test_jobs:WaitingRecipe"


class WaitingParameters(msgspec.Struct, frozen=True, kw_only=True):
    until: str = ""


class WaitingRecipe:
    """Counts until a file is there, as a training that takes long, and goes on counting from its checkpoint."""

    name = "waiting"
    parameters = WaitingParameters
    presets: Mapping[str, Mapping[str, Any]] = {}

    def run(self, rows: Sequence[TrainingRow], parameters: WaitingParameters, out: Path, record: RunRecord) -> Path:
        before = newest_checkpoint(out, ".txt")
        step = int(before.read_text()) + 1 if before else 1
        with stoppable() as request:
            while not Path(parameters.until).exists():
                record.point(step, "loss", 1 / step)
                if request.asked:
                    with new_checkpoint(out, step, ".txt") as path:
                        path.write_text(str(step))
                    raise Paused("somebody wanted the machine back")
                step += 1
                time.sleep(0.1)
        folder = out / MODEL
        folder.mkdir(exist_ok=True)
        (folder / "model.onnx").write_bytes(b"\x08\x01")
        (folder / CARD).write_bytes(msgspec.json.encode({"name": "x", "version": "1", "heads": {"intent": ["a"]}}))
        return folder


@pytest.fixture
def dataset(sqlite_settings: Settings, tmp_path: Path) -> Settings:
    lines = [
        LabelledLine(f"{verb} order {n}", verb, ("O",) * 3) for n in range(20) for verb in ("price_check", "unknown")
    ]
    folder = tmp_path / "nemo"
    folder.mkdir()
    for name, content in nemo_files(lines).items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    import_dataset(sqlite_settings, folder, "orders", by="ann")
    return sqlite_settings


def until(database: Database, true: Callable[[Job], bool]) -> None:
    ends = time.monotonic() + 120
    while True:
        with database.session() as session:
            if true(queue.find(session, 1)):
                return
        assert time.monotonic() < ends
        time.sleep(0.1)


@pytest.mark.slow
def test_a_training_is_queued_killed_paused_and_ends_as_one_run(dataset: Settings, tmp_path: Path) -> None:
    home, go = ("--home", str(dataset.home)), tmp_path / "go"
    words = ("finetune", "orders@1", "--recipe", RECIPE, "--set", f"until={go}", "--on", "queue", "--json")
    done = tenor(*home, *words, cwd=tmp_path)
    assert msgspec.json.decode(done.stdout)["job"] == 1, done.stderr
    program = [sys.executable, "-m", "tenor", *home, "jobs", "run", "--until-idle"]
    variables = {**environment(), "PYTHONPATH": str(Path(__file__).parents[4])}
    database = open_database(dataset)

    def runner() -> subprocess.Popen[bytes]:
        with database.begin() as session:  # not to wait for the lease of one that was killed
            session.execute(update(JobRunner).values(until=0))
        return subprocess.Popen(program, cwd=tmp_path, env=variables)

    first = runner()
    until(database, lambda job: job.run == 1)
    first.kill()
    first.wait()
    second = runner()
    with database.session() as session:
        assert queue.find(session, 1).state == "running", "the training did not notice"
    until(database, lambda _: bool(_holders(database)))
    second.send_signal(signal.SIGTERM)
    second.wait(60)
    until(database, lambda job: job.state == "paused")
    go.touch()
    assert runner().wait(120) == 0
    with database.session() as session:
        assert [one.state for one in queue.history(session, 1)] == ["pending", "running", "paused", "running", "done"]
        [run] = runs.listing(session)
        [curve] = runs.curves(session, run.id)
    assert (run.state, run.run.model) == ("done", "orders-1")
    assert curve.steps == tuple(range(1, len(curve.steps) + 1)), "no step is missing"
    shown = msgspec.json.decode(tenor(*home, "jobs", "show", "1", "--json", cwd=tmp_path).stdout)
    assert (shown["state"], shown["run"]) == ("done", 1)
    assert "orders-1" in tenor(*home, "jobs", "logs", "1", cwd=tmp_path).stdout
    database.close()


def _holders(database: Database) -> list[JobRunner]:
    with database.session() as session:
        return queue.runners(session)


@pytest.mark.slow
def test_teams_and_jobs_as_they_are_typed(tmp_path: Path) -> None:
    def typed(*words: str) -> Result:
        return CliRunner().invoke(app, ["--home", str(tmp_path), "--set", "jobs.capacity=4", *words])

    assert "3 of the 4 shares" in typed("teams", "add", "north", "--quota", "3").stderr
    assert "more than this machine has" in typed("teams", "add", "south", "--quota", "2").stderr
    with pytest.raises(BadInput, match="which team") as error:
        raise typed("jobs", "submit", "finetune", "orders@1").exception or AssertionError
    assert "north, south" in error.value.hint
    assert "tenor finetune DATASET --on queue" in typed("jobs", "list").stderr
    assert "no run yet" in typed("runs", "list").stderr
    job = ("--team", "north", "--share", "0.5", "--json", "finetune", "orders@1", "--set", "seed=3")
    made = typed("jobs", "submit", *job)
    document = msgspec.json.decode(made.stdout)
    assert (document["share"], document["command"]) == (0.5, "finetune orders@1 --set seed=3")
    assert "nobody runs jobs" in made.stderr
    assert "pending" in typed("jobs", "list").stdout
    assert [msgspec.json.decode(line)["state"] for line in typed("jobs", "list", "--json").stdout.splitlines()] == [
        "pending"
    ]
    north = msgspec.json.decode(typed("teams", "list", "--json").stdout.splitlines()[0])
    assert (north["name"], north["quota"], north["waiting"]) == ("north", 3.0, 1)
    assert "north" in typed("teams", "list").stdout
    assert "submitted_at" in typed("jobs", "show", "1").stdout
    assert "will not start" in typed("jobs", "stop", "1").stderr
    for words, said in (
        (("jobs", "logs", "1"), "is not here"),
        (("jobs", "show", "9"), "no job 9"),
        (("finetune", "orders@1", "--set", "sede=3", "--on", "queue"), "did you mean 'seed'"),
        (("finetune", "orders@1", "--on", "qeue"), "did you mean 'queue'"),
        (("jobs", "submit", "--team", "north", "finetune", "orders@1", "--recipe", "hed"), "did you mean 'head'"),
        (("jobs", "submit", "--team", "north", "finetun", "orders@1"), "did you mean 'finetune'"),
        (("finetune", "orders@1", "--on", "queue"), "orders"),
        (("teams", "remove", "nort"), "did you mean 'north'"),
    ):
        with pytest.raises(BadInput, match=said):
            raise typed(*words).exception or AssertionError
    assert typed("teams", "set", "south", "--quota", "0.5").exit_code == 0
    assert typed("teams", "remove", "south").exit_code == 0


def test_a_script_for_slurm_says_what_its_database_must_be(dataset: Settings) -> None:
    words = ["--home", str(dataset.home), "finetune", "orders@1", "--on", "slurm"]
    told = CliRunner().invoke(app, words).stderr
    assert "PostgreSQL" in told
    assert "submit it where slurm is" in told
