"""The loop in a process of its own, killed with SIGKILL at any moment, again and again: it leaves behind what an
undisturbed one leaves behind."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from storage.db.engine import using
from tests.tenor.cli.command import environment
from tests.tenor.learn.company_home import State, home_of, prepare_home, state_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

KILLS = int(os.environ.get("KILLS", "0")) or 3
"""How often; `make kills` says 25."""
CALLS = 48
LOOP = """
import sys
from pathlib import Path
from finetune.gate import checks
from storage.db.engine import using
from tenor.learn import judging, learn
from tests.tenor.learn.company_home import ANN, home_of
checks.FEWEST_LABELS, judging.TIMED = 40, 10
settings = home_of(Path(sys.argv[1]))
with using(settings) as database:
    done = learn(settings, database, ANN, values=("replay=0", "epochs=20"), promote=True)
print(*done.promoted)
"""
"""With as few labels as there are."""


def test_killed_again_and_again_it_comes_to_the_same(tmp_path: Path) -> None:
    prepared = prepare_home(tmp_path / "prepared", calls=CALLS)
    alone = shutil.copytree(prepared, tmp_path / "alone")
    began = time.monotonic()
    assert loop(alone, tmp_path) == "house-1"
    lasts_s = time.monotonic() - began

    chance, wanted, homes = random.Random(KILLS), left_by(alone), [shutil.copytree(prepared, tmp_path / "0")]
    kills = 0
    while kills < KILLS:
        with started(homes[-1], tmp_path) as process:
            try:
                process.communicate(timeout=chance.uniform(0.1, 1.0) * lasts_s)
            except subprocess.TimeoutExpired:
                process.kill()
                kills += 1
                continue
        assert left_by(homes[-1]) == wanted
        homes.append(shutil.copytree(prepared, tmp_path / str(len(homes))))

    for _ in range(2):
        assert loop(homes[-1], tmp_path) == "house-1"
        assert left_by(homes[-1]) == wanted


def started(home: Path, folder: Path) -> subprocess.Popen[bytes]:
    shown = environment() | {"PYTHONPATH": str(Path(__file__).parents[3])}
    command = [sys.executable, "-c", LOOP, str(home)]
    return subprocess.Popen(command, env=shown, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def loop(home: Path, folder: Path) -> str:
    """What is in force when it ends."""
    with started(home, folder) as process:
        told, complaint = process.communicate(timeout=900)
    assert process.returncode == 0, complaint.decode()
    return told.decode().splitlines()[-1]


def left_by(home: Path) -> State:
    with using(home_of(home)) as database:
        return state_of(home_of(home), database)
