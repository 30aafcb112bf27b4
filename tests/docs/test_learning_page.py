"""The program of docs/learning.md does what the page says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tenor.cli.command import environment
from tests.tenor.learn.company_home import prepare_home

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PROGRAMS = re.findall(
    r"^```python\n(.*?)^```", (ROOT / "docs" / "learning.md").read_text("utf-8"), re.DOTALL | re.MULTILINE
)


def test_the_loop_from_python(tmp_path: Path) -> None:
    """Of a small company, which has too few labels to tell."""
    [program] = PROGRAMS
    home = prepare_home(tmp_path, calls=24)
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**environment(), "PYTHONPATH": str(ROOT), "TENOR_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *steps, last = [line for line in done.stdout.splitlines() if re.match(r"\d |house", line)]
    named = [line.split()[:2] for line in steps]
    assert named == [
        [str(number), step]
        for number, step in enumerate(
            ("archive", "labels", "snapshot", "dataset", "train", "gate", "shadow", "promote"), 1
        )
    ]
    assert last == "house@1 house-1 not passed"
