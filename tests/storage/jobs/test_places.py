"""Jobs for clusters: what is written is what Kubernetes and Slurm take, and the first free place is chosen."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from storage.db.engine import Database, open_database
from storage.jobs import kubernetes, queue, slurm, teams
from storage.jobs.lease import RunnerLease
from storage.jobs.places import Placed, place_job, read_places
from storage.jobs.queue import Submission
from storage.runs import runs
from storage.runs.record import StoredRunRecord
from storage.runs.resources import host_name
from storage.tables import Job
from storage.viewer import Viewer
from tenor.errors import BadInput, Unavailable
from tenor.settings import JobsSettings, Settings, StorageSettings

ANN = Viewer("ann", "analyst")
POSTGRES = StorageSettings(url="postgresql://tenor@db/tenor")
TRAINING = Submission(("finetune", "house@1"), "north")


def job(**fields: Any) -> Job:
    return Job(**{"id": 7, "team": "north", "share": 1500, "by": "ann", "submitted_at": 0.0, **fields})


def manifest(**options: Any) -> dict[str, Any]:
    return kubernetes.manifest(job(), Settings(storage=POSTGRES, jobs=JobsSettings(**options)))


def test_a_manifest_says_what_a_cluster_needs_to_know() -> None:
    made = manifest(gpus=1)
    assert made["metadata"]["labels"] == {"kueue.x-k8s.io/queue-name": "north"}
    assert (made["spec"]["backoffLimit"], made["spec"]["suspend"]) == (5, True)
    pod = made["spec"]["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] == 120
    [container] = pod["containers"]
    assert container["command"] == ["tenor", "jobs", "attempt", "7"]
    assert container["resources"]["requests"] == {"cpu": "1500m", "memory": "4Gi", "nvidia.com/gpu": "1"}
    assert pod["volumes"] == [{"name": "shared", "persistentVolumeClaim": {"claimName": "tenor"}}]
    assert "postgresql" not in json.dumps(made), "the address has a password"


def test_a_manifest_for_kai_names_its_queue_and_the_scheduler() -> None:
    made = manifest(scheduler="kai", cluster_queue="gpu")
    template = made["spec"]["template"]
    assert template["metadata"]["labels"] == {"kai.scheduler/queue": "gpu"}
    assert (template["spec"]["schedulerName"], made["spec"]["suspend"]) == ("kai-scheduler", False)


@pytest.mark.parametrize("options", [{}, {"scheduler": "kai", "gpus": 2}])
def test_a_manifest_keeps_to_the_published_schema(options: dict[str, Any]) -> None:
    validate = pytest.importorskip("kubernetes_validate", reason="pip install kubernetes-validate")
    validate.validate(manifest(**options), "1.30", strict=True)


def test_a_manifest_keeps_to_what_the_schema_does_not_say() -> None:
    """Clusters check more than their schema says: names of objects, mounts without a volume, and that pods under a
    policy for failures are not restarted in their place."""
    made = manifest()
    pod = made["spec"]["template"]["spec"]
    assert all(
        re.fullmatch("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", made["metadata"][one]) for one in ("name", "namespace")
    )
    assert {one["name"] for one in pod["containers"][0]["volumeMounts"]} == {one["name"] for one in pod["volumes"]}
    assert (pod["restartPolicy"], "podFailurePolicy" in made["spec"]) == ("Never", True)


def test_pods_need_a_database_that_they_can_reach(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="pods cannot reach"):
        kubernetes.manifest(job(), Settings(home=tmp_path))


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/bash\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_the_script_for_slurm_saves_a_checkpoint_and_queues_again(tmp_path: Path) -> None:
    """Run by bash, as Slurm would; only scontrol is the test's."""
    program(tmp_path, "scontrol", f'echo "$@" > {tmp_path}/requeued')
    program(tmp_path, "train", f"trap 'sleep 0.2; exit 75' TERM; touch {tmp_path}/ready; while :; do sleep 0.05; done")
    script = tmp_path / "job.sh"
    script.write_text(slurm.text(job(), Settings(), str(tmp_path / "train")))
    variables = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "SLURM_JOB_ID": "42"}
    running = subprocess.Popen(["bash", script], env=variables)
    ends = time.monotonic() + 30
    while not (tmp_path / "ready").exists():
        assert time.monotonic() < ends
        time.sleep(0.02)
    running.send_signal(signal.SIGTERM)
    assert running.wait(30) == 75
    assert (tmp_path / "requeued").read_text() == "requeue 42\n"
    for code in (0, 3):
        script.write_text(slurm.text(job(), Settings(), f"bash -c 'exit {code}'"))
        (tmp_path / "requeued").unlink(missing_ok=True)
        assert subprocess.run(["bash", script], env=variables, check=False).returncode == code
        assert not (tmp_path / "requeued").exists()


def test_the_script_for_slurm_has_its_options() -> None:
    made = slurm.text(job(), Settings(jobs=JobsSettings(gpus=2, slurm_options=["partition=long"])), "true")
    options = [line.removeprefix("#SBATCH --") for line in made.splitlines() if line.startswith("#SBATCH")]
    assert {"cpus-per-task=2", "gres=gpu:2", "account=north", "signal=B:TERM@120", "requeue"} <= set(options)
    assert options[-1] == "partition=long"
    for bad in ("partition=long\nrm -rf /", "--partition=long", "wrap=$(id)"):
        with pytest.raises(BadInput, match="no option of sbatch"):
            slurm.text(job(), Settings(jobs=JobsSettings(slurm_options=[bad])), "true")


def test_places_are_read() -> None:
    assert read_places("queue, here") == ("queue", "here")
    for text, told in (("kubernets", "did you mean 'kubernetes'"), ("", "no place"), ("queue,queue", "twice")):
        with pytest.raises(BadInput, match=told):
            read_places(text)


class House:
    """A team, a database, and a folder that holds all programs that can be found."""

    def __init__(self, database: Database, settings: Settings, folder: Path) -> None:
        self.database, self.folder, self.told = database, folder, list[str]()
        self.settings = settings.model_copy(update={"jobs": JobsSettings(capacity=1)})
        teams.add(database, ANN, "north", 1)

    def place(self, *places: str) -> Placed:
        self.told.clear()
        return place_job(self.database, ANN, self.settings, TRAINING, places, tell=self.told.append)

    def state(self, number: int) -> str:
        with self.database.session() as session:
            return queue.find(session, number).state


@pytest.fixture
def house(sqlite_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    database = open_database(sqlite_settings)
    yield House(database, sqlite_settings, folder)
    database.close()


def test_a_job_goes_to_the_first_place_that_is_free(house: House) -> None:
    assert house.place("here") == Placed("here")
    assert house.place("queue", "here").place == "here", "nobody runs jobs"
    assert house.told == ["queue: the job would have to wait"]
    RunnerLease(house.database, host_name(), 1000).renew()
    placed = house.place("queue", "here")
    assert (placed.place, house.state(placed.job)) == ("queue", "pending")
    assert house.place("queue", "slurm", "here").place == "here", "the machine is promised to the first one"
    assert house.told[1] == "slurm: there is no sbatch here"
    assert house.place("slurm", "queue").place == "queue", "the last place gets it, though it has to wait"


def test_a_cluster_gets_a_file_and_its_own_program(house: House) -> None:
    placed = house.place("slurm")
    assert placed.file is not None
    assert (placed.submitted, placed.file.exists()) == (False, True), "somebody may carry it to the cluster"
    program(house.folder, "sbatch", f'echo "$@" > {house.folder}/got')
    placed = house.place("slurm")
    assert placed.submitted
    assert (house.folder / "got").read_text() == f"{placed.file}\n"
    program(house.folder, "sbatch", "echo 'sbatch: error: invalid account' >&2; exit 1")
    assert house.place("slurm", "here").place == "here"
    assert house.told == ["slurm: sbatch: sbatch: error: invalid account"]
    with pytest.raises(Unavailable, match="invalid account"):
        house.place("slurm")
    assert house.state(placed.job + 1) == "stopped", "what was refused does not stay"


def test_a_queue_of_kueue_in_which_jobs_wait_is_busy(house: House) -> None:
    program(house.folder, "kubectl", """echo '{"status": {"pendingWorkloads": 3}}'""")
    assert house.place("kubernetes", "here").place == "here"
    assert house.told == ["kubernetes: 3 jobs wait in the queue north"]
    program(house.folder, "kubectl", "echo no cluster >&2; exit 1")
    assert house.place("kubernetes", "here").place == "here"
    assert house.told == ["kubernetes: the queue north does not answer"]


def test_an_attempt_begins_and_a_later_one_resumes(house: House) -> None:
    placed = house.place("slurm")
    assert queue.attempt(house.database, placed.job)[1] == ["finetune", "house@1"]
    run = runs.begin(house.database, ANN, recipe="head", dataset="house@1")
    assert queue.attempt(house.database, placed.job)[1] == ["finetune", "house@1", "--resume", str(run)]
    StoredRunRecord(house.database, run).end("done")
    assert house.state(placed.job) == "done", "it ends with its run"
    in_queue = house.place("queue")
    with pytest.raises(BadInput, match="waits in the queue"):
        queue.attempt(house.database, in_queue.job)
