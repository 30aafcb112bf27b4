"""The programs of docs/python.md do what the page says, in a process of their own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tenor.cli.command import environment

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PROGRAMS: list[str] = re.findall(
    r"^```python\n(.*?)^```", (ROOT / "docs" / "python.md").read_text("utf-8"), re.DOTALL | re.MULTILINE
)


def run(program: str, folder: Path) -> list[str]:
    """The lines it prints, in a folder where the examples are."""
    (folder / "examples").symlink_to(ROOT / "examples")
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env={**environment(), "PYTHONPATH": str(ROOT), "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    logged = [json.loads(line)["level"] for line in done.stderr.splitlines()]
    assert (done.returncode, set(logged) - {"info"}) == (0, set()), done.stderr
    assert not list(folder.glob("tenor-*"))
    return done.stdout.splitlines()


def program(*names: str) -> str:
    """The one that mentions all of these."""
    [found] = [text for text in PROGRAMS if all(name in text for name in names)]
    return found


def test_a_call_is_analysed(tmp_path: Path) -> None:
    *sentences, task, mood = run(program("lost-card.ogg"), tmp_path)
    assert {line.partition(" | ")[0] for line in sentences} == {"caller", "agent"}
    assert any("lost" in line and "card" in line for line in sentences)
    assert task == "task: card_replacement"
    assert -1 <= float(mood.rpartition(" ")[2]) <= 1


def test_rows_for_a_table(tmp_path: Path) -> None:
    assert run(program("rows = ["), tmp_path) == ["28 sentences of 2 calls"]


def test_settings_options_progress_and_the_database(tmp_path: Path) -> None:
    lines = run(program("batch_settings"), tmp_path)
    told = [float(line.split()[0]) for line in lines if line.endswith(" files")]
    assert told == sorted(told)
    results = [line for line in lines if " is call " in line]
    assert len(results) >= told[-1] == len(list((ROOT / "examples" / "conversations").glob("*.*")))
    assert (tmp_path / "my-study" / "tenor.db").exists()


@pytest.mark.parametrize(
    ("names", "printed"),
    [(("analyze_async",), ["subscription.txt cancel"]), (("serve(",), ["stopped"])],
)
def test_with_an_event_loop(names: tuple[str, ...], printed: list[str], tmp_path: Path) -> None:
    assert run(program(*names), tmp_path) == printed


def test_every_program_is_run_here() -> None:
    assert len(PROGRAMS) == 5
